//! Death at every system call.

use rayon::prelude::*;
use wink_fs::Workspace;

use crate::scene::{
    Call, check_tags, check_whole, choose, copy, killed_at, lines, list_calls, template,
};

pub(crate) fn check(what: &str, last: &dyn Fn(&Workspace)) {
    let before = template(last);
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
fn fault_01_a_write_that_is_killed_is_done_or_not() {
    check("write", &|_| ());
}

#[test]
fn fault_01_a_write_with_new_parents_that_is_killed_is_done_or_not() {
    check("write-new", &|_| ());
}

#[test]
fn fault_01_a_delete_that_is_killed_is_done_or_not() {
    check("delete", &|_| ());
}

#[test]
fn fault_01_a_rename_that_is_killed_is_done_or_not() {
    check("rename", &|_| ());
}

#[test]
fn fault_02_a_snapshot_that_is_killed_is_whole_or_not_there() {
    check("snapshot", &|_| ());
}

#[test]
fn fault_03_a_restore_that_is_killed_is_done_or_not() {
    check("restore", &|_| ());
}

#[test]
fn fault_04_an_import_that_is_killed_is_done_or_not() {
    check("import", &|_| ());
}

#[test]
fn fault_03_an_undo_that_is_killed_is_done_or_not() {
    check("undo", &|files| drop(files.restore("base").unwrap()));
}

#[test]
fn fault_03_a_redo_that_is_killed_is_done_or_not() {
    check("redo", &|files| drop(files.undo().unwrap()));
}
