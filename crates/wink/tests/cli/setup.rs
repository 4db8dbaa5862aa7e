//! The commands that are about wink itself.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::cli::faults::run_by;
use crate::cli::scene::{Scene, mode_of, stderr, stdout};

fn health(examined: &Value, name: &str) -> Vec<String> {
    let checks = examined["checks"].as_array().unwrap().iter();
    let found = checks.filter(|it| it["name"] == name);
    found.map(|it| it["health"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_doctor_finds_all_in_order() {
    let scene = Scene::new();
    scene.ok(&["snapshot"]);
    let examined = scene.json(&["doctor"]);
    assert_eq!((&examined["schema"], &examined["ok"]), (&"wink/doctor@1".into(), &true.into()));
    for name in ["wink", "kernel", "openat2", "workspace", "privacy", "history"] {
        assert_eq!(health(&examined, name), ["ok"], "{name}: {examined}");
    }
    assert_eq!(health(&examined, "git"), ["note"], "nothing is on PATH");
    let text = scene.ok(&["doctor"]);
    assert!(text.contains("✓ history") && text.contains("1 snapshot, no problems"), "{text}");
    assert_eq!(health(&Scene::empty().json(&["doctor"]), "workspace"), ["note"]);
}

/// Once, systems on which all works were said to be at fault.
#[test]
#[ignore = "needs strace"]
fn a_doctor_only_warns_where_paths_are_walked() {
    let scene = Scene::new();
    let inject = "inject=openat2:error=ENOSYS";
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=openat2", "-e", inject];
    let output = run_by(&scene, &strace, &["doctor", "--json"]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    let examined: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(health(&examined, "openat2"), ["warning"]);
    assert_eq!(health(&examined, "history"), ["ok"]);
}

#[test]
fn a_doctor_names_a_second_wink_and_the_versions_of_others() {
    let scene = Scene::new();
    let programs = scene.path("programs");
    std::fs::create_dir(&programs).unwrap();
    for (name, script) in [("wink", "#!/bin/sh\n"), ("git", "#!/bin/sh\necho git version 9\n")] {
        std::fs::write(programs.join(name), script).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(programs.join(name), mode).unwrap();
    }
    let mut doctor = scene.wink_in(&scene.path("project"), &["doctor", "--json"]);
    let output = doctor.env("PATH", &programs).output().unwrap();
    let examined: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(health(&examined, "wink"), ["ok", "warning"]);
    let git = examined["checks"].as_array().unwrap().iter().find(|it| it["name"] == "git");
    assert_eq!(git.unwrap()["said"], "git version 9");
}

#[test]
fn a_doctor_mends_what_can_be_mended() {
    let scene = Scene::new();
    scene.write("a", "content");
    scene.ok(&["snapshot"]);
    let history = scene.history();
    std::fs::set_permissions(&history, std::fs::Permissions::from_mode(0o755)).unwrap();
    for pack in std::fs::read_dir(history.join("store/packs")).unwrap() {
        let path = pack.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    }
    let output = scene.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let text = stdout(&output);
    assert!(text.contains("✕ privacy") && text.contains("✕ history"), "{text}");
    assert!(stderr(&output).contains("wink doctor --fix"));
    let mended = scene.ok(&["doctor", "--fix"]);
    assert!(mended.contains("repaired; "), "{mended}");
    assert_eq!(mode_of(&history), 0o700);
    scene.ok(&["doctor"]);
}

/// Once, it put snapshots aside that the files could have mended.
#[test]
fn a_doctor_mends_with_the_help_of_the_files() {
    let scene = Scene::new();
    scene.write("a", "content");
    scene.ok(&["snapshot", "--tag", "whole"]);
    for pack in std::fs::read_dir(scene.history().join("store/packs")).unwrap() {
        let path = pack.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    }
    scene.ok(&["doctor", "--fix"]);
    scene.write("a", "other");
    scene.ok(&["restore", "whole"]);
    assert_eq!(scene.read("a"), "content");
}

#[test]
fn a_doctor_promises_to_mend_only_what_it_can() {
    let scene = Scene::new();
    std::fs::write(scene.history().join("workspace.json"), "{}").unwrap();
    let output = scene.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).contains("✕ workspace"), "{}", stdout(&output));
    assert!(!stderr(&output).contains("--fix"), "{}", stderr(&output));
}

/// Returns what a shell proposes where something is typed.
fn proposed(scene: &Scene, words: &[&str]) -> String {
    let args = [&["--", "wink"], words].concat();
    let mut command = scene.wink_in(&scene.path("project"), &args);
    let output = command.env("WINK_COMPLETE", "fish").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

/// Once, states of the workspace of the current directory were proposed for another one.
#[test]
fn completions_are_those_of_the_workspace_that_is_named() {
    let scene = Scene::new();
    scene.ok(&["snapshot", "--tag", "here"]);
    let kept = scene.path("kept");
    let kept = kept.to_str().unwrap();
    std::fs::create_dir(scene.path("other")).unwrap();
    scene.ok(&["-C", "../other", "init", "--store", kept, "-q"]);
    scene.ok(&["-C", "../other", "snapshot", "--tag", "there"]);
    for place in [&["-C", "../other"][..], &["--store", kept], &["-q", "-C../other"]] {
        let shown = proposed(&scene, &[place, &["restore", ""]].concat());
        assert!(shown.contains("there\t"), "{place:?}: {shown}");
        assert!(!shown.lines().any(|it| it.starts_with("here")), "{place:?}: {shown}");
    }
    let after = proposed(&scene, &["show", "-C", "../other", "th"]);
    assert!(after.starts_with("there\t"), "{after}");
    let nowhere = proposed(&scene, &["-C", "../none", "restore", ""]);
    assert!(!nowhere.lines().any(|it| it.starts_with("here")), "{nowhere}");
}

#[test]
fn completions_know_the_paths_of_the_state_that_is_looked_at() {
    let scene = Scene::new();
    scene.write("src/old.rs", "");
    scene.ok(&["snapshot", "--tag", "one"]);
    std::fs::rename(scene.project("src/old.rs"), scene.project("src/new.rs")).unwrap();
    assert_eq!(proposed(&scene, &["fs", "cat", "sr"]), "src/\n");
    assert_eq!(proposed(&scene, &["fs", "cat", "src/"]), "src/new.rs\n");
    assert_eq!(proposed(&scene, &["fs", "cat", "--at", "one", "src/"]), "src/old.rs\n");
    assert_eq!(proposed(&scene, &["-C", "src", "fs", "ls", "--at=one", "o"]), "old.rs\n");
}

#[test]
fn completions_know_commands_and_names_of_states() {
    let scene = Scene::new();
    scene.ok(&["snapshot", "--tag", "before-refactor"]);
    scene.ok(&["fork", "attempt", "-q"]);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(scene.ok(&["completions", shell]).contains("WINK_COMPLETE"), "{shell}");
    }
    assert_eq!(scene.json(&["completions", "zsh"])["schema"], "wink/completions@1");
    assert_eq!(scene.fails(&["completions", "csh"]).0, 2);
    let proposed = |words: &[&str]| proposed(&scene, words);
    assert!(proposed(&["resto"]).starts_with("restore\t"));
    assert!(proposed(&["restore", "bef"]).starts_with("before-refactor\t"));
    assert!(proposed(&["merge", ""]).starts_with("attempt\t"));
    assert!(proposed(&["show", "@"]).contains("@-\t"));
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let scene = Scene::empty();
    assert!(scene.ok(&["man"]).contains(".TH wink 1"));
    assert!(scene.ok(&["man", "../man"]).contains("pages to"));
    for page in ["wink.1", "wink-restore.1", "wink-fs-grep.1", "wink-op-log.1"] {
        assert!(scene.path("man").join(page).exists(), "{page}");
    }
    let page = std::fs::read_to_string(scene.path("man/wink-fs-write.1")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(page.contains(&format!(".TH wink-fs-write 1  \"wink {version}\"")), "{page}");
    let synopsis = page.split(".SH SYNOPSIS").nth(1).unwrap().split(".SH").next().unwrap();
    let plain = synopsis.replace("\\fB", "").replace("\\fR", "");
    assert!(plain.contains("wink fs write [OPTIONS] <PATH>"), "{synopsis}");
    assert_eq!(scene.json(&["man"])["schema"], "wink/man@1");
    assert_eq!(scene.json(&["man", "../man"])["schema"], "wink/man.write@1");
}

#[test]
fn a_record_of_what_was_done_goes_where_it_is_asked_for() {
    let scene = Scene::new();
    scene.write("a", "");
    let quiet = scene.run(&["snapshot", "-q"]);
    assert_eq!(stderr(&quiet), "");
    let output = scene.run(&["snapshot", "--log", "info", "-q"]);
    assert!(stderr(&output).contains("INFO") && !stderr(&output).contains("DEBUG"));
    assert!(stderr(&scene.run(&["snapshot", "-q", "-vv"])).contains("SnapshotTaken"));
    let output = scene.run(&["snapshot", "--log", "../wink.log"]);
    assert_eq!(stderr(&output), "");
    let record = std::fs::read_to_string(scene.path("wink.log")).unwrap();
    assert!(record.contains("SnapshotTaken") && record.contains("exit=0"), "{record}");
    assert_eq!(mode_of(&scene.path("wink.log")), 0o600);
    assert_eq!(scene.fails(&["status", "--log", "../none/wink.log"]).0, 1);
    // Once, it was the only path that did not begin where the command works.
    scene.ok(&["-C", "../home", "doctor", "--log", "there.log"]);
    assert!(scene.path("home/there.log").exists());
}

/// Once, a script that made sure of it failed.
#[test]
fn a_workspace_can_be_initialised_again() {
    let scene = Scene::new();
    let before = scene.json(&["status"]);
    let again = scene.ok(&["init"]);
    assert!(again.contains("is already a workspace"), "{again}");
    let again = scene.json(&["init"]);
    assert_eq!((&again["existed"], &again["moved_from"]), (&true.into(), &Value::Null));
    assert_eq!(scene.json(&["status"])["root"], before["root"]);
    // What it would not do is refused.
    let (code, said) = scene.fails(&["init", "--exclude", "target/"]);
    assert_eq!(code, 1);
    assert!(said.contains("is already a workspace"), "{said}");
}
