//! Errors instead of death.

use std::process::Command;

use rayon::prelude::*;

use crate::scene::{CHILD, check_whole, choose, copy, lines, list_calls, template, trace};

/// Lets calls of some names fail, one a run, in everything a workspace does.
fn check_errors(names: &[&str], error: &str) {
    for what in ["write", "snapshot", "restore", "import", "undo"] {
        let before = template(&|files| drop(files.write("last", "1").unwrap()));
        let after = copy(before.path());
        let all = list_calls(what, after.path());
        let states = [lines(before.path()), lines(after.path())];
        let calls = all.iter().filter(|(name, _)| names.contains(&&**name)).cloned();
        let calls = choose(&calls.collect::<Vec<_>>());
        calls.par_iter().for_each(|call| {
            let place = copy(before.path());
            let inject = format!("inject={}:error={error}:when={}", call.0, call.1);
            trace(what, place.path(), &["-o", "/dev/null", "-e", &inject]);
            check_whole(&format!("{what} with {error}"), call, place.path(), &states);
        });
        println!("{what}: {error} at {} calls", calls.len());
    }
}

#[test]
fn fault_11_a_quota_or_a_limit_of_size_leaves_the_old_state_or_the_new() {
    check_errors(&["write"], "EDQUOT");
    check_errors(&["write"], "EFBIG");
}

#[test]
fn fault_13_a_sync_that_fails_leaves_the_old_state_or_the_new() {
    check_errors(&["fsync", "fdatasync", "syncfs"], "EIO");
}

#[test]
fn fault_14_a_disk_that_fails_leaves_the_old_state_or_the_new() {
    let names = ["write", "renameat2", "renameat", "rename", "linkat", "mkdirat", "unlinkat"];
    check_errors(&names, "EIO");
}

#[test]
fn fault_15_calls_that_are_interrupted_leave_the_old_state_or_the_new() {
    check_errors(&["read", "pread64", "write", "openat2", "flock"], "EINTR");
}

#[test]
fn fault_17_memory_that_is_used_up_leaves_the_old_state_or_the_new() {
    check_errors(&["mmap", "brk"], "ENOMEM");
}

#[test]
fn fault_16_too_few_open_files_leave_the_old_state_or_the_new() {
    for what in ["write", "snapshot", "restore", "import", "undo"] {
        let before = template(&|files| drop(files.write("last", "1").unwrap()));
        let after = copy(before.path());
        list_calls(what, after.path());
        let states = [lines(before.path()), lines(after.path())];
        for limit in [5, 8, 12, 16, 32] {
            let place = copy(before.path());
            let limits = format!("--nofile={limit}");
            let mut child = Command::new("prlimit");
            child.arg(limits).arg(CHILD).arg(what).arg(place.path());
            child.output().expect("prlimit is needed");
            check_whole(what, &("open".into(), limit), place.path(), &states);
        }
    }
}
