//! Death of those who mend what others left that died.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use wink_fs::{
    ErrorKind, Event, Filesystem, OperationRecord, Store, TreePath, Workspace, WriteOptions, ops,
};

use crate::crash::scene::{
    Call, check_whole, copy, kill_at, lines, list_calls, open, template, trace,
};

/// Does something that dies at some call, lets three who open the workspace die, and looks.
///
/// Returns how often there was something to mend, and the states that were found then.
fn check(what: &str, names: &[&str], is_left: fn(&Path) -> bool) -> Vec<usize> {
    let before = template(&|_| ());
    let after = copy(before.path());
    let all = list_calls(what, after.path());
    let states = [lines(before.path()), lines(after.path())];
    let mut found = Vec::new();
    for call in all.iter().filter(|(name, _)| names.contains(&&**name)) {
        let place = copy(before.path());
        kill_at(what, place.path(), call);
        if is_left(place.path()) {
            die_three_times(place.path(), found.len());
            found.push(check_whole("recovery", call, place.path(), &states));
        }
    }
    found
}

fn die_three_times(place: &Path, round: usize) {
    let name = ["renameat2", "unlinkat"][round % 2];
    for count in 1..=3 {
        let call: Call = (name.to_owned(), count);
        kill_at("open", place, &call);
    }
}

/// Returns whether a replacement is written down that is not done.
fn has_journal(place: &Path) -> bool {
    let Ok(holder) = fs::read_dir(place.join(".wink-staging")) else { return false };
    holder.flatten().any(|entry| entry.path().join("journal").exists())
}

/// Returns whether something is kept for an operation that is not written down.
fn has_interrupted(place: &Path) -> bool {
    let operations = place.join("store/operations");
    let names = fs::read_dir(&operations).unwrap().flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| name.to_str().is_some_and(|name| name.ends_with(".begun")))
}

/// A restore dies between two renames; then three who open the workspace die as well.
#[test]
#[ignore = "needs strace"]
fn fault_35_recovery_that_is_killed_goes_on_the_next_time() {
    let found = check("restore", &["renameat2"], has_journal);
    assert!(found.len() > 3, "{} restores died with a journal", found.len());
    assert!(found.iter().all(|state| *state == 1), "what was written down is done");
}

/// A call dies in the middle of its changes; then three who take it back die as well.
#[test]
#[ignore = "needs strace"]
fn fault_35_taking_back_a_call_that_died_goes_on_the_next_time() {
    for what in ["write", "write-new", "delete", "rename"] {
        let names = ["renameat2", "renameat", "rename", "linkat", "mkdirat", "unlinkat", "write"];
        let found = check(what, &names, has_interrupted);
        assert!(!found.is_empty(), "no {what} died in the middle");
        assert!(found.iter().all(|state| *state == 0), "{what}: what was not finished is undone");
    }
}

/// A call dies in the middle of its changes, and a person writes there before the workspace is opened.
///
/// Once, the next undo replaced what the person had written by what was there before the call.
#[test]
#[ignore = "needs strace"]
fn fault_35_what_a_person_wrote_after_a_call_died_stays_and_what_was_there_can_be_found() {
    let names = ["renameat2", "renameat", "rename", "mkdirat", "unlinkat", "write"];
    let before = template(&|_| ());
    let all = list_calls("write", copy(before.path()).path());
    let mut left = 0;
    for call in all.iter().filter(|(name, _)| names.contains(&&**name)) {
        let place = copy(before.path());
        kill_at("write", place.path(), call);
        if has_interrupted(place.path()) {
            left += usize::from(check_hand(place.path(), "d/file"));
        }
    }
    assert!(left > 0, "no write died when it had changed something");
}

