//! How states are named.

use crate::cli::faults::run_by;
use crate::cli::scene::{Scene, stderr};

/// A workspace in which `a` was changed by wink and by hand, with two snapshots and a fork.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("a", "one\n");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.write("a", "two\n");
    scene.ok(&["snapshot", "--tag", "two"]);
    scene.ok(&["fork", "attempt", "one", "-q"]);
    scene
}

fn cat(scene: &Scene, name: &str) -> String {
    scene.ok(&["fs", "cat", "a", "--at", name])
}

#[test]
fn a_fork_is_named_by_its_last_snapshot() {
    let scene = scene();
    assert_eq!(cat(&scene, "attempt"), "one\n");
    let fork = scene.path("project-attempt");
    std::fs::write(fork.join("a"), "three\n").unwrap();
    assert!(scene.wink_in(&fork, &["snapshot"]).output().unwrap().status.success());
    assert_eq!(cat(&scene, "attempt"), "three\n");
    std::fs::remove_dir_all(&fork).unwrap();
    assert_eq!(cat(&scene, "attempt"), "three\n", "what it kept is there without its directory");
}

#[test]
fn a_fork_knows_the_names_of_forks_too() {
    let scene = scene();
    let fork = scene.path("project-attempt");
    let show = scene.wink_in(&fork, &["show", "attempt"]).output().unwrap();
    assert!(show.status.success(), "{}", stderr(&show));
}

#[test]
fn what_is_a_tag_and_a_fork_is_ambiguous() {
    let scene = scene();
    // Others that give the same name at the same time know nothing of each other.
    scene.ok(&["snapshot", "--tag", "meanwhile"]);
    let settings = scene.fork_settings("attempt").join("workspace.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let renamed = text.replace("\"attempt\"", "\"meanwhile\"");
    std::fs::write(settings, renamed).unwrap();
    let (code, said) = scene.fails(&["restore", "meanwhile"]);
    assert_eq!(code, 12);
    assert!(said.contains("`meanwhile` is both a tag and a fork"), "{said}");
    assert_eq!(said.lines().count(), 4, "{said}");
    scene.ok(&["tag", "meanwhile", "--delete", "-q"]);
    scene.ok(&["restore", "meanwhile"]);
}

