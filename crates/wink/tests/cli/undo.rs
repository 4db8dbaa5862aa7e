//! `wink undo` where other programs changed files.

use crate::cli::scene::{Scene, stderr};
use crate::cli::terminal::typing;

/// A workspace with a snapshot `one`, after which a program outside of wink changed everything.
fn changed_outside() -> Scene {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n");
    scene.write("src/main.rs", "fn main() {}\n");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.write("notes.txt", "two\n");
    scene.write("new.txt", "new\n");
    std::fs::remove_dir_all(scene.project("src")).unwrap();
    scene
}

/// Once, it said only that there was nothing to undo.
#[test]
fn an_undo_of_what_another_program_did_names_the_command_that_does_it() {
    let scene = changed_outside();
    let (code, said) = scene.fails(&["undo"]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("one); restoring it would change:\n  D new.txt\n  M notes.txt\n  A src"),
        "{said}"
    );
    assert!(said.contains("help: `wink restore @-`"), "{said}");
    assert_eq!(scene.read("notes.txt"), "two\n");
    let (_, said) = scene.fails(&["undo", "--json"]);
    assert!(said.contains("`wink restore @-`"), "{said}");
    scene.ok(&["restore", "@-"]);
    assert_eq!(scene.read("notes.txt"), "one\n");
}

#[test]
fn on_a_terminal_an_undo_asks_whether_to_restore_the_last_snapshot() {
    let scene = changed_outside();
    let shown = typing(&scene, &[], &["undo"], "n\n");
    assert!(
        shown.contains("M notes.txt") && shown.contains("Restore the last snapshot? [y/N]"),
        "{shown}"
    );
    assert_eq!(scene.read("notes.txt"), "two\n");
    let shown = typing(&scene, &[], &["undo"], "y\n");
    assert!(shown.contains("2 files reverted") || shown.contains("Restored"), "{shown}");
    assert_eq!(scene.read("notes.txt"), "one\n");
    assert!(scene.project("src/main.rs").exists() && !scene.project("new.txt").exists());
    scene.ok(&["undo"]);
    assert_eq!(scene.read("notes.txt"), "two\n");
}

/// Once, it undid an operation from before the snapshot, and left the change that was meant.
#[test]
fn an_undo_does_not_pass_over_an_outside_change_to_an_older_operation() {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n");
    scene.ok(&["fs", "mkdir", "made"]);
    scene.ok(&["snapshot"]);
    scene.write("notes.txt", "two\n");
    let (_, said) = scene.fails(&["undo"]);
    assert!(said.contains("M notes.txt") && said.contains("`wink undo 1`"), "{said}");
    assert!(scene.project("made").exists());
    scene.ok(&["undo", "1"]);
    assert!(!scene.project("made").exists());
}

#[test]
fn an_operation_since_the_last_snapshot_is_undone_whatever_others_changed() {
    let scene = changed_outside();
    scene.ok(&["fs", "mkdir", "made"]);
    let undone = scene.run(&["undo"]);
    assert!(undone.status.success());
    assert!(!scene.project("made").exists());
    assert_eq!(scene.read("notes.txt"), "two\n");
    let said = stderr(&undone);
    assert!(said.contains("other programs changed these"), "{said}");
    assert!(said.contains("notes.txt") && said.contains("src"), "{said}");
    scene.ok(&["undo", "--yes"]);
    assert_eq!(scene.read("notes.txt"), "one\n");
}

/// Once, a tool's undo took back what a person had done last.
#[test]
fn a_tool_undoes_what_tools_did_and_a_person_sees_whose_it_was() {
    let scene = Scene::new();
    scene.ok(&["tool", "write_file", "path=a", "content=1"]);
    scene.ok(&["fs", "mkdir", "mine"]);
    scene.ok(&["tool", "undo"]);
    assert!(!scene.project("a").exists() && scene.project("mine").exists());
    let (_, said) = scene.fails(&["tool", "undo"]);
    assert!(said.contains("operation 2") && said.contains("by wink, process "), "{said}");
    assert!(scene.project("mine").exists());
    scene.ok(&["tool", "write_file", "path=b", "content=1"]);
    let undone = scene.ok(&["undo"]);
    assert!(
        undone.starts_with("Undid write_file (less than a minute ago, by wink tool):"),
        "{undone}"
    );
    scene.ok(&["tool", "undo", "operation=2"]);
    assert!(!scene.project("mine").exists());
}
