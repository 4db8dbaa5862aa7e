"""A scripted model on loopback for coding agents: it says the same, whatever it is asked.

Its first acts are calls of the agent's own shell: one that deletes a file, one that fails. Prints its port, and writes
every prompt that it is sent to the file that it is given.

Speaks Anthropic's Messages (Claude Code), OpenAI's Responses (Codex) and chat completions (OpenCode), and Gemini's.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMANDS = ["rm secret.env && echo made > made.txt", "cat no-such-file", "echo more >> made.txt"]
DONE = "ALL DONE"


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("application/json", b'{"data": [], "models": []}')

    def do_HEAD(self):
        self.answer("application/json", b"")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        path = self.path.split("?")[0]
        with open(sys.argv[1], "a") as record:
            record.write(json.dumps(asked.get("messages") or asked.get("input") or asked.get("contents")) + "\n")
        if path.endswith("/messages"):
            self.events(messages(asked))
        elif path.endswith("/responses"):
            self.events(responses(asked))
        elif path.endswith("/chat/completions"):
            self.chunks([*completion(asked), "[DONE]"])
        elif path.endswith(":streamGenerateContent"):
            self.chunks([generated(asked)])
        elif path.endswith(":generateContent"):
            said = json.dumps({"reasoning": "done", "next_speaker": "user", "model_choice": "flash"})
            self.answer("application/json", json.dumps(candidate({"text": said})).encode())
        else:
            self.answer("application/json", b'{"input_tokens": 1}')

    def events(self, events):
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
        self.answer("text/event-stream", "".join(lines).encode())

    def chunks(self, chunks):
        lines = [f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n" for chunk in chunks]
        self.answer("text/event-stream", "".join(lines).encode())

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def command_of(results):
    """The next command, given how many results came since the last prompt."""
    return COMMANDS[results] if results < len(COMMANDS) else None


def messages(asked):
    """A streamed answer of Anthropic's Messages."""
    results = 0
    for message in asked.get("messages", []):
        content = message["content"] if isinstance(message["content"], list) else []
        results += sum(block.get("type") == "tool_result" for block in content)
    has_shell = any(tool.get("name") == "Bash" for tool in asked.get("tools", []))
    command = command_of(results) if has_shell else None
    if command:
        block = {"type": "tool_use", "id": f"toolu_{results}", "name": "Bash", "input": {}}
        told = json.dumps({"command": command, "description": "scripted"})
        delta = {"type": "input_json_delta", "partial_json": told}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": DONE}
    usage = {"input_tokens": 1, "output_tokens": 1}
    begun = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.get("model"), "content": [],
             "stop_reason": None, "stop_sequence": None, "usage": usage}
    reason = "tool_use" if command else "end_turn"
    return [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


def shell_call(tools, command):
    """The name and the arguments of the shell that the agent offers."""
    names = {tool.get("name") for tool in tools}
    if "exec_command" in names:
        return "exec_command", {"cmd": command}
    if "shell_command" in names:
        return "shell_command", {"command": command}
    return "shell", {"command": ["sh", "-c", command]}


def responses(asked):
    """A streamed answer of OpenAI's Responses."""
    results = sum(item.get("type") == "function_call_output" for item in asked.get("input", []))
    command = command_of(results) if asked.get("tools") else None
    if command:
        name, arguments = shell_call(asked["tools"], command)
        item = {"type": "function_call", "id": f"fc_{results}", "call_id": f"call_{results}", "name": name,
                "arguments": json.dumps(arguments)}
    else:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": DONE}]}
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
             "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
    ]


def completion(asked):
    """A streamed answer of OpenAI's chat completions."""
    results = sum(message["role"] == "tool" for message in asked["messages"])
    command = command_of(results) if asked.get("tools") else None
    if command:
        function = {"name": "bash", "arguments": json.dumps({"command": command, "description": "scripted"})}
        delta = {"tool_calls": [{"index": 0, "id": f"call_{results}", "type": "function", "function": function}]}
    else:
        delta = {"content": DONE}
    chunk = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"]}
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if command else "stop"}
    return [{**chunk, "choices": [choice]}, {**chunk, "choices": [end]}]


def candidate(part):
    """An answer of Gemini's, whole."""
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    content = {"role": "model", "parts": [part]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def generated(asked):
    """The one part of a streamed answer of Gemini's."""
    parts = [part for content in asked["contents"] for part in content["parts"]]
    results = sum("functionResponse" in part for part in parts)
    command = command_of(results) if asked.get("tools") else None
    if command:
        return candidate({"functionCall": {"name": "run_shell_command", "args": {"command": command}}})
    return candidate({"text": DONE})


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    print(server.server_address[1], flush=True)
    server.serve_forever()
