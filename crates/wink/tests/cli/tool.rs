//! The tools of agents, called from the shell.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::cli::scene::{Scene, stderr, stdout};

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("notes.txt", "one\ntwo\n");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene
}

/// `op log` once said `A tmp/` of a file that was written into new directories.
#[test]
fn the_log_of_operations_names_what_was_written_into_new_directories() {
    let scene = Scene::new();
    let said = scene.ok(&["tool", "write_file", "path=tmp/a/b", "content=1"]);
    assert!(said.starts_with("Created tmp/a/b with 1 byte.\n"), "{said}");
    assert!(scene.ok(&["op", "log"]).contains("write_file: A tmp/a/b · "));
    scene.ok(&["tool", "write_file", "path=tmp/c", "content=1"]);
    for name in ["1", "2", "3", "4"] {
        scene.write(&format!("made/{name}"), name);
    }
    scene.ok(&["snapshot", "--tag", "made"]);
    scene.ok(&["fs", "rm", "-r", "made", "tmp"]);
    scene.ok(&["restore", "made"]);
    let log = scene.ok(&["op", "log"]);
    assert!(log.contains("restore: A made/1, A made/2, A made/3 and 3 more · "), "{log}");
    assert!(log.contains("write_file: A tmp/a/b · "), "what came later is another's: {log}");
    let log = scene.json(&["op", "log"]);
    let inside = log["operations"][0]["files_inside"].as_array().unwrap();
    assert_eq!(inside.len(), 6, "{inside:?}");
    scene.ok(&["undo"]);
    assert!(!scene.project("made").exists());
}

/// An absolute path was once taken for a relative one, and a whole tree was made of it.
#[test]
fn an_absolute_path_is_one_below_the_root_or_none() {
    let scene = Scene::new();
    let inside = format!("path={}", scene.project("a.txt").display());
    scene.ok(&["tool", "write_file", &inside, "content=hello"]);
    assert_eq!(scene.read("a.txt"), "hello");
    assert!(scene.ok(&["tool", "read_file", &inside]).contains("hello"));
    let outside = format!("path={}", scene.path("b.txt").display());
    let (_, said) = scene.fails(&["tool", "write_file", &outside, "content=hello"]);
    assert!(said.contains("an absolute path and not one of this workspace"), "{said}");
    let root = scene.path("project");
    assert!(!said.contains(root.to_str().unwrap()), "{said}");
    assert_eq!(std::fs::read_dir(scene.path("project")).unwrap().count(), 1);
}

#[test]
fn the_tools_are_listed_with_a_line_each() {
    let scene = Scene::empty();
    insta::assert_snapshot!(scene.transcript(&[
        &["tool"],
        &["tool", "mkdir", "--schema"],
        &["tool", "--help"],
    ]));
    assert_eq!(scene.ok(&["tool", "--list", "-q"]), scene.ok(&["tool", "-q"]));
}

#[test]
fn a_tool_answers_as_it_does_to_a_model() {
    let scene = scene();
    insta::assert_snapshot!(scene.transcript(&[
        &["tool", "read_file", "path=notes.txt", "limit=1"],
        &["tool", "write_file", r#"{"path": "new.txt", "content": "new\n"}"#],
        &["tool", "write_file", "path=new.txt", "content=other"],
        &["tool", "read_file", "path=../secret"],
        &["tool", "read_file", "path"],
        &["tool", "read_file", "{"],
        &["tool", "read_fill", "path=notes.txt"],
        &["tool", "shell_execute", "command=ls"],
        &["tool", "undo"],
        &["tool", "fork", "name=attempt"],
    ]));
}

#[test]
fn an_overwrite_names_the_hash_of_what_it_replaces() {
    let scene = scene();
    let read = scene.json(&["tool", "read_file", "path=notes.txt"]);
    let hash = format!("expected_hash={}", read["value"]["content_hash"].as_str().unwrap());
    let args = ["tool", "write_file", "path=notes.txt", "content=three"];
    assert_eq!(scene.fails(&args).0, 13);
    scene.ok(&[&args[..], &[hash.as_str()]].concat());
    assert_eq!(scene.read("notes.txt"), "three");
    assert_eq!(scene.fails(&[&args[..], &[hash.as_str()]].concat()).0, 13, "it is another now");
    scene.ok(&["undo"]);
    assert_eq!(scene.read("notes.txt"), "one\ntwo\n");
}

#[test]
fn arguments_come_by_standard_input_too() {
    let scene = scene();
    let args = ["tool", "write_file", "-", "path=b.txt", "--json"];
    let mut command = scene.wink_in(&scene.path("project"), &args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let json = br#"{"path": "a.txt", "content": "from outside"}"#;
    child.stdin.take().unwrap().write_all(json).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&answer["schema"], &answer["tool"]), (&"wink/tool@1".into(), &"write_file".into()));
    assert_eq!(answer["value"]["path"], "b.txt");
    assert_eq!(scene.read("b.txt"), "from outside");
}

