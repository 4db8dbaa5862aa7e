//! Death at every system call.

use rayon::prelude::*;
use wink_fs::Workspace;

use crate::crash::scene::{
    Call, Place, check_store, check_tags, check_whole, choose, copy, killed_at, lines, list_calls,
    open, template, template_elsewhere,
};

pub(crate) fn check(what: &str, last: &dyn Fn(&Workspace)) {
    check_from(what, &template(last));
}

/// Checks the same with the history on another file system.
fn check_elsewhere(what: &str, last: &dyn Fn(&Workspace)) {
    check_from(what, &template_elsewhere(last));
}

fn check_from(what: &str, before: &Place) {
    let after = copy(before.path());
    let all = list_calls(what, after.path());
    let states = [lines(before.path()), lines(after.path())];
    let calls = choose(&all);
    let check = |call: &Call| {
        let place = killed_at(what, before.path(), call)?;
        check_tags(what, call, before.path(), place.path());
        Some(check_whole(what, call, place.path(), &states))
    };
    let found: Vec<Option<usize>> = calls.par_iter().map(check).collect();
    let new = found.iter().filter(|state| **state == Some(1)).count();
    let tried = found.iter().flatten().count();
    let (not_made, total) = (calls.len() - tried, all.len());
    println!(
        "{what} killed at {tried}/{total} system calls ({not_made} were made only while counting): \
         {new} times the new state, else the old"
    );
    assert!(not_made * 20 <= calls.len(), "{not_made} of {} calls were never reached", calls.len());
    assert!(std::env::var_os("WINK_CRASH_ALL").is_none() || tried + not_made == total);
}

#[test]
#[ignore = "needs strace"]
fn fault_01_a_write_that_is_killed_is_done_or_not() {
    check("write", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_01_a_write_with_new_parents_that_is_killed_is_done_or_not() {
    check("write-new", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_01_a_delete_that_is_killed_is_done_or_not() {
    check("delete", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_01_a_rename_that_is_killed_is_done_or_not() {
    check("rename", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_02_a_snapshot_that_is_killed_is_whole_or_not_there() {
    check("snapshot", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_03_a_restore_that_is_killed_is_done_or_not() {
    check("restore", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_04_an_import_that_is_killed_is_done_or_not() {
    check("import", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_03_an_undo_that_is_killed_is_done_or_not() {
    check("undo", &|files| drop(files.restore("base").unwrap()));
}

#[test]
#[ignore = "needs strace"]
fn fault_03_a_redo_that_is_killed_is_done_or_not() {
    check("redo", &|files| drop(files.undo().unwrap()));
}

/// Recovery does not take back what a program did, but the user can: half of it is better seen than lost.
#[test]
#[ignore = "needs strace"]
fn fault_01_a_program_whose_process_is_killed_can_be_undone() {
    let before = template(&|files| drop(files.write("last", "1").unwrap()));
    let all = list_calls("execute", copy(before.path()).path());
    let old = lines(before.path());
    let undone = |call: &Call| {
        let place = killed_at("execute", before.path(), call)?;
        let files = open(place.path());
        let is_changed = lines(place.path()) != old;
        if is_changed {
            let undone = files.undo().unwrap();
            assert_eq!(undone.operation.name, "make", "killed at {call:?}");
        }
        assert_eq!(lines(place.path()), old, "killed at {call:?}");
        files.undo().unwrap();
        assert!(!files.exists("last"), "killed at {call:?}");
        check_store("execute", call, place.path());
        Some(is_changed)
    };
    let undone: Vec<bool> = choose(&all).par_iter().filter_map(undone).collect();
    let changed = undone.iter().filter(|is_changed| **is_changed).count();
    println!("execute killed at {} system calls, {changed} times in the middle", undone.len());
    assert!(changed > 3, "{changed}");
}

#[test]
#[ignore = "needs strace"]
fn fault_01_a_write_with_its_history_elsewhere_that_is_killed_is_done_or_not() {
    check_elsewhere("write", &|_| ());
}

/// Once, half of a copy was taken for what was there before.
#[test]
#[ignore = "needs strace"]
fn fault_01_several_steps_with_their_history_elsewhere_that_are_killed_are_done_or_not() {
    check_elsewhere("several", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_01_a_delete_with_its_history_elsewhere_that_is_killed_is_done_or_not() {
    check_elsewhere("delete", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_01_a_rename_with_its_history_elsewhere_that_is_killed_is_done_or_not() {
    check_elsewhere("rename", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_03_a_restore_with_its_history_elsewhere_that_is_killed_is_done_or_not() {
    check_elsewhere("restore", &|_| ());
}

#[test]
#[ignore = "needs strace"]
fn fault_03_an_undo_with_its_history_elsewhere_that_is_killed_is_done_or_not() {
    check_elsewhere("undo", &|files| drop(files.restore("base").unwrap()));
}
