//! What is there and no snapshot holds, told before one is taken.

use std::os::unix::net::UnixListener;
use std::process::Command;

use serde_json::{Value, json};

use crate::cli::scene::Scene;

fn paths(status: &Value, list: &str) -> Vec<String> {
    let all = status[list].as_array().unwrap().iter();
    all.map(|it| it["path"].as_str().unwrap().to_owned()).collect()
}

fn fifo(scene: &Scene, name: &str) {
    assert!(Command::new("mkfifo").arg(scene.project(name)).status().unwrap().success());
}

/// Once, `status` named only what the last snapshot had left out.
#[test]
fn new_fifos_and_sockets_are_named_before_the_next_snapshot() {
    let scene = Scene::new();
    scene.write("a/b.txt", "one\n");
    fifo(&scene, "old");
    scene.ok(&["snapshot"]);
    fifo(&scene, "a/pipe");
    let _socket = UnixListener::bind(scene.project("a/socket")).unwrap();
    let status = scene.json(&["status"]);
    assert_eq!(paths(&status, "not_captured"), ["a/pipe", "a/socket", "old"]);
    assert_eq!(paths(&status, "skipped"), ["old"]);
    assert_eq!(status["changes"], json!({"added": 0, "modified": 0, "deleted": 0}));
    let said = scene.ok(&["status"]);
    let why = "(a FIFO, socket or device)";
    let expected = format!("not captured    a/pipe {why}, a/socket {why}, old {why}\n");
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn a_fifo_in_the_place_of_a_file_is_named_beside_the_change() {
    let scene = Scene::new();
    scene.write("a", "one\n");
    scene.ok(&["snapshot"]);
    std::fs::remove_file(scene.project("a")).unwrap();
    fifo(&scene, "a");
    let status = scene.json(&["status"]);
    assert_eq!(paths(&status, "not_captured"), ["a"]);
    assert_eq!(status["changes"]["deleted"], 1);
}

#[test]
fn what_is_excluded_or_gone_is_not_named() {
    let scene = Scene::new();
    scene.ok(&["config", "add", "exclude", "run/"]);
    scene.write("a", "one\n");
    scene.ok(&["snapshot"]);
    std::fs::create_dir(scene.project("run")).unwrap();
    fifo(&scene, "run/pipe");
    fifo(&scene, "pipe");
    std::fs::remove_file(scene.project("pipe")).unwrap();
    assert_eq!(paths(&scene.json(&["status"]), "not_captured"), [""; 0]);
}

/// Once, one of them kept everything else from being taken along, and the advice was to delete it.
#[test]
fn an_archive_leaves_out_what_a_snapshot_leaves_out_and_names_it() {
    let scene = Scene::new();
    scene.write("a/b.txt", "one\n");
    fifo(&scene, "a/pipe");
    std::fs::create_dir(scene.project("only")).unwrap();
    let _socket = UnixListener::bind(scene.project("only/socket")).unwrap();
    let why = "a FIFO, socket or device";
    let skipped = json!([{"path": "a/pipe", "why": why}, {"path": "only/socket", "why": why}]);
    let archive = scene.path("all.fs.zip");
    let archive = archive.to_str().unwrap();
    let said = scene.ok(&["export", archive]);
    assert!(said.contains(&format!("not captured: a/pipe ({why}), only/socket ({why})")), "{said}");
    let exported = scene.json(&["export", archive, "--force"]);
    assert_eq!((&exported["files"], &exported["skipped"]), (&json!(1), &skipped));
    assert_eq!(scene.ok(&["fs", "cat", "a/b.txt", "--at", archive]), "one\n");
    assert_eq!(scene.ok(&["fs", "ls", "only", "--at", archive]), "", "the directory is there");
    let called = scene.json(&["tool", "export"]);
    assert_eq!(called["value"]["left_out"], json!(["a/pipe", "only/socket"]), "{called}");
    let dumps = scene.path("dumps");
    let dumped = scene.json(&["session", "dump", dumps.to_str().unwrap()]);
    assert_eq!(dumped["skipped"], skipped, "{dumped}");
}

/// Once, the directory that it was to be written to stayed, with nothing in it.
#[test]
fn a_dump_that_fails_leaves_no_directory() {
    let scene = Scene::new();
    scene.write("a.txt", "one\n");
    std::fs::create_dir(scene.path("there")).unwrap();
    let directory = scene.path("there/new/dumps");
    let dump = ["session", "dump", directory.to_str().unwrap()];
    // A file of this size cannot be written.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 0; exec \"$@\"", "sh"]);
    let usual = scene.wink_in(&scene.path("project"), &dump);
    limited.arg(usual.get_program()).args(usual.get_args());
    limited.current_dir(usual.get_current_dir().unwrap());
    limited.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let failed = limited.output().unwrap();
    assert!(!failed.status.success(), "{failed:?}");
    assert!(!scene.path("there/new").exists(), "{failed:?}");
    assert!(scene.path("there").exists());
    scene.ok(&dump);
}
