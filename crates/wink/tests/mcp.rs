//! What MCP clients get, seen as plain JSON-RPC.

mod common;

use common::{POST, Server};
use serde_json::{Value, json};

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn tool_call(name: &str, arguments: Value) -> Value {
    request("tools/call", json!({"name": name, "arguments": arguments}))
}

#[test]
fn a_tool_error_is_a_result_with_its_code() {
    let answer = Server::start().post(&tool_call("read_file", json!({"path": "../x"})));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["error"], "permission_denied");
}

#[test]
fn an_unknown_tool_is_invalid_params() {
    let answer = Server::start().post(&tool_call("nope", json!({})));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[test]
fn text_and_structured_content_are_each_complete() {
    let server = Server::start();
    server.post(&tool_call("write_file", json!({"path": "a", "content": "hello\n"})));
    let answer = server.post(&tool_call("read_file", json!({"path": "a"})));
    let result = &answer["result"];
    assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.contains("hello")));
    assert_eq!(result["structuredContent"]["message"], result["content"][0]["text"]);
}

#[test]
fn initialize_hands_out_no_session() {
    let server = Server::start();
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let answer = server.send(POST, &request("initialize", params).to_string());
    assert_eq!(answer.status(), 200);
    assert!(answer.text.contains("\"protocolVersion\":\"2025-11-25\""), "{}", answer.text);
    assert!(!answer.text.contains("mcp-session-id"), "{}", answer.text);
}

#[test]
fn the_stateless_revision_needs_no_initialize() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = request("tools/call", json!({"name": "ls", "arguments": {}, "_meta": meta}));
    let head =
        format!("{POST}\nMCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: ls");
    let answer = Server::start().send(&head, &call.to_string());
    assert_eq!(answer.status(), 200, "{}", answer.text);
    assert!(answer.body().contains("\"resultType\":\"complete\""), "{}", answer.text);
}

#[test]
fn an_unknown_protocol_revision_is_refused() {
    let head = format!("{POST}\nMCP-Protocol-Version: 1999-01-01");
    let list = request("tools/list", json!({})).to_string();
    assert_eq!(Server::start().send(&head, &list).status(), 400);
}

#[test]
fn a_body_up_to_32_mib_is_read_and_no_more() {
    let server = Server::start();
    let write = |bytes: usize| {
        tool_call("write_file", json!({"path": "big", "content": "x".repeat(bytes)})).to_string()
    };
    let answer = server.send(POST, &write(5 * 1024 * 1024));
    assert!(answer.body().contains("limit max_content"), "read whole: {}", answer.text);
    assert_eq!(server.send(POST, &write(32 * 1024 * 1024)).status(), 413);
}

#[test]
fn parallel_appends_lose_nothing() {
    let server = Server::start();
    let append = tool_call("write_file", json!({"path": "a", "content": "x\n", "mode": "append"}));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| server.post(&append));
        }
    });
    let answer = server.post(&tool_call("read_file", json!({"path": "a"})));
    assert_eq!(answer["result"]["structuredContent"]["total_lines"], 16, "{answer}");
}
