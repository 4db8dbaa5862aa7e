//! A process in which one call of the system failed, and which goes on.

use std::path::Path;

use rayon::prelude::*;
use wink_fs::OperationCause;

use crate::crash::scene::{
    Call, check_store, choose, copy, lines, list_calls, open, template, traced,
};

/// What a child does that does everything again that fails.
const WHAT: &str = "go-on";

/// How many of its operations stand at the end.
const STANDING: usize = 5;

/// What was done, but for what took back what had failed.
fn done(place: &Path) -> Vec<String> {
    let operations = open(place).operations().unwrap();
    let done = operations.into_iter().filter(|it| it.cause != OperationCause::Recovery);
    done.map(|it| it.name).collect()
}

/// Returns calls of some names, without those that only open the workspace.
fn own_calls(before: &Path, all: &[Call], names: &[&str]) -> Vec<Call> {
    let opening = list_calls("open", copy(before).path());
    let is_own = |call: &&Call| names.contains(&&*call.0) && !opening.contains(call);
    all.iter().filter(is_own).cloned().collect()
}

/// Checks that all was done once, that nothing is left of what failed, and that all can be taken back.
fn check(call: &Call, place: &Path, expected: &(Vec<String>, Vec<String>), before: &[String]) {
    assert_eq!(&(lines(place), done(place)), expected, "{call:?}");
    let left = std::fs::read_dir(place.join("store/operations")).unwrap().flatten();
    let left = left.map(|entry| entry.file_name().into_string().unwrap());
    let left: Vec<_> = left.filter(|name| name.ends_with(".begun")).collect();
    assert!(left.is_empty(), "{call:?} left {left:?}");
    check_store(WHAT, call, place);
    let files = open(place);
    for _ in 0..STANDING {
        let undone = files.undo().unwrap();
        assert!(undone.conflicts.is_empty(), "{call:?}: {undone:?}");
    }
    assert_eq!(lines(place), before, "{call:?}");
}

fn check_errors(names: &[&str], error: &str) {
    let before = template(&|_| ());
    let after = copy(before.path());
    let all = list_calls(WHAT, after.path());
    let expected = (lines(after.path()), done(after.path()));
    let old = lines(before.path());
    for name in names {
        let calls = choose(&own_calls(before.path(), &all, &[name]));
        assert!(!calls.is_empty(), "{name}");
        calls.par_iter().for_each(|call| {
            let place = copy(before.path());
            let mut child = traced(WHAT, place.path(), call, &format!("error={error}"));
            let output = child.output().expect("strace is needed");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{call:?}: {said}");
            check(call, place.path(), &expected, &old);
        });
        println!("{error} at {} of {name}", calls.len());
    }
}

#[test]
#[ignore = "needs strace"]
fn fault_08_a_process_goes_on_after_a_full_disk_and_loses_nothing() {
    check_errors(&["write"], "ENOSPC");
    check_errors(&["openat", "renameat", "mkdirat"], "ENOSPC");
}

#[test]
#[ignore = "needs strace"]
fn fault_14_a_process_goes_on_after_a_disk_that_failed_and_loses_nothing() {
    check_errors(&["renameat2", "rename", "unlinkat", "read"], "EIO");
}
