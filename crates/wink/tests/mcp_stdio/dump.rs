//! The calls of a session can be looked at after it ended.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

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
        let [record] = &records[..] else { panic!("one record: {records:?}") };
        assert_eq!(record.extension().unwrap(), "jsonl");
        let mode = std::fs::metadata(record).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "what files held is in it");
        let shown = wink_in(client.place.path()).args(["session", "show"]).arg(record).output();
        let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
        assert!(shown.contains("✓ write_file a.txt"), "{shown}");
        assert!(shown.contains("✕ read_file nowhere.txt"), "{shown}");
    }
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
