//! Servers whose tools run programs in a container, through the real binary and the real Podman.

#[path = "../../wink-podman/tests/images.rs"]
#[allow(dead_code, reason = "shared with the tests of wink-podman")]
mod images;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use self::images::{BUSYBOX, make_image, podman, podman_in};
use crate::common::wink;
use crate::mcp_stdio::scene::{Client, wink_in};

/// A directory with a workspace in it, and a Podman that works here.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    make_image(&podman_in(place.path()), BUSYBOX);
    place
}

fn client(args: &[&str]) -> Client {
    let place = place();
    let mut command = wink_in(place.path());
    command.env("CONTAINERS_CONF", place.path().join("containers.conf"));
    command.args(["mcp", "--results", "structured", "--backend", "podman", "--image", BUSYBOX]);
    command.args(args);
    let mut client = Client::of(command, place, Stdio::inherit());
    client.request("initialize", crate::mcp_stdio::scene::initialize());
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    client
}

/// Returns the containers of wink over a directory.
fn containers_of(client: &Client) -> usize {
    let program = podman_in(client.place.path());
    let listed = podman(
        &program,
        &["ps", "--all", "--filter=label=dev.wink.container", "--format={{.Mounts}}"],
    );
    let place = client.place.path().to_string_lossy().into_owned();
    listed.lines().filter(|line| line.contains(&place)).count()
}

#[test]
#[ignore = "needs Podman"]
fn a_model_runs_commands_over_stdio_and_undoes_them() {
    let mut client = client(&[]);
    client.done("write_file", json!({"path": "/workspace/a.txt", "content": "hello\n"}));
    let ran = client.call("shell_execute", json!({"command": "cat a.txt > b.txt; id -u; exit 2"}));
    assert_eq!(ran["structuredContent"]["exit_code"], 2, "{ran}");
    assert_eq!(ran["structuredContent"]["change_count"], 1, "{ran}");
    assert_eq!(std::fs::read_to_string(client.file("b.txt")).unwrap(), "hello\n");
    client.done("undo", json!({}));
    assert!(!client.file("b.txt").exists());
    assert!(client.end().success());
}

#[test]
#[ignore = "needs Podman"]
fn the_container_goes_with_the_server() {
    for stopped_by in ["end", "kill"] {
        let mut client = client(&[]);
        client.done("shell_execute", json!({"command": "true"}));
        if stopped_by == "end" {
            assert!(client.end().success());
            let began = Instant::now();
            while containers_of(&client) > 0 {
                assert!(began.elapsed() < Duration::from_secs(5));
            }
        } else {
            let id = client.ask(
                "tools/call",
                json!({"name": "shell_execute",
                "arguments": {"command": "touch begun; sleep 1000", "timeout": 100}}),
            );
            let began = Instant::now();
            while !client.file("begun").exists() {
                assert!(began.elapsed() < Duration::from_secs(10), "{id}");
            }
            // The input ends under a running command.
            assert!(client.end().success());
            let began = Instant::now();
            while containers_of(&client) > 0 {
                assert!(began.elapsed() < Duration::from_secs(5));
            }
        }
    }
}

#[test]
#[ignore = "needs Podman"]
fn a_cancelled_call_ends_its_program_and_changes_nothing() {
    let mut client = client(&[]);
    let call = json!({"name": "shell_execute", "arguments": {"command": "touch begun; sleep 1000", "timeout": 100}});
    let id = client.ask("tools/call", call);
    let began = Instant::now();
    while !client.file("begun").exists() {
        assert!(began.elapsed() < Duration::from_secs(10));
    }
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.send(&cancel.to_string());
    // It waits for the call that was cancelled.
    client.done("write_file", json!({"path": "later", "content": ""}));
    assert!(!client.file("begun").exists());
    assert!(client.end().success());
}

#[test]
#[ignore = "needs Podman"]
fn a_server_that_can_start_no_container_does_not_start() {
    let place = place();
    for (podman, image, words) in [
        ("/nowhere", BUSYBOX, "Podman is not installed"),
        ("", "localhost/wink-test-no-such-image:1", "podman pull"),
    ] {
        let mut command = wink_in(place.path());
        command.env("CONTAINERS_CONF", place.path().join("containers.conf"));
        if !podman.is_empty() {
            command.env("PATH", podman);
        }
        command.args(["mcp", "--backend", "podman", "--image", image]).stdin(Stdio::null());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(15), "{said}");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
#[ignore = "needs Podman"]
fn the_doctor_names_podman_its_runtime_and_what_can_be_limited() {
    let place = place();
    let mut command: Command = wink();
    command.env("CONTAINERS_CONF", place.path().join("containers.conf"));
    let output = command.args(["doctor", "--json"]).current_dir(place.path()).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = document["checks"].as_array().unwrap();
    for (name, words) in [
        ("podman", "."),
        ("runtime", "runc"),
        ("limits", "limited"),
        ("seccomp", "set-id"),
        ("supervisor", "build"),
    ] {
        let check = checks.iter().find(|check| check["name"] == name);
        let said = check.and_then(|check| check["said"].as_str()).unwrap_or_default();
        assert!(said.contains(words), "{name}: {document}");
    }
}
