//! What is said of operations: all that is known, and that something is not.

use std::fs::File;
use std::io::Write as _;

use crate::cli::scene::{Scene, stderr, stdout};

/// A workspace with three operations, of which the last one is damaged.
fn damaged() -> Scene {
    let scene = Scene::new();
    for name in ["one", "two", "three"] {
        scene.ok(&["fs", "mkdir", name]);
    }
    std::fs::write(scene.history().join("store/operations/3.op"), "junk").unwrap();
    scene
}

/// Once, the operation before it was undone without a word.
#[test]
fn an_undo_says_that_it_passes_over_an_operation_that_is_damaged() {
    let scene = damaged();
    let undone = scene.run(&["undo"]);
    assert!(undone.status.success(), "{}", stderr(&undone));
    assert!(!scene.project("two").exists() && scene.project("three").exists());
    let warning = "warning: operation 3 is damaged and was skipped";
    assert!(stderr(&undone).contains(warning), "{}", stderr(&undone));
    let redone = scene.run(&["redo", "-q"]);
    assert!(stderr(&redone).contains(warning), "{}", stderr(&redone));
    assert_eq!(scene.json(&["undo"])["passed_over"], serde_json::json!([3]));
}

#[test]
fn the_log_shows_where_an_operation_is_damaged() {
    let scene = damaged();
    let log = scene.ok(&["op", "log"]);
    let first = log.lines().next().unwrap();
    assert!(first.starts_with("    3  its record is damaged"), "{log}");
    assert_eq!(log.lines().count(), 3, "{log}");
    assert_eq!(scene.json(&["op", "log"])["damaged"], serde_json::json!([3]));
    assert_eq!(scene.ok(&["op", "log", "-n", "1"]).lines().count(), 1);
    scene.ok(&["fs", "mkdir", "four"]);
    std::fs::write(scene.history().join("store/operations/1.op"), "junk").unwrap();
    let log = scene.ok(&["op", "log"]);
    let numbers: Vec<_> = log.lines().map(|line| line[..5].trim()).collect();
    assert_eq!(numbers, ["4", "3", "2", "1"], "{log}");
}

#[test]
fn a_damaged_operation_is_found_and_put_aside_with_what_was_kept_for_it() {
    let scene = Scene::new();
    scene.write("a", "precious\n");
    scene.ok(&["fs", "rm", "a"]);
    let operations = scene.history().join("store/operations");
    std::fs::write(operations.join("1.op"), "junk").unwrap();
    let found = scene.run(&["verify"]);
    assert_eq!(found.status.code(), Some(14), "{}", stdout(&found));
    assert!(stdout(&found).contains("operations/1.op is damaged"), "{}", stdout(&found));
    let said = scene.ok(&["repair"]);
    assert!(said.contains("1.op.0"), "{said}");
    let kept = std::fs::read_dir(scene.history().join("store/quarantine")).unwrap();
    let kept = kept.map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap());
    assert!(kept.into_iter().any(|text| text == "precious\n"), "nothing is deleted");
    scene.ok(&["verify", "--data"]);
    scene.ok(&["fs", "mkdir", "b"]);
    assert!(!scene.project("a").exists(), "nothing is taken back");
}

/// Once, 997 more were said to be what were tens of thousands.
#[test]
fn of_more_files_than_are_listed_the_log_says_that_there_are_at_least_so_many() {
    let scene = Scene::new();
    let brought_back = |files: usize| {
        let scene = &scene;
        (0..files).for_each(|number| scene.write(&format!("many/{number:04}"), ""));
        scene.ok(&["fs", "rm", "-r", "many"]);
        scene.ok(&["undo"]);
        let log = scene.ok(&["op", "log", "-n", "1"]);
        let newest = scene.json(&["op", "log"])["operations"][0].clone();
        (log, newest["files_inside_truncated"] == true)
    };
    let (log, is_cut) = brought_back(900);
    assert!(log.contains("and 897 more") && !is_cut, "{log}");
    let (log, is_cut) = brought_back(1_200);
    assert!(log.contains("and at least 997 more") && is_cut, "{log}");
}

/// Once, it said to take back first what came since, and nothing had.
#[test]
fn an_operation_into_whose_kept_files_a_program_wrote_is_not_said_to_be_built_upon() {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n");
    let mut program = File::options().append(true).open(scene.project("notes.txt")).unwrap();
    scene.ok(&["fs", "edit", "notes.txt", "one", "two"]);
    // One tick of the kernel's clock may hold the operation and this write, which nothing tells apart then.
    let record = scene.history().join("store/operations/1.op");
    let recorded = std::fs::metadata(record).unwrap().modified().unwrap();
    while program.metadata().unwrap().modified().unwrap() <= recorded {
        program.write_all(b"more\n").unwrap();
    }
    let (code, said) = scene.fails(&["undo", "op:1"]);
    assert_eq!(code, 13);
    assert!(said.contains("still had it open") && said.contains("help: pass"), "{said}");
    assert!(!said.contains("what came since"), "{said}");
}

/// Once, only the last ten restores could be undone, and an agent could erase a file of which the user had no
/// snapshot by restoring eleven times.
#[test]
fn every_restore_that_is_listed_can_be_undone() {
    let scene = Scene::new();
    scene.write("base", "start");
    scene.ok(&["snapshot", "--tag", "start"]);
    for number in 0..25 {
        scene.write("base", format!("edit {number}"));
        scene.write(&format!("new{number}"), "kept nowhere");
        scene.ok(&["restore", "start"]);
    }
    for number in (0..25).rev() {
        scene.ok(&["undo"]);
        assert_eq!(scene.read("base"), format!("edit {number}"));
        assert_eq!(scene.read(&format!("new{number}")), "kept nowhere");
        scene.write("base", "start");
        std::fs::remove_file(scene.project(&format!("new{number}"))).unwrap();
    }
}
