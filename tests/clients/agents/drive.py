"""Drives real coding agents with nothing but what `wink setup CLIENT --hooks` wrote.

usage: drive.py WINK DIRECTORY_OF_NODE_MODULES [CLIENT...]

The agent's first act is to delete an ignored file with its own shell; then a call fails, and the client ends. Checks that
`wink log` shows the turn, that `wink oops` brings the file back, and that the next prompt tells the model so.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
PLUGIN = HERE.parent.parent.parent / "plugin"
SECRET = "TOKEN=abc123\n"


class Scene:
    """A user with a home, a project, and a scripted model."""

    def __init__(self, directory, wink, modules):
        self.home, self.project = directory / "home", directory / "project"
        bin_directory = directory / "bin"
        for made in (self.home, self.project, bin_directory):
            made.mkdir()
        (bin_directory / "wink").symlink_to(wink)
        self.modules = modules
        self.prompts = directory / "prompts.jsonl"
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{bin_directory}:{modules}/.bin:{os.environ['PATH']}",
            "TERM": "dumb",
            "NO_PROXY": "127.0.0.1",
        }
        (self.project / ".gitignore").write_text("secret.env\n")
        (self.project / "secret.env").write_text(SECRET)
        subprocess.run(["git", "init", "-q", self.project], check=True)
        model = [sys.executable, HERE / "model.py", self.prompts]
        self.model = subprocess.Popen(model, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self.model.stdout.readline().strip()}"

    def run(self, *command, **environment):
        done = subprocess.run(command, cwd=self.project, env=self.environment | environment, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def wink(self, *arguments):
        return self.run("wink", *arguments)

    def events(self):
        return json.loads(self.wink("log", "--json"))["agent_events"]


def claude_code(scene, prompt, again, more=()):
    more = [*more, "--continue"] if again else more
    scene.run("claude", "-p", prompt, "--permission-mode", "bypassPermissions", *more, IS_SANDBOX="1",
              ANTHROPIC_BASE_URL=scene.url, ANTHROPIC_API_KEY="x", DISABLE_AUTOUPDATER="1",
              CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")


def claude_plugin(scene, prompt, again):
    """Claude Code with the plugin, and nothing in the settings."""
    scene.run("claude", "plugin", "validate", PLUGIN)
    scene.run("gemini", "extensions", "validate", PLUGIN)
    claude_code(scene, prompt, again, more=["--plugin-dir", PLUGIN])


def codex(scene, prompt, again):
    provider = {"name": "scripted", "base_url": f"{scene.url}/v1", "wire_api": "responses"}
    settings = [f'model_providers.scripted.{name}="{value}"' for name, value in provider.items()]
    settings += ['model_provider="scripted"', 'model="scripted"']
    options = [word for setting in settings for word in ("-c", setting)]
    options += ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
    more = ["resume", "--last"] if again else []
    scene.run("codex", "exec", *options, *more, prompt)


def gemini(scene, prompt, again):
    settings = scene.home / ".gemini/settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    # It reads no settings of a folder that the user has not trusted, which is theirs to do.
    (settings.parent / "trustedFolders.json").write_text(json.dumps({str(scene.project): "TRUST_FOLDER"}))
    more = ["--resume", "latest"] if again else []
    scene.run("gemini", "-p", prompt, "--approval-mode", "yolo", "--skip-trust", *more, GEMINI_API_KEY="x",
              GOOGLE_GEMINI_BASE_URL=scene.url)


def opencode(scene, prompt, again):
    options = {"baseURL": f"{scene.url}/v1", "apiKey": "x"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": {"name": "scripted"}}}
    settings = scene.home / ".config/opencode/opencode.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"provider": {"fake": provider}, "model": "fake/scripted"}))
    more = ["--continue"] if again else []
    scene.run("opencode", "run", "--format", "json", *more, prompt)


CLIENTS = {"claude-code": claude_code, "claude-plugin": claude_plugin, "codex": codex, "gemini": gemini, "opencode": opencode}


def wait_for(holds):
    """Waits for the snapshots of calls, which a process of its own takes."""
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until, "no snapshot was taken"
        time.sleep(0.05)


def drive(client, scene):
    play = CLIENTS[client]
    is_set_up = client != "claude-plugin"
    client = client if is_set_up else "claude-code"
    if is_set_up:
        scene.wink("setup", client, "--hooks")
    play(scene, "Please do the scripted work.", again=False)
    secret = scene.project / "secret.env"
    assert not secret.exists() and (scene.project / "made.txt").read_text() == "made\nmore\n", "the script was played"
    moments = lambda: [event["moment"] for event in reversed(scene.events())]
    wait_for(lambda: sum(moment.endswith("_call") for moment in moments()) >= 3)
    assert moments()[0] == "prompt" and "turn_end" in moments(), moments()
    for event in scene.events():
        assert event["client"] == client and event["session"] and event["snapshot"] and not event["failed"], event
    log = scene.wink("log")
    assert re.search('turn: "?Please do the scripted work', log), log
    scene.wink("oops")
    assert secret.read_text() == SECRET and not (scene.project / "made.txt").exists(), "oops took it back"
    play(scene, "Go on.", again=True)
    last = scene.prompts.read_text().splitlines()[-1]
    assert "the user took changes back" in last, "the next prompt says so"
    if not is_set_up:
        return
    doctor = json.loads(scene.wink("doctor", "--json"))["checks"]
    assert [check["health"] for check in doctor if check["name"] == client] == ["ok"], doctor
    scene.wink("setup", client, "--undo")


def main():
    wink, modules, *clients = sys.argv[1:]
    for client in clients or CLIENTS:
        with tempfile.TemporaryDirectory() as directory:
            scene = Scene(Path(directory), Path(wink).resolve(), Path(modules).resolve())
            try:
                drive(client, scene)
            finally:
                scene.model.kill()
                scene.model.wait()
        print(f"{client}: ok", flush=True)


if __name__ == "__main__":
    main()
