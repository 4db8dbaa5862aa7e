//! `wink run`: a program in the sandbox, as one operation.

use std::os::unix::process::ExitStatusExt as _;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cli::form::check_form;
use crate::cli::scene::{Scene, stderr, stdout};

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("a.txt", "one\n");
    scene.ok(&["snapshot"]);
    scene
}

#[test]
fn what_a_program_changed_is_listed_and_undone_as_one() {
    let scene = scene();
    insta::assert_snapshot!(scene.transcript(&[
        &["run", "--", "sh", "-c", "echo printed; echo two > a.txt; mkdir d; echo new > d/b.txt"],
        &["undo"],
        &["run", "--", "true"],
        &["run", "--discard", "--", "rm", "a.txt"],
        &["run", "--", "no-such-program"],
        &["run", "--no-sandbox", "--", "no-such-program"],
        &["run", "--", "./a.txt"],
    ]));
    assert_eq!(scene.read("a.txt"), "one\n");
    assert!(!scene.project("d").exists());
}

#[test]
fn its_exit_code_is_that_of_the_program() {
    let scene = scene();
    for (script, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("kill -9 $$", 137),
    ] {
        let output = scene.run(&["run", "--", "sh", "-c", script]);
        assert_eq!(output.status.code(), Some(code), "{script}: {output:?}");
    }
    assert_eq!(scene.run(&["run", "--", "no-such-program"]).status.code(), Some(127));
    assert_eq!(scene.run(&["run", "--", "./a.txt"]).status.code(), Some(126));
    assert_eq!(scene.run(&["run", "--fork", "bad name", "--", "true"]).status.code(), Some(125));
}

#[test]
fn programs_get_a_document() {
    let scene = scene();
    let run = |args: &[&str]| {
        let output = scene.run(&[&["run", "--json"], args].concat());
        let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
        check_form(&document, "summary");
        assert_eq!(document["schema"], "wink/run@1");
        document
    };
    let ran = run(&["--", "sh", "-c", "echo two > a.txt; echo 1 > new"]);
    assert_eq!(
        (&ran["exit_code"], &ran["sandboxed"], &ran["discarded"]),
        (&0.into(), &true.into(), &false.into())
    );
    let entries = ran["entries"].as_array().unwrap().iter();
    let entries: Vec<_> = entries.map(|it| (it["path"].as_str(), it["change"].as_str())).collect();
    assert_eq!(entries, [(Some("a.txt"), Some("modified")), (Some("new"), Some("added"))]);
    assert!(ran["saved"].is_string());
    let ran = run(&["--no-snapshot", "--", "rm", "new"]);
    assert!(ran["entries"].is_null() && !scene.project("new").exists());
}

#[test]
fn the_log_says_that_there_was_no_sandbox() {
    let scene = scene();
    scene.ok(&["run", "--no-sandbox", "-q", "--", "sh", "-c", "echo 2 > a.txt"]);
    assert!(scene.ok(&["op", "log"]).contains("run --no-sandbox: sh -c 'echo 2 > a.txt'"));
}

#[test]
fn in_a_fork_the_workspace_stays_as_it_is() {
    let scene = scene();
    for line in ["two", "three"] {
        let output = scene.run(&[
            "run",
            "--fork",
            "idea",
            "--",
            "sh",
            "-c",
            &format!("pwd; echo {line} >> a.txt"),
        ]);
        assert!(stdout(&output).trim().ends_with("project-idea"), "{output:?}");
        assert!(stderr(&output).contains("merge it: wink merge idea"), "{output:?}");
    }
    assert_eq!(scene.read("a.txt"), "one\n");
    scene.ok(&["merge", "idea"]);
    assert_eq!(scene.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn it_runs_where_it_was_called() {
    let scene = scene();
    scene.write("sub/b.txt", "");
    let output = scene
        .wink_in(&scene.project("sub"), &["run", "-q", "--", "sh", "-c", "pwd; echo 1 > ../made"])
        .output()
        .unwrap();
    assert_eq!(stdout(&output).trim(), scene.project("sub").to_str().unwrap(), "{output:?}");
    assert!(scene.project("made").exists());
}

#[test]
fn a_signal_to_wink_ends_the_program_and_its_changes_can_be_undone() {
    let scene = scene();
    let script =
        "echo two > a.txt; setsid sleep 600 & echo $! > pid.new; mv pid.new pid; sleep 600";
    let mut child = scene
        .wink_in(&scene.path("project"), &["run", "-q", "--", "sh", "-c", script])
        .spawn()
        .unwrap();
    while !scene.project("pid").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let sleeping = std::path::Path::new("/proc").join(scene.read("pid").trim());
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let status = child.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(137), None));
    assert!(!sleeping.exists());
    scene.ok(&["undo"]);
    assert_eq!(scene.read("a.txt"), "one\n");
}
