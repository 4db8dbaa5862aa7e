//! The calls of a session can be looked at after it ended.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::mcp_stdio::scene::{Client, wink_in};

fn records(client: &Client) -> Vec<PathBuf> {
    let directory = std::fs::read_dir(client.place.path().join("records")).unwrap();
    directory.map(|it| it.unwrap().path()).collect()
}

#[test]
fn the_calls_of_a_session_are_shown_from_its_dump() {
    for is_told_to_stop in [false, true] {
        let mut client = Client::new(&["--dump", "../records"]);
        client.done("write_file", json!({"path": "a.txt", "content": "secret words\n"}));
        client.refused("read_file", json!({"path": "nowhere.txt"}));
        if is_told_to_stop {
            kill_process(Pid::from_child(&client.child), Signal::TERM).unwrap();
        }
        assert_eq!(client.end().code(), Some(0));
        let records = records(&client);
        assert_eq!(records.len(), 2, "the session and its files: {records:?}");
        for record in &records {
            let mode = std::fs::metadata(record).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "what files held is in it");
        }
        let record = records.iter().find(|it| it.extension().unwrap() == "jsonl").unwrap();
        assert!(record.with_extension("fs.zip").exists());
        let dump = std::fs::read_to_string(record).unwrap();
        assert!(dump.contains(r#""name":"virtual_file_system""#), "{dump}");
        assert!(dump.contains(r#""path":"a.txt","size_bytes":13,"version":1"#), "{dump}");
        let shown = wink_in(client.place.path()).args(["session", "show"]).arg(record).output();
        let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
        assert!(shown.contains("✓ write_file a.txt"), "{shown}");
        assert!(shown.contains("✕ read_file nowhere.txt"), "{shown}");
    }
}

/// The window stands on it: a call leads to its operation and back, and both of its states can be opened.
#[test]
fn a_call_of_a_dump_is_joined_to_what_it_changed() {
    let mut client = Client::new(&["--dump", "../records"]);
    client.done("write_file", json!({"path": "a.txt", "content": "one\n"}));
    client.done("edit_file", json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    client.done("read_file", json!({"path": "a.txt"}));
    assert_eq!(client.end().code(), Some(0));
    let record = records(&client).into_iter().find(|it| it.extension().unwrap() == "jsonl");
    let dump = std::fs::read_to_string(record.unwrap()).unwrap();
    let session: Value = serde_json::from_str(dump.lines().next().unwrap()).unwrap();
    let slices = session["slices"].as_array().unwrap();
    let calls = slices.iter().find(|it| it["name"] == "tool_invoked").unwrap();
    let calls = calls["items"].as_array().unwrap();
    let [_, edited, read] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!(edited["operations"], json!([2]));
    assert_eq!(read["operations"], Value::Null);
    let wink = |args: &[&str]| {
        let done = wink_in(client.place.path()).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let log: Value = serde_json::from_str(&wink(&["op", "log", "--json"])).unwrap();
    assert_eq!(log["operations"][0]["call"], edited["call_id"]);
    let before = edited["snapshot_before"].as_str().unwrap();
    let after = edited["snapshot_after"].as_str().unwrap();
    let diff = wink(&["diff", before, after]);
    assert!(diff.contains("-one\n+two\n"), "{diff}");
    assert_eq!(wink(&["fs", "cat", "--at", before, "a.txt"]), "one\n");
    assert_eq!(read["snapshot_before"], after);
    assert_eq!(read["snapshot_after"], after);
}

#[test]
fn a_dump_has_the_snapshots_that_its_session_refers_to_on_request() {
    let mut client = Client::new(&["--dump", "../records", "--dump-history"]);
    client.done("write_file", json!({"path": "a.txt", "content": "one"}));
    client.done("snapshot", json!({"tag": "first"}));
    assert_eq!(client.end().code(), Some(0));
    let records = records(&client);
    let history = records.iter().find(|it| it.extension().unwrap() == "history").unwrap();
    let snapshots = std::fs::read_dir(history.join("snapshots")).unwrap().count();
    assert!(snapshots >= 1, "{records:?}");
}

#[test]
fn a_session_without_a_call_leaves_no_dump() {
    let mut client = Client::new(&["--dump", "../records"]);
    assert_eq!(client.end().code(), Some(0));
    assert_eq!(records(&client), [] as [PathBuf; 0]);
}

#[test]
fn a_dump_into_the_files_themselves_is_refused_before_anything_is_served() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let refused = wink_in(place.path()).args(["mcp", "--dump", "inside"]).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("is inside the workspace"), "{said}");
    assert_eq!(std::fs::read_dir(place.path().join("work")).unwrap().count(), 0);
}
