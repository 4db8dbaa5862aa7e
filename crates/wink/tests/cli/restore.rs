//! `wink restore`.

use serde_json::json;

use crate::cli::scene::Scene;

/// Once, it said only that an argument was missing.
#[test]
fn a_restore_without_a_state_lists_the_states_to_go_to() {
    let scene = Scene::new();
    let (_, said) = scene.fails(&["restore"]);
    assert!(said.contains("help: `wink snapshot`"), "{said}");
    scene.write("a", "1");
    scene.ok(&["snapshot", "--tag", "first"]);
    for number in 2..9 {
        scene.write("a", number.to_string());
        scene.ok(&["snapshot"]);
    }
    scene.ok(&["fork", "attempt", "first", "-q"]);
    scene.write("b", "new");
    let listed = scene.json(&["restore"]);
    assert_eq!(listed["schema"], "wink/restore.states@1");
    let states = listed["states"].as_array().unwrap();
    let names: Vec<_> = states.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["@-", "@-2", "@-3", "@-4", "@-5", "first", "attempt"]);
    assert_eq!(states[0]["changes"], json!({"added": 0, "modified": 0, "deleted": 1}));
    assert_eq!(states[1]["changes"], json!({"added": 0, "modified": 1, "deleted": 1}));
    let text = scene.ok(&["restore"]);
    assert_eq!(text.lines().count(), 7, "{text}");
    assert!(text.lines().all(|line| line.contains("changed (+")), "{text}");
    for name in names {
        scene.ok(&["restore", name, "--dry-run"]);
    }
}

/// Once, a path needed `--` before it, unlike anywhere else.
#[test]
fn paths_come_after_the_state() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.write("b", "1");
    scene.ok(&["snapshot", "--tag", "one"]);
    for args in [&["restore", "one", "a"][..], &["restore", "one", "--", "a"]] {
        scene.write("a", "2");
        scene.write("b", "2");
        scene.ok(args);
        assert_eq!((scene.read("a"), scene.read("b")), ("1".into(), "2".into()));
    }
}