#[test]
fn a_tag_and_a_fork_cannot_have_one_name() {
    let scene = scene();
    for args in [["tag", "attempt"].as_slice(), &["snapshot", "--tag", "attempt"]] {
        let (code, said) = scene.fails(args);
        assert_eq!(code, 1, "{said}");
        let parts =
            ["error: `attempt` is the fork in", "\ncause: ", "\nhelp: ", "wink fork rename"];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
    for args in [["fork", "one"].as_slice(), &["fork", "rename", "attempt", "one"]] {
        let (code, said) = scene.fails(args);
        assert_eq!(code, 1, "{said}");
        let parts =
            ["error: `one` is the tag of", "\ncause: ", "\nhelp: ", "wink tag one --delete"];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
    assert!(!scene.path("project-one").exists());
    let fork = scene.path("project-attempt");
    let tagged = scene.wink_in(&fork, &["tag", "attempt"]).output().unwrap();
    assert_eq!(tagged.status.code(), Some(1), "a fork has the same names");
    assert_eq!(scene.ids().len(), 2, "nothing was kept");
    scene.ok(&["tag", "one", "--delete"]);
    scene.ok(&["fork", "one"]);
}

#[test]
fn an_operation_is_named_by_what_it_left() {
    let scene = scene();
    scene.ok(&["restore", "one"]);
    assert_eq!(cat(&scene, "op:1"), "one\n");
    scene.ok(&["undo"]);
    // No snapshot was taken of it, so it can be looked at, but not restored.
    assert_eq!(cat(&scene, "op:2"), "two\n");
    assert_eq!(cat(&scene, "op:2-"), "one\n");
    let (code, said) = scene.fails(&["restore", "op:2"]);
    assert_eq!(code, 12);
    assert!(said.contains("taken after operation 2") && said.contains("wink undo"), "{said}");
    scene.ok(&["snapshot"]);
    assert_eq!(cat(&scene, "op:2"), "two\n");
    for unknown in ["op:9", "op:", "op:x", "op:-1"] {
        let (code, said) = scene.fails(&["show", unknown]);
        assert_eq!(code, 12);
        assert!(said.contains("wink op log"), "{said}");
    }
}

#[test]
#[ignore = "needs faketime"]
fn a_state_is_named_by_its_age() {
    let scene = Scene::new();
    for (clock, text) in [("-3d", "old\n"), ("-30m", "middle\n"), ("+0", "new\n")] {
        scene.write("a", text);
        let output = run_by(&scene, &["faketime", "-f", clock], &["snapshot"]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    for (age, expected) in [("10m ago", "middle\n"), ("2h ago", "old\n"), ("2d ago", "old\n")] {
        assert_eq!(cat(&scene, age), expected, "{age}");
    }
    let (code, said) = scene.fails(&["restore", "1w ago"]);
    assert_eq!(code, 12);
    assert!(said.contains("the oldest is from"), "{said}");
}

#[test]
fn an_archive_is_looked_at_like_a_state() {
    let scene = scene();
    scene.ok(&["export", "../one.fs.zip", "--at", "one"]);
    assert_eq!(cat(&scene, "../one.fs.zip"), "one\n");
    scene.ok(&["export", "../again.fs.zip", "--at", "../one.fs.zip"]);
    insta::assert_snapshot!(scene.transcript(&[
        &["diff", "../one.fs.zip"],
        &["diff", "one", "../again.fs.zip", "--exit-code"],
        &["show", "../one.fs.zip"],
        &["fs", "ls", "--at", "../again.fs.zip"],
        &["restore", "../one.fs.zip"],
        &["fork", "other", "../one.fs.zip"],
        &["revert", "../one.fs.zip"],
        &["diff", "../none.fs.zip"],
        &["diff", "event:412"],
    ]));
    let shown = scene.json(&["show", "../one.fs.zip"]);
    assert_eq!((&shown["schema"], &shown["files"]), (&"wink/show.archive@1".into(), &1.into()));
}

#[test]
fn a_fork_begins_with_an_archive_and_is_merged() {
    let scene = scene();
    scene.write("link-target", "x\n");
    scene.ok(&["export", "../one.fs.zip", "--at", "one"]);
    let forked = scene.json(&["fork", "other", "../one.fs.zip"]);
    assert_eq!((&forked["schema"], &forked["files"]), (&"wink/fork@1".into(), &1.into()));
    let fork = scene.path("project-other");
    assert_eq!(std::fs::read_to_string(fork.join("a")).unwrap(), "one\n");
    assert_eq!(cat(&scene, "other"), "one\n", "its name is that of its first snapshot");
    let status = scene.wink_in(&fork, &["status", "--json"]).output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["changes"]["modified"], 0, "{status}");
    std::fs::write(fork.join("b"), "new\n").unwrap();
    scene.ok(&["merge", "other"]);
    assert_eq!((scene.read("a"), scene.read("b")), ("two\n".into(), "new\n".into()));
    let shown = scene.ok(&["log"]);
    assert!(shown.contains("fork of ../one.fs.zip"), "{shown}");
}

#[test]
fn a_damaged_archive_makes_no_fork() {
    let scene = scene();
    scene.ok(&["export", "../one.fs.zip", "--at", "one"]);
    let mut bytes = std::fs::read(scene.path("one.fs.zip")).unwrap();
    // The first byte of the first content, after its header and name.
    bytes[30 + 1] ^= 0xff;
    std::fs::write(scene.path("one.fs.zip"), bytes).unwrap();
    let (code, said) = scene.fails(&["fork", "other", "../one.fs.zip"]);
    assert_eq!(code, 14, "{said}");
    assert!(!scene.path("project-other").exists());
    assert!(!scene.ok(&["fork", "list"]).contains("other"));
}
