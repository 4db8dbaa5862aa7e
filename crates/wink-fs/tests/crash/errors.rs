//! Errors instead of death.

use std::path::Path;
use std::process::{Command, Output};

use rayon::prelude::*;
use wink_fs::Workspace;

use crate::crash::scene::{
    CHILD, Call, Place, check_store, check_whole, choose, copy, lines, list_calls, open, template,
    traced,
};

/// How many of the last calls of a replacement are tried by default.
const LAST_CALLS: usize = 40;

const KINDS: [&str; 5] = ["write", "snapshot", "restore", "import", "undo"];

/// What came of a call that failed.
struct Run {
    what: &'static str,
    call: Call,
    /// What the process said when it gave up; none where it did its work in spite of the error.
    said: Option<String>,
    /// Whether the new state is there.
    is_new: bool,
    /// Whether a snapshot lies there unfinished.
    is_littered: bool,
    /// Whether the snapshot was taken.
    is_taken: bool,
}

/// What the child starts from, and the files before and after its work.
struct Start {
    before: Place,
    calls: Vec<Call>,
    states: [Vec<String>; 2],
}

impl Start {
    fn new(what: &str) -> Self {
        let before = template(&|files| drop(files.write("last", "1").unwrap()));
        let after = copy(before.path());
        let calls = list_calls(what, after.path());
        let states = [lines(before.path()), lines(after.path())];
        Self { before, calls, states }
    }

    /// Lets the child work in a copy, and checks what it left.
    fn run(&self, what: &'static str, call: &Call, child: impl Fn(&Path) -> Command) -> Run {
        let place = copy(self.before.path());
        let output = child(place.path()).output().expect("strace and prlimit are needed");
        let is_littered = is_littered(place.path());
        let is_taken = open(place.path()).find_snapshot("crash").is_ok();
        let said = said(&output);
        let state = check_whole(&format!("{what}: {said:?}"), call, place.path(), &self.states);
        let is_new = self.states[0] != self.states[1] && state == 1;
        Run { what, call: call.clone(), said, is_new, is_littered, is_taken }
    }
}

fn said(output: &Output) -> Option<String> {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then_some(said)
}

fn is_littered(place: &Path) -> bool {
    ["packs", "snapshots"].iter().any(|directory| {
        let entries = std::fs::read_dir(place.join("store").join(directory)).unwrap();
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with('.'))
    })
}

/// Lets calls of some names fail, one a run, in everything a workspace does.
fn check_errors(names: &[&str], error: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    for what in KINDS {
        let start = Start::new(what);
        let calls = start.calls.iter().filter(|(name, _)| names.contains(&&**name)).cloned();
        let calls = choose(&calls.collect::<Vec<_>>());
        let run = |call: &Call| {
            start.run(what, call, |place| traced(what, place, call, &format!("error={error}")))
        };
        runs.extend(calls.par_iter().map(run).collect::<Vec<_>>());
        println!("{what}: {error} at {} calls", calls.len());
    }
    assert!(runs.iter().any(|run| run.said.is_some()), "{error} was never noticed");
    runs
}

/// Checks that what failed was not done, and left nothing behind.
fn check_undone(runs: &[Run]) {
    for Run { what, call, said, is_new, is_littered, is_taken } in runs {
        if said.is_some() {
            assert!(!is_new && !is_littered && !is_taken, "{what} at {call:?}: {said:?}");
        }
    }
}

#[test]
#[ignore = "needs strace"]
fn fault_08_a_full_disk_at_any_write_is_said_to_be_one_and_changes_nothing() {
    let runs = check_errors(&["write"], "ENOSPC");
    check_undone(&runs);
    for Run { what, call, said, .. } in &runs {
        let is_worded = |said: &String| said.starts_with("no_space: ") && said.contains("no space");
        assert!(said.as_ref().is_none_or(is_worded), "{what} at {call:?}: {said:?}");
    }
}

#[test]
#[ignore = "needs strace"]
fn fault_11_a_quota_or_a_limit_of_size_leaves_the_old_state_or_the_new() {
    check_undone(&check_errors(&["write"], "EDQUOT"));
    check_undone(&check_errors(&["write"], "EFBIG"));
}

/// The system kills who writes more than it may, unless it asks not to be.
#[test]
#[ignore = "needs strace"]
fn fault_11_death_by_a_limit_of_size_leaves_the_old_state_or_the_new() {
    for what in KINDS {
        let start = Start::new(what);
        let limits = [0, 1, 8, 64, 200, 512, 1024, 4096];
        let died = limits.iter().filter(|limit| {
            let child = |place: &Path| limited(&format!("--fsize={limit}"), what, place);
            start.run(what, &("fsize".into(), **limit), child).said.is_some()
        });
        assert!(died.count() > 1, "{what} needs next to nothing");
    }
}

fn limited(limit: &str, what: &str, place: &Path) -> Command {
    let mut child = Command::new("prlimit");
    child.arg(limit).arg(CHILD).arg(what).arg(place);
    child
}

#[test]
#[ignore = "needs strace"]
fn fault_12_a_disk_that_cannot_read_leaves_the_old_state_or_the_new() {
    check_undone(&check_errors(&["read", "pread64"], "EIO"));
}

#[test]
#[ignore = "needs strace"]
fn fault_13_a_sync_that_fails_fails_the_call_and_leaves_the_old_state_or_the_new() {
    for Run { what, call, said, .. } in check_errors(&["fsync", "fdatasync", "syncfs"], "EIO") {
        let said = said.unwrap_or_else(|| panic!("{what} at {call:?} took it for a success"));
        assert!(said.starts_with("io: "), "{what} at {call:?}: {said}");
    }
}

