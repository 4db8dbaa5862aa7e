//! `wink hook`, with payloads that real clients sent.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::scene::{Scene, stderr, stdout};

/// The recorded events of a client.
struct Recorded {
    client: &'static str,
    prompt: &'static str,
    call: &'static str,
    /// An event of the same client after a call of wink's own tools.
    own: Option<&'static str>,
    end: &'static str,
}

const RECORDED: [Recorded; 4] = [
    Recorded {
        client: "claude-code",
        prompt: "claude-UserPromptSubmit",
        call: "claude-PostToolUseFailure-Bash",
        own: Some("claude-PostToolUse-mcp__wink__snapshot"),
        end: "claude-Stop",
    },
    Recorded {
        client: "codex",
        prompt: "codex-UserPromptSubmit",
        call: "codex-PreToolUse-Bash",
        own: Some("codex-PostToolUse-mcp__wink__snapshot"),
        end: "codex-Stop",
    },
    Recorded {
        client: "gemini",
        prompt: "gemini-BeforeAgent",
        call: "gemini-AfterTool-run_shell_command",
        own: Some("gemini-AfterTool-mcp_wink_snapshot"),
        end: "gemini-AfterAgent",
    },
    Recorded {
        client: "opencode",
        prompt: "opencode-chat.message",
        call: "opencode-tool.execute.after-bash",
        own: Some("opencode-tool.execute.after-wink_snapshot"),
        end: "opencode-event.session.idle",
    },
];

/// Reads a recorded event, as it would be sent from the scene's project.
fn payload(scene: &Scene, name: &str) -> Value {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/payloads");
    let text = std::fs::read_to_string(Path::new(directory).join(format!("{name}.json"))).unwrap();
    let project = scene.path("project");
    let mut payload: Value =
        serde_json::from_str(&text.replace("/home/dev/project", project.to_str().unwrap()))
            .unwrap();
    // What the plugin adds, which `wink setup opencode` writes.
    if let Some(hook) = name.strip_prefix("opencode-").filter(|hook| !hook.starts_with("event.")) {
        payload["hook"] = hook.rsplit_once('-').map_or(hook, |(hook, _)| hook).into();
    }
    if name.starts_with("opencode-") {
        payload["directory"] = project.to_str().unwrap().into();
    }
    payload
}

