//! A project that was moved or renamed.

use std::path::Path;
use std::process::Output;

use crate::cli::scene::{Scene, stderr, stdout};

fn in_directory(scene: &Scene, directory: &Path, args: &[&str]) -> Output {
    scene.wink_in(directory, args).output().unwrap()
}

fn ok(scene: &Scene, directory: &Path, args: &[&str]) -> String {
    let output = in_directory(scene, directory, args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// A project with a snapshot and a change since, which is then renamed.
fn renamed() -> (Scene, std::path::PathBuf) {
    let scene = Scene::new();
    scene.write("a.txt", "one");
    scene.write("kept.txt", "the same as ever");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.write("a.txt", "two");
    let renamed = scene.path("renamed");
    std::fs::rename(scene.path("project"), &renamed).unwrap();
    (scene, renamed)
}

#[test]
fn a_directory_that_was_renamed_is_told_of_its_history_and_goes_on_with_it() {
    let (scene, renamed) = renamed();
    let history = scene.history();
    let output = in_directory(&scene, &renamed, &["status"]);
    let advice = format!(
        "if it was `{}`, `wink init --store {}` continues its history",
        scene.path("project").display(),
        history.display()
    );
    assert_eq!(output.status.code(), Some(10));
    assert!(stderr(&output).contains(&advice), "{}", stderr(&output));
    // What `status` calls the store will do, too.
    let store = history.join("store");
    let said = ok(&scene, &renamed, &["init", "--store", store.to_str().unwrap()]);
    assert!(said.contains("It continues the history of"), "{said}");
    assert!(ok(&scene, &renamed, &["status"]).contains("1 changed (+0 ~1 -0)"));
    ok(&scene, &renamed, &["restore", "one"]);
    assert_eq!(std::fs::read_to_string(renamed.join("a.txt")).unwrap(), "one");
    ok(&scene, &renamed, &["undo"]);
    assert_eq!(std::fs::read_to_string(renamed.join("a.txt")).unwrap(), "two");
}

#[test]
fn what_is_at_the_old_path_later_has_a_history_of_its_own() {
    let (scene, renamed) = renamed();
    let history = scene.history();
    ok(&scene, &renamed, &["init", "--store", history.to_str().unwrap()]);
    std::fs::create_dir(scene.path("project")).unwrap();
    assert_eq!(scene.fails(&["status"]).0, 10);
    scene.ok(&["init"]);
    scene.write("b.txt", "new");
    scene.ok(&["snapshot"]);
    assert_eq!(scene.ids().len(), 1);
    assert_ne!(scene.json(&["status"])["store"]["path"], history.join("store").to_str().unwrap());
    assert!(ok(&scene, &renamed, &["log"]).contains("one"));

    std::fs::remove_dir_all(scene.path("project")).unwrap();
    std::fs::rename(&renamed, scene.path("project")).unwrap();
    let (code, said) = scene.fails(&["init", "--store", history.to_str().unwrap()]);
    assert_eq!(code, 1, "the path has another history: {said}");
    assert!(scene.ok(&["log"]).contains("(+2 ~0 -1)"), "and it stays");
}

#[test]
fn a_history_whose_directory_is_there_is_not_taken_from_it() {
    let scene = Scene::new();
    let (history, other) = (scene.history(), scene.path("other"));
    std::fs::create_dir(&other).unwrap();
    let output = in_directory(&scene, &other, &["init", "--store", history.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("is already a workspace"), "{}", stderr(&output));
    scene.ok(&["status"]);
    assert_eq!(in_directory(&scene, &other, &["status"]).status.code(), Some(10));
}

#[test]
fn a_named_store_and_its_forks_move_with_the_directory() {
    let scene = Scene::empty();
    let elsewhere = scene.path("disk/history");
    scene.write("a.txt", "one");
    scene.ok(&["init", "--store", elsewhere.to_str().unwrap()]);
    scene.ok(&["fork", "attempt", "-q"]);
    std::fs::write(scene.path("project-attempt/b.txt"), "new").unwrap();
    let (renamed, fork) = (scene.path("renamed"), scene.path("moved-attempt"));
    std::fs::rename(scene.path("project"), &renamed).unwrap();
    std::fs::rename(scene.path("project-attempt"), &fork).unwrap();
    ok(&scene, &renamed, &["init", "--store", elsewhere.to_str().unwrap()]);
    let settings = elsewhere.join("branches/attempt");
    ok(&scene, &fork, &["init", "--store", settings.to_str().unwrap()]);
    assert!(ok(&scene, &renamed, &["fork", "list"]).contains(fork.to_str().unwrap()));
    ok(&scene, &renamed, &["merge", "attempt"]);
    assert_eq!(std::fs::read_to_string(renamed.join("b.txt")).unwrap(), "new");
    std::fs::create_dir(scene.path("project")).unwrap();
    assert_eq!(scene.fails(&["status"]).0, 10, "nothing leads there from the old path");
}

/// Once, the word of where it is was left, and taken away again at once.
#[test]
fn a_named_store_that_nothing_leads_to_any_more_is_found_again() {
    let scene = Scene::empty();
    let elsewhere = scene.path("disk/history");
    let init = ["init", "--store", elsewhere.to_str().unwrap()];
    scene.write("a.txt", "one");
    scene.ok(&init);
    scene.ok(&["snapshot", "--tag", "one"]);
    std::fs::remove_dir_all(scene.path("data/wink")).unwrap();
    assert_eq!(scene.fails(&["status"]).0, 10);
    scene.ok(&init);
    assert!(scene.ok(&["status"]).contains("is protected"));
    assert!(scene.ok(&["log"]).contains("one"));
}

/// Once, what was typed at the old path was done in the new one.
#[test]
fn a_note_that_was_left_behind_never_leads_to_another_directory() {
    let scene = Scene::empty();
    let elsewhere = scene.path("disk/history");
    scene.write("a.txt", "one");
    scene.ok(&["init", "--store", elsewhere.to_str().unwrap()]);
    let word = std::fs::read(scene.history().join("workspace.json")).unwrap();
    let (left, renamed) = (scene.history(), scene.path("renamed"));
    std::fs::rename(scene.path("project"), &renamed).unwrap();
    ok(&scene, &renamed, &["init", "--store", elsewhere.to_str().unwrap()]);
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("workspace.json"), word).unwrap();
    std::fs::create_dir(scene.path("project")).unwrap();
    assert_eq!(scene.fails(&["status"]).0, 10);
    scene.ok(&["init"]);
    scene.write("b.txt", "new");
    scene.ok(&["snapshot", "--tag", "new"]);
    let log = ok(&scene, &renamed, &["log"]);
    assert!(!log.contains("new"), "{log}");
}

#[test]
fn a_new_history_makes_way_for_the_old_one_while_nothing_is_in_it() {
    let (scene, renamed) = renamed();
    let history = scene.history();
    let named = ["init", "--store", history.to_str().unwrap()];
    let output = in_directory(&scene, &renamed, &["init"]);
    assert!(stderr(&output).contains(history.to_str().unwrap()), "{}", stderr(&output));
    ok(&scene, &renamed, &named);
    assert!(ok(&scene, &renamed, &["log"]).contains("one"));

    let again = scene.path("again");
    std::fs::rename(&renamed, &again).unwrap();
    ok(&scene, &again, &["init"]);
    ok(&scene, &again, &["snapshot"]);
    let output = in_directory(&scene, &again, &named);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
}

#[test]
fn of_many_lost_histories_only_those_of_the_same_name_are_mentioned() {
    let scene = Scene::empty();
    for name in ["x/project", "x/other", "x/third"] {
        let directory = scene.path(name);
        std::fs::create_dir_all(&directory).unwrap();
        ok(&scene, &directory, &["init", "-q"]);
    }
    std::fs::remove_dir_all(scene.path("x")).unwrap();
    let below = scene.project("src");
    std::fs::create_dir(&below).unwrap();
    let said = stderr(&in_directory(&scene, &below, &["status"]));
    let place = format!("`wink init {} --store ", scene.path("project").display());
    assert!(said.contains("/x/project`") && said.contains(&place), "{said}");
    assert!(!said.contains("/x/other") && !said.contains("/x/third"), "{said}");
    let stranger = scene.path("stranger");
    std::fs::create_dir(&stranger).unwrap();
    let said = stderr(&in_directory(&scene, &stranger, &["status"]));
    assert!(!said.contains("if it was `"), "{said}");
}

/// Once, the only advice was `wink init`, after which nothing led to its history any more.
#[test]
fn where_nothing_tells_whose_history_it_was_those_without_a_directory_are_named() {
    let scene = Scene::new();
    scene.write("a.txt", "one");
    scene.ok(&["snapshot"]);
    let (old, new) = (scene.path("project"), scene.path("renamed"));
    std::fs::rename(&old, &new).unwrap();
    std::fs::write(new.join("a.txt"), "all of it is new").unwrap();
    let advice = format!(
        "`wink init --moved-from OLD` continues its history; missing directories: `{}`",
        old.display()
    );
    let said = stderr(&in_directory(&scene, &new, &["status"]));
    assert!(said.contains(&advice), "{said}");
    let said = stderr(&in_directory(&scene, &new, &["init"]));
    assert!(said.contains(&advice), "{said}");
    // A history in which nothing was kept yet makes way.
    let old = old.to_str().unwrap();
    let gone_on = in_directory(&scene, &new, &["init", "--moved-from", old]);
    assert!(gone_on.status.success(), "{}", stderr(&gone_on));
    assert!(stdout(&in_directory(&scene, &new, &["log"])).contains("1 file"));
}

/// Once, the advice was to restore files that the user had not lost.
#[test]
fn a_workspace_whose_files_are_all_excluded_by_now_is_not_called_empty() {
    let scene = Scene::new();
    scene.write("a.txt", "one");
    scene.ok(&["snapshot"]);
    scene.ok(&["config", "add", "exclude", "**"]);
    let said = scene.ok(&["status"]);
    assert!(!said.contains("is empty"), "{said}");
    std::fs::remove_file(scene.project("a.txt")).unwrap();
    let said = scene.ok(&["status"]);
    assert!(said.contains("is empty: all its files are missing"), "{said}");
}

#[test]
fn an_empty_directory_in_the_place_of_a_workspace_is_called_empty() {
    let scene = Scene::new();
    scene.write("a.txt", "one");
    scene.ok(&["snapshot"]);
    std::fs::remove_dir_all(scene.path("project")).unwrap();
    std::fs::create_dir(scene.path("project")).unwrap();
    let said = scene.ok(&["status"]);
    assert!(said.contains("is empty: all its files are missing"), "{said}");
    assert!(!said.contains("is protected"), "{said}");
    assert_eq!(scene.json(&["status"])["emptied"], true);
    scene.ok(&["restore", "@-"]);
    assert!(scene.ok(&["status"]).contains("is protected."));
}

/// Once, every directory was told of the only history whose directory was gone.
#[test]
fn a_directory_that_holds_nothing_of_a_lost_history_is_not_told_of_it() {
    let (scene, renamed) = renamed();
    let stranger = scene.path("stranger");
    std::fs::create_dir(&stranger).unwrap();
    std::fs::write(stranger.join("a.txt"), "of another project").unwrap();
    let said = |directory: &Path, args: &[&str]| stderr(&in_directory(&scene, directory, args));
    assert!(!said(&stranger, &["status"]).contains("if it was `"));
    assert!(said(&renamed, &["status"]).contains("if it was `"));
    let told = said(&stranger, &["init"]);
    assert!(!told.contains("if it was `"), "{told}");
}

#[test]
fn a_directory_that_was_moved_gets_its_history_although_its_old_path_is_taken() {
    let (scene, renamed) = renamed();
    let (old, history) = (scene.path("project"), scene.history());
    std::fs::create_dir(&old).unwrap();
    scene.write("other.txt", "something else");
    let output = in_directory(&scene, &renamed, &["init", "--store", history.to_str().unwrap()]);
    let advice = format!("wink init --moved-from {}", old.display());
    assert!(stderr(&output).contains(&advice), "{}", stderr(&output));
    let moved = ["init", "--moved-from", old.to_str().unwrap()];
    let asked = in_directory(&scene, &renamed, &moved);
    assert_ne!(asked.status.code(), Some(0), "the user did not agree: {}", stdout(&asked));
    assert!(ok(&scene, &renamed, &[&moved[..], &["--yes"]].concat()).contains("It continues"));
    assert!(ok(&scene, &renamed, &["log"]).contains("one"));
    assert_eq!(scene.fails(&["status"]).0, 10, "what is at the old path is no workspace");
    scene.ok(&["init", "-q"]);
    scene.ok(&["snapshot"]);
    assert!(!scene.ok(&["log"]).contains("one"), "and has a history of its own");
    ok(&scene, &renamed, &["restore", "one"]);
}

#[test]
fn a_history_is_not_given_to_files_that_are_none_of_it() {
    let (scene, _) = renamed();
    let (old, stranger) = (scene.path("project"), scene.path("stranger"));
    for directory in [&old, &stranger] {
        std::fs::create_dir(directory).unwrap();
    }
    std::fs::write(stranger.join("a.txt"), "of another project").unwrap();
    let moved = ["init", "--yes", "--moved-from", old.to_str().unwrap()];
    let output = in_directory(&scene, &stranger, &moved);
    assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
    assert!(stderr(&output).contains("do not match the last snapshot"), "{}", stderr(&output));
    assert!(scene.ok(&["log"]).contains("one"), "it is where it was");
    let nowhere = scene.path("nowhere");
    let moved = ["init", "--moved-from", nowhere.to_str().unwrap()];
    assert_eq!(in_directory(&scene, &stranger, &moved).status.code(), Some(10));
    std::fs::remove_dir(&old).unwrap();
    let moved = ["init", "--moved-from", old.to_str().unwrap()];
    ok(&scene, &stranger, &moved);
    assert!(ok(&scene, &stranger, &["log"]).contains("one"), "no other workspace has it then");
}