#[test]
#[ignore = "needs strace"]
fn fault_14_a_disk_that_fails_leaves_the_old_state_or_the_new() {
    check_undone(&check_errors(&["write"], "EIO"));
    check_errors(&["renameat2", "renameat", "rename", "linkat", "mkdirat", "unlinkat"], "EIO");
}

/// Once a look that failed after the new file was in place made wink take the old one for its own.
#[test]
#[ignore = "needs strace"]
fn fault_14_a_look_that_fails_leaves_the_old_state_or_the_new() {
    check_undone(&check_errors(&["newfstatat", "fstat", "statx"], "EIO"));
}

#[test]
#[ignore = "needs strace"]
fn fault_15_calls_that_are_interrupted_leave_the_old_state_or_the_new() {
    check_errors(&["read", "pread64", "write", "openat2", "flock"], "EINTR");
}

#[test]
#[ignore = "needs strace"]
fn fault_16_too_few_open_files_leave_the_old_state_or_the_new() {
    for what in KINDS {
        let start = Start::new(what);
        for limit in [5, 8, 12, 16, 32] {
            let child = |place: &Path| limited(&format!("--nofile={limit}"), what, place);
            start.run(what, &("open".into(), limit), child);
        }
    }
}

#[test]
#[ignore = "needs strace"]
fn fault_17_memory_that_is_used_up_leaves_the_old_state_or_the_new() {
    check_errors(&["mmap", "brk"], "ENOMEM");
}

#[test]
#[ignore = "needs strace"]
fn fault_17_a_limit_of_memory_leaves_the_old_state_or_the_new() {
    for what in KINDS {
        let start = Start::new(what);
        let died = |mebibytes: &usize| {
            let limit = format!("--as={}", mebibytes << 20);
            let child = |place: &Path| limited(&limit, what, place);
            start.run(what, &("memory".into(), *mebibytes), child).said.is_some()
        };
        let limits: Vec<usize> = (1..24).map(|step| step * 2).chain([4096]).collect();
        let died = limits.iter().filter(|limit| died(limit)).count();
        println!("{what}: too little memory {died} times");
        assert!((1..limits.len()).contains(&died), "{what}: {died}");
    }
}

/// What is done before the child starts.
type Prepare = fn(&Workspace);

/// Once, an error of what follows a replacement, such as deleting snapshots, was answered with a failure. A user who tried
/// again undid one operation more.
#[test]
#[ignore = "needs strace"]
fn fault_14_a_replacement_that_says_that_it_failed_has_changed_nothing() {
    let restored = |files: &Workspace| drop(files.restore("base").unwrap());
    let undone = |files: &Workspace| {
        files.restore("base").unwrap();
        files.undo().unwrap();
    };
    let nothing = |_: &Workspace| ();
    let kinds: [(&str, Prepare); 4] =
        [("restore", nothing), ("import", nothing), ("undo", restored), ("redo", undone)];
    for (what, prepare) in kinds {
        let before = template(&prepare);
        let after = copy(before.path());
        let mut calls = list_calls(what, after.path());
        calls.retain(|(name, _)| ["openat", "openat2", "renameat", "rename"].contains(&&**name));
        let states = [lines(before.path()), lines(after.path())];
        if std::env::var_os("WINK_CRASH_ALL").is_none() {
            // The files are replaced when the last of them are made.
            calls = calls.split_off(calls.len().saturating_sub(LAST_CALLS));
        }
        calls.par_iter().for_each(|call| {
            let error = ["EMFILE", "EIO"][call.1 % 2];
            let place = copy(before.path());
            let mut child = traced(what, place.path(), call, &format!("error={error}"));
            let said = said(&child.output().expect("strace is needed"));
            let found = lines(place.path());
            let context = format!("{what} with {error} at {call:?}: {said:?}");
            assert!(states.contains(&found), "{context}");
            assert!(said.is_none() || found == states[0], "{context}");
            check_store(&context, call, place.path());
        });
    }
}

/// Once, a restore that failed and could not put everything back was in no operation log.
#[test]
#[ignore = "needs strace"]
fn fault_14_a_restore_on_a_disk_that_fails_from_then_on_can_be_undone() {
    let before = template(&|_| ());
    let after = copy(before.path());
    let calls = list_calls("restore", after.path());
    let renames: Vec<_> = calls.into_iter().filter(|(name, _)| name == "renameat2").collect();
    let old = lines(before.path());
    let begun = renames.par_iter().filter(|(name, count)| {
        let place = copy(before.path());
        let mut strace = Command::new("strace");
        let inject = format!("inject={name}:error=EIO:when={count}+");
        strace.args(["-f", "-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &inject]);
        let done = strace.arg(CHILD).arg("restore").arg(place.path()).output();
        let said = said(&done.expect("strace is needed"));
        if lines(place.path()) == old {
            return false;
        }
        let files = open(place.path());
        files.write("unrelated", "").unwrap();
        files.undo().unwrap();
        let undone = files.undo().map(|undone| undone.conflicts);
        assert!(undone.is_ok_and(|left| left.is_empty()), "at {count}: {said:?}");
        assert_eq!(lines(place.path()), old, "at {count}: {said:?}");
        said.is_some()
    });
    assert!(begun.count() > 0, "none of {} left a part", renames.len());
}