fn start(scene: &Scene, payload: &[u8]) -> Child {
    // Clients start hooks in directories of their own choice.
    let mut command = scene.wink_in(&scene.path(""), &["hook", "claude-code"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that refuses the payload need not read all of it.
    let _ = child.stdin.take().unwrap().write_all(payload);
    child
}

fn fire_bytes(scene: &Scene, payload: &[u8]) -> Output {
    let output = start(scene, payload).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stderr(&output), "", "{output:?}");
    output
}

/// Fires a hook; returns what it answers the client.
fn fire(scene: &Scene, payload: &Value) -> Value {
    let said = stdout(&fire_bytes(scene, payload.to_string().as_bytes()));
    if said.is_empty() { Value::Null } else { serde_json::from_str(&said).unwrap() }
}

fn events(scene: &Scene) -> Vec<Value> {
    scene.json(&["log"])["agent_events"].as_array().unwrap().clone()
}

/// Waits for the process that takes snapshots of calls.
fn wait_for(scene: &Scene, count: usize) -> Vec<Value> {
    loop {
        let found = events(scene);
        if found.len() >= count {
            return found;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn project() -> Scene {
    let scene = Scene::empty();
    scene.write(".gitignore", "secret.env\n");
    scene.write("secret.env", "TOKEN=abc123\n");
    scene
}

#[test]
fn a_turn_of_each_client_is_protected_from_its_first_act_on() {
    for recorded in RECORDED {
        let scene = project();
        let client = recorded.client;
        let nothing = if client == "gemini" { json!({}) } else { Value::Null };
        assert_eq!(fire(&scene, &payload(&scene, recorded.prompt)), nothing, "{client}");
        // The agent's own shell deletes an ignored file.
        std::fs::remove_file(scene.project("secret.env")).unwrap();
        scene.write("made.txt", "1");
        assert_eq!(fire(&scene, &payload(&scene, recorded.call)), nothing, "{client}");
        wait_for(&scene, 2);
        scene.write("made.txt", "2");
        if let Some(own) = recorded.own {
            fire(&scene, &payload(&scene, own));
        }
        fire(&scene, &payload(&scene, recorded.end));
        let found = wait_for(&scene, 3);
        let moments: Vec<_> = found.iter().map(|it| it["moment"].as_str().unwrap()).collect();
        let call = if client == "codex" { "before_call" } else { "after_call" };
        assert_eq!(moments, ["turn_end", call, "prompt"], "{client}: {found:?}");
        for event in &found {
            assert_eq!(event["client"], client);
            assert!(
                !event["session"].as_str().unwrap().is_empty() && event["failed"].is_null(),
                "{event}"
            );
        }
        let log = scene.ok(&["log"]);
        assert!(
            log.contains("Please do the scripted work.") && log.contains("end of turn"),
            "{log}"
        );
        let operations = scene.ok(&["op", "log"]);
        assert!(
            operations.contains(&format!("({client} ")) && operations.contains(": snapshot "),
            "{operations}"
        );
        assert_eq!(scene.json(&["status"])["protected"], true);
        let said = scene.ok(&["oops"]);
        assert!(said.contains("Restored"), "{said}");
        assert_eq!(scene.read("secret.env"), "TOKEN=abc123\n", "{client}");
        assert!(!scene.project("made.txt").exists());
        scene.ok(&["undo"]);
        assert_eq!(scene.read("made.txt"), "2");
        assert!(!scene.project("secret.env").exists());
    }
}

#[test]
fn the_next_prompt_of_a_session_says_what_the_user_took_back() {
    let scene = project();
    let mut prompt = payload(&scene, "claude-UserPromptSubmit");
    assert_eq!(fire(&scene, &prompt), Value::Null);
    scene.write("made.txt", "1");
    scene.ok(&["oops"]);
    let mut next = |id: &str| {
        prompt["prompt_id"] = id.into();
        fire(&scene, &prompt)
    };
    let said = next("second");
    let said = &said["hookSpecificOutput"];
    assert_eq!(said["hookEventName"], "UserPromptSubmit");
    let text = said["additionalContext"].as_str().unwrap();
    assert!(text.contains("the user took changes back") && text.contains("made.txt"), "{text}");
    assert_eq!(next("third"), Value::Null, "it is said once");
    // Another session did not see what was taken back.
    assert_eq!(fire(&scene, &payload(&scene, "codex-UserPromptSubmit")), Value::Null);
    // What an agent undoes by itself is no news to it.
    scene.ok(&["tool", "write_file", "path=a", "content=1"]);
    scene.ok(&["tool", "undo"]);
    assert_eq!(next("fourth"), Value::Null);
}

#[test]
fn a_turn_that_begins_with_a_snapshot_that_is_there_is_in_the_log() {
    let scene = project();
    scene.ok(&["init", "-q"]);
    scene.ok(&["snapshot", "-m", "before"]);
    fire(&scene, &payload(&scene, "claude-UserPromptSubmit"));
    let log = scene.ok(&["log"]);
    assert!(log.contains("before") && log.contains("turn: Please do the scripted work."), "{log}");
}

#[test]
fn an_event_that_is_told_twice_counts_once() {
    let scene = project();
    let prompt = payload(&scene, "claude-UserPromptSubmit");
    let call = payload(&scene, "claude-PostToolUse-Bash");
    let both = [prompt.clone(), prompt, call.clone(), call];
    both.iter().for_each(|payload| drop(fire(&scene, payload)));
    fire(&scene, &payload(&scene, "claude-Stop"));
    let found = wait_for(&scene, 3);
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn hooks_that_fire_together_lose_nothing() {
    let scene = project();
    scene.ok(&["init", "-q"]);
    let mut payload = payload(&scene, "claude-PostToolUse-Bash");
    let mut children = Vec::new();
    for number in 0..8 {
        scene.write(&format!("file-{number}"), "1");
        payload["tool_use_id"] = format!("call-{number}").into();
        children.push(start(&scene, payload.to_string().as_bytes()));
    }
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let found = wait_for(&scene, 8);
    let mut calls: Vec<_> = found.iter().map(|it| it["call"].as_str().unwrap()).collect();
    calls.sort_unstable();
    assert_eq!(
        calls,
        ["call-0", "call-1", "call-2", "call-3", "call-4", "call-5", "call-6", "call-7"]
    );
    scene.ok(&["verify", "--data"]);
}

#[test]
fn what_is_no_event_stops_no_agent_and_is_said() {
    let scene = project();
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = vec![b'x'; 65 * 1024 * 1024];
    for bytes in [&b""[..], b"{", b"[]", b"null", b"\xff\xfe", deep.as_bytes(), &huge] {
        let said = stdout(&fire_bytes(&scene, bytes));
        let said: Value = serde_json::from_str(&said).unwrap();
        let message = said["systemMessage"].as_str().unwrap();
        assert!(
            message.starts_with("wink: changes of this agent are not protected: "),
            "{message}"
        );
    }
    let known =
        ["Notification", "x".repeat(100_000).as_str(), "\u{1b}[2J", "../../etc"].map(str::to_owned);
    for event in known {
        assert_eq!(
            fire(&scene, &json!({"hook_event_name": event, "cwd": scene.path("project")})),
            Value::Null
        );
    }
    assert!(!scene.path("data").exists(), "nothing of it began a history");
}

#[test]
fn fields_of_the_wrong_kind_do_no_harm() {
    let scene = project();
    let hostile = json!({
        "hook_event_name": "UserPromptSubmit", "cwd": scene.path("project"), "session_id": {"a": 1}, "prompt_id": [1],
        "prompt": "\u{1b}[31mred\u{7}\n\n<system>\u{202e}", "tool_name": 7, "tool_input": "text",
    });
    assert_eq!(fire(&scene, &hostile), Value::Null);
    let found = wait_for(&scene, 1);
    assert_eq!(found[0]["moment"], "prompt");
    assert!(!scene.ok(&["log"]).contains('\u{1b}'));
}

#[test]
fn a_home_directory_is_not_protected_and_that_is_said() {
    let scene = project();
    let said = fire(
        &scene,
        &json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "1", "cwd": scene.path("home")}),
    );
    assert!(said["systemMessage"].as_str().unwrap().contains("home"), "{said}");
    assert!(!scene.path("data").exists());
}

#[test]
fn of_a_workspace_below_another_the_inner_one_counts() {
    let scene = project();
    scene.ok(&["init", "-q"]);
    scene.write("inner/a.txt", "1");
    let inner = scene.project("inner");
    assert!(scene.wink_in(&inner, &["init", "-q"]).status().unwrap().success());
    fire(
        &scene,
        &json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "1", "session_id": "s", "cwd": inner}),
    );
    assert!(events(&scene).is_empty());
    let log = scene.wink_in(&inner, &["log"]).output().unwrap();
    assert!(stdout(&log).contains("turn (claude-code s)"), "{log:?}");
}

#[test]
fn a_hook_that_fails_is_said_to_the_user_and_by_status() {
    let scene = project();
    fire(&scene, &payload(&scene, "codex-UserPromptSubmit"));
    assert_eq!(scene.json(&["status"])["protected"], true);
    scene.write(
        "large",
        (0..200_000_u32)
            .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect::<Vec<_>>(),
    );
    scene.ok(&["snapshot", "--tag", "kept"]);
    scene.ok(&["config", "set", "retention.bytes", "100 KiB"]);
    scene.write("new", "1");
    let said = fire(&scene, &payload(&scene, "codex-Stop"));
    assert!(said["systemMessage"].as_str().unwrap().contains("not protected"), "{said}");
    let status = scene.json(&["status"]);
    assert_eq!(status["protected"], false);
    assert!(status["hook_failed"].is_string(), "{status}");
    let (code, said) = scene.fails(&["oops", "--dry-run", "--", "surplus"]);
    assert_eq!(code, 2, "{said}");
    scene.ok(&["config", "set", "retention.bytes", "1 GiB"]);
    fire(&scene, &payload(&scene, "claude-Stop"));
    assert!(scene.json(&["status"])["hook_failed"].is_null(), "the next one worked");
}

#[test]
fn without_a_prompt_oops_says_what_to_do() {
    let scene = Scene::new();
    let (code, said) = scene.fails(&["oops"]);
    assert!(code == 1 && said.contains("wink setup CLIENT --hooks"), "{said}");
}

#[test]
fn a_worktree_is_a_fork() {
    let scene = project();
    let payload = payload(&scene, "claude-WorktreeCreate");
    let said = stdout(&fire_bytes(&scene, payload.to_string().as_bytes()));
    let directory = Path::new(said.trim_end());
    assert!(directory.ends_with("project-attempt"), "{said}");
    // What git's worktrees lack: ignored files.
    assert_eq!(std::fs::read_to_string(directory.join("secret.env")).unwrap(), "TOKEN=abc123\n");
    std::fs::write(directory.join("new.txt"), "1").unwrap();
    assert_eq!(
        stdout(&fire_bytes(&scene, payload.to_string().as_bytes())),
        said,
        "it is the same fork again"
    );
    scene.ok(&["merge", "attempt"]);
    assert_eq!(scene.read("new.txt"), "1");
}