#[test]
fn a_failure_is_told_to_programs_with_its_kind() {
    let scene = scene();
    let output = scene.run(&["tool", "read_file", "path=none", "--json"]);
    let error: Value = serde_json::from_str(&stderr(&output)).unwrap();
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
    assert_eq!(
        (&error["code"], &error["value"]["error"]),
        (&"not_found".into(), &"not_found".into())
    );
}

#[test]
fn programs_are_run_only_where_that_is_allowed() {
    let scene = scene();
    let args = ["tool", "shell_execute", "command=echo hello > made.txt; cat made.txt"];
    let (code, said) = scene.fails(&args);
    assert_eq!(code, 1);
    assert!(said.contains("--allow-execution") && !scene.project("made.txt").exists(), "{said}");
    let said = scene.ok(&[&args[..], &["--allow-execution"]].concat());
    assert!(said.contains("hello"), "{said}");
    scene.ok(&["undo"]);
    assert!(!scene.project("made.txt").exists());
}

#[test]
fn output_that_is_too_long_is_saved_where_the_caller_can_read_it() {
    let scene = scene();
    let args = ["tool", "shell_execute", "command=seq 100000", "--allow-execution"];
    let output = scene.run(&args);
    assert!(stdout(&output).contains("bytes left out"), "{output:?}");
    let said = stderr(&output);
    let path = said.trim().strip_prefix("note: all of stdout is in ").unwrap();
    assert!(std::fs::read_to_string(path).unwrap().ends_with("99999\n100000\n"));
    // A program that is run later cannot read what others printed.
    let hidden =
        scene.ok(&["tool", "shell_execute", &format!("command=cat {path}"), "--allow-execution"]);
    assert!(hidden.contains("Permission denied"), "{hidden}");
}

#[test]
fn programs_of_tools_are_in_the_sandbox_unless_told_otherwise() {
    let scene = scene();
    let outside = scene.path("home/made.txt");
    let command = format!("command=echo 1 > {}", outside.display());
    let args = ["tool", "shell_execute", &command, "--allow-execution"];
    assert!(scene.ok(&args).contains("exit code"), "the shell says that it cannot");
    assert!(!outside.exists());
    scene.ok(&[&args[..], &["--no-sandbox"]].concat());
    assert!(outside.exists());
    scene.ok(&[
        "tool",
        "shell_execute",
        "command=echo 1 > in",
        "--allow-execution",
        "--no-sandbox",
    ]);
    assert!(scene.ok(&["op", "log"]).contains("shell_execute, no sandbox"));
    let (code, said) = scene.fails(&["tool", "shell_execute", "command=true", "--net"]);
    assert!(code == 2 && said.contains("--allow-execution"), "{said}");
}

#[test]
fn states_are_named_as_everywhere() {
    let scene = Scene::new();
    for tag in ["one", "two"] {
        scene.write("a", tag);
        scene.ok(&["snapshot", "--tag", tag]);
    }
    scene.write("a", "three");
    assert!(scene.ok(&["tool", "diff", "from=@-2", "to=@-"]).contains("-one"));
    assert!(scene.ok(&["tool", "diff", "from=@-", "to=@"]).contains("+three"));
    scene.ok(&["tool", "restore", "snapshot=@-2"]);
    assert_eq!(scene.read("a"), "one");
}

#[test]
fn what_is_excluded_is_in_no_archive_of_an_agent() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.write(".env", "TOPSECRET");
    scene.ok(&["config", "add", "exclude", ".env"]);
    scene.ok(&["tool", "export"]);
    let listed = scene.ok(&["fs", "ls", "--at", "export.fs.zip"]);
    assert!(listed.contains("a") && !listed.contains(".env"), "{listed}");
}
