//! The program as it is called: what it prints, writes, refuses and leaves behind.

#![allow(clippy::disallowed_methods, reason = "looks at the program's files from outside")]
#![allow(clippy::expect_used, reason = "a test helper")]

use std::fs;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wink-bench")).args(arguments).output().expect("it starts")
}

#[test]
fn two_cases_give_one_table_and_one_json_file_and_leave_no_scratch() {
    let directory = tempfile::tempdir().unwrap();
    let (json, scratch) = (directory.path().join("deep/r.json"), directory.path().join("scratch"));
    fs::create_dir(&scratch).unwrap();
    let [json_text, scratch_text] = [&json, &scratch].map(|path| path.to_str().unwrap());
    let output = run(&[
        "--only",
        "memory-read",
        "memory-create",
        "--json",
        json_text,
        "--scratch",
        scratch_text,
    ]);
    assert!(output.status.success(), "{output:?}");

    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed.lines().filter(|line| line.starts_with("| `memory-")).count(), 2);
    assert!(printed.contains("- kernel: ") && printed.contains("median of 7"), "{printed}");

    let rows: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    assert_eq!((&rows[0]["case"], &rows[0]["peer"]), (&"memory-create".into(), &"budget".into()));
    assert_eq!((&rows[0]["theirs"], &rows[0]["unit"]), (&100.0.into(), &"ms".into()));
    assert_eq!(fs::read_dir(scratch).unwrap().count(), 0);
}

#[test]
fn an_unknown_case_is_refused_before_anything_runs() {
    let output = run(&["--only", "memory-creation"]);
    assert!(!output.status.success() && output.stdout.is_empty());
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(
        complaint.contains("memory-scale") && complaint.contains("stream-2gb-rss"),
        "{complaint}"
    );
}
