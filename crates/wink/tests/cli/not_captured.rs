//! What is there and no snapshot holds, told before one is taken.

use std::os::unix::net::UnixListener;
use std::process::Command;

use serde_json::{Value, json};

use crate::scene::Scene;

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