/// Returns whether something of the call was left for what was written by hand.
fn check_hand(place: &Path, path: &str) -> bool {
    let by_hand = place.join("root").join(path);
    fs::write(&by_hand, "by hand").unwrap();
    let files = open(place);
    assert_eq!(files.read(path).unwrap().content, "by hand");
    // Where nothing had changed yet, there is nothing to find of it.
    let last = files.operations().unwrap().pop().unwrap();
    if last.left_alone.is_empty() {
        return false;
    }
    let before = files.operation_trees(last.sequence).unwrap().before;
    let was = before.open(&TreePath::parse(path).unwrap()).unwrap().read_all().unwrap();
    assert_eq!(was, "old");
    assert_eq!(files.undo().unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(files.read(path).unwrap().content, "by hand");
    true
}

/// An undo is killed, and a user creates a file at one of its paths before the workspace is opened.
///
/// Once, recovery restored the other path, and a later undo of what was left undid that again. It found no pre-image,
/// removed the file, and said that it was as before.
#[test]
#[ignore = "needs strace"]
fn fault_35_no_undo_after_a_killed_undo_removes_a_file_that_was_always_there() {
    let before = template(&|files| {
        let write = |fs: &mut dyn Filesystem| {
            let write = |fs: &mut dyn Filesystem, path: &str, content: &str| {
                ops::write(fs, &TreePath::parse(path)?, content, &WriteOptions::default())
            };
            write(fs, "d/file", "patched")?;
            write(fs, "fresh", "added")
        };
        files.as_agent("patch", write).unwrap();
    });
    let patch = open(before.path()).operations().unwrap().pop().unwrap().sequence;
    let names = ["renameat2", "renameat", "rename", "linkat", "unlinkat", "write"];
    let all = list_calls("undo", copy(before.path()).path());
    let mut left = 0;
    for call in all.iter().filter(|(name, _)| names.contains(&&**name)) {
        let place = copy(before.path());
        kill_at("undo", place.path(), call);
        if !has_interrupted(place.path()) {
            continue;
        }
        fs::write(place.path().join("root/fresh"), "by the user").unwrap();
        let files = open(place.path());
        let is_kept = |it: &OperationRecord| !it.left_alone.is_empty();
        let kept = files.operations().unwrap().into_iter().find(is_kept);
        if let Some(kept) = &kept {
            let is_named = ["undo of patch", "interrupted"].contains(&&*kept.name);
            assert!(is_named, "killed at {call:?}: {}", kept.name);
        }
        left += usize::from(kept.is_some());
        let _ = files.undo_operation(patch);
        for _ in 0..3 {
            let _ = files.undo();
            assert!(files.exists("d/file"), "killed at {call:?}");
            assert_eq!(files.read("fresh").unwrap().content, "by the user", "killed at {call:?}");
        }
    }
    assert!(left > 0, "no undo died when it had removed the file");
}

/// One process after another opens the workspace and is killed, each at another call of the recovery.
#[test]
#[ignore = "needs strace"]
fn fault_35_recovery_gets_on_however_often_it_dies() {
    let before = template(&|_| ());
    let after = copy(before.path());
    let all = list_calls("restore", after.path());
    let states = [lines(before.path()), lines(after.path())];
    let renames: Vec<_> = all.iter().filter(|(name, _)| name == "renameat2").collect();
    let left = renames.iter().map(|call| (copy(before.path()), call)).find(|(place, call)| {
        kill_at("restore", place.path(), call);
        has_journal(place.path())
    });
    let (place, call) = left.expect("a restore dies with a journal");
    for name in ["renameat2", "unlinkat", "openat", "fsync"] {
        for count in 1..20 {
            kill_at("open", place.path(), &(name.to_owned(), count));
        }
    }
    assert_eq!(check_whole("recovery", call, place.path(), &states), 1);
}

/// The next process cannot write either, as on a disk that is read-only for a while.
///
/// Once, it forgot that a restore had begun, and the one after it finished the restore: no operation was recorded, and
/// there was nothing to undo.
#[test]
#[ignore = "needs strace"]
fn fault_35_a_restore_that_cannot_be_finished_yet_is_recorded_when_it_is() {
    let before = template(&|_| ());
    let after = copy(before.path());
    let all = list_calls("restore", after.path());
    let [was, restored] = [before.path(), after.path()].map(lines);
    let mut tried = 0;
    for call in all.iter().filter(|(name, _)| name == "renameat2") {
        for errno in ["EROFS", "EIO", "ENOSPC"] {
            let place = copy(before.path());
            kill_at("restore", place.path(), call);
            if !has_journal(place.path()) {
                continue;
            }
            let first = ("renameat2".to_owned(), 1);
            trace("open", place.path(), &first, &format!("error={errno}"));
            let told = open_and_listen(place.path());
            let files = open(place.path());
            assert_eq!(lines(place.path()), restored, "killed at {call:?}, {errno}: {told:?}");
            assert_eq!(
                files.undo().unwrap().operation.name,
                "restore",
                "killed at {call:?}, {errno}"
            );
            assert_eq!(lines(place.path()), was, "killed at {call:?}, {errno}");
            tried += 1;
        }
    }
    assert!(tried > 0, "no restore died with a journal");
}

/// A restore is killed, and the user writes below a directory that it was to remove, before the workspace is
/// opened again.
///
/// Once, the next process that opened the workspace finished the restore, destroyed what the user had written,
/// and reported neither.
#[test]
#[ignore = "needs strace"]
fn fault_35_files_a_user_wrote_below_a_directory_after_a_restore_died_stay_and_are_named() {
    let before = template(&|_| ());
    let all = list_calls("restore", copy(before.path()).path());
    let mut tried = 0;
    for call in all.iter().filter(|(name, _)| name == "renameat2") {
        let place = copy(before.path());
        kill_at("restore", place.path(), call);
        let by_hand = place.path().join("root/added/file");
        if !has_journal(place.path()) || !by_hand.exists() {
            continue;
        }
        fs::write(&by_hand, "by hand").unwrap();
        tried += 1;
        let told = open_and_listen(place.path());
        assert_eq!(fs::read_to_string(&by_hand).unwrap(), "by hand", "killed at {call:?}");
        let [Event::ReplacementFinished { name, finished, left }] = &told[..] else {
            panic!("{told:?}");
        };
        let names = |paths: &[TreePath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!((&**name, names(left)), ("restore", vec!["added".to_owned()]));
        assert_eq!(names(finished), ["changed", "empty", "gone"]);
    }
    assert!(tried > 0, "no restore died before it removed the directory");
}

/// Opens the workspace; returns what was told of that.
fn open_and_listen(place: &Path) -> Vec<Event> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = told.clone();
    let store = Store::open_ambient(place.join("store")).unwrap();
    let files = Workspace::host_builder(place.join("root"), store).unwrap();
    drop(files.observe(move |event| sink.lock().unwrap().push(event.clone())).build());
    std::mem::take(&mut *told.lock().unwrap())
}
