//! A process is killed at every system call it makes; whoever opens the workspace next finds the old
//! state or the new one, whole snapshots, and nothing of ours in view.
//!
//! By default some calls of each kind of work are tried. With `WINK_CRASH_ALL` in the environment, as
//! `scripts/crash` sets it, all of them are.

#![allow(clippy::disallowed_methods, reason = "sets scenes up and inspects them from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "says how many calls were tried")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rayon::prelude::*;
use tempfile::TempDir;
use wink_fs::testkit::dump;
use wink_fs::{At, SnapshotOptions, SnapshotStore, Store, VerifyOptions, Workspace};

const CHILD: &str = env!("CARGO_BIN_EXE_crash_child");

/// How many calls of each kind of work are tried by default.
const TRIED: usize = 24;

/// How often a run is repeated that ended before the call it was to die at.
const ATTEMPTS: usize = 8;

/// Kept in memory: it is processes that die here, not the machine.
fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").expect("/dev/shm is needed")
}

fn open(place: &Path) -> Workspace {
    let store = Store::open_ambient(place.join("store")).unwrap();
    Workspace::host_with_store(place.join("root"), store).unwrap()
}

/// Makes what all scenes start from: some files, a snapshot, and changes since.
fn template(last: &dyn Fn(&Workspace)) -> TempDir {
    let place = directory();
    fs::create_dir(place.path().join("root")).unwrap();
    drop(Store::create_ambient(place.path().join("store")).unwrap());
    let files = open(place.path());
    for (path, content) in
        [("d/file", "old"), ("d/e/deep", "deep"), ("changed", "1"), ("gone", "1")]
    {
        files.write(path, content).unwrap();
    }
    files.mkdir("empty").unwrap();
    files.symlink("link", b"somewhere").unwrap();
    files.export_archive(place.path().join("archive.fs.zip")).unwrap();
    files.snapshot("base").unwrap();
    files.write("changed", "2").unwrap();
    files.write("added/file", "2").unwrap();
    files.delete("gone").unwrap();
    files.delete_all("empty").unwrap();
    files.write("empty", "a file now").unwrap();
    last(&files);
    place
}

fn copy(of: &Path) -> TempDir {
    let place = directory();
    let copied = Command::new("cp").arg("-a").arg(of.join(".")).arg(place.path()).status().unwrap();
    assert!(copied.success());
    // Past the tick of the clock that the copies are stamped with.
    std::thread::sleep(std::time::Duration::from_millis(12));
    place
}

fn lines(place: &Path) -> Vec<String> {
    dump(&*open(place).tree()).unwrap()
}

/// Runs the child under strace.
fn trace(what: &str, place: &Path, arguments: &[&str]) -> Option<i32> {
    let mut strace = Command::new("strace");
    strace.arg("-f").args(arguments).arg(CHILD).arg(what).arg(place);
    strace.output().expect("strace is needed").status.code()
}

/// One system call of a run: its name, and how many of that name came up to it.
type Call = (String, usize);

fn list_calls(what: &str, place: &Path) -> Vec<Call> {
    let log = place.join("log");
    let done = trace(what, place, &["-o", log.to_str().unwrap()]);
    assert_eq!(done, Some(0), "{what} works when nobody kills it");
    let text = fs::read_to_string(&log).unwrap();
    let threads: BTreeSet<_> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(threads.len(), 1, "one thread makes all calls, so each has one number");
    let mut counts = BTreeMap::new();
    let names = text.lines().filter_map(|line| line.split(' ').find(|word| word.contains('(')));
    let name = |call: &str| call.split('(').next().unwrap_or_default().to_owned();
    let number = |name: String| {
        let count = counts.entry(name.clone()).or_insert(0);
        *count += 1;
        (name, *count)
    };
    // The first call makes the process what it is, and comes before anybody can look.
    names.map(name).filter(|name| name != "execve").map(number).collect()
}

/// Runs the child and kills it when it enters a call; returns whether it came to that.
fn kill_at(what: &str, place: &Path, (name, count): &Call) -> bool {
    let inject = format!("inject={name}:signal=KILL:when={count}");
    trace(what, place, &["-o", "/dev/null", "-e", &inject]).is_none()
}

/// Makes a scene in which the child died at a call.
///
/// Waiting for the clock takes more or fewer calls each time, so the last ones are not always made.
fn killed_at(what: &str, before: &Path, call: &Call) -> Option<TempDir> {
    (0..ATTEMPTS).map(|_| copy(before)).find(|place| kill_at(what, place.path(), call))
}

/// The calls that are tried: all of them, or some of the later ones, which are the child's own.
fn choose(calls: &[Call]) -> Vec<Call> {
    if std::env::var_os("WINK_CRASH_ALL").is_some() {
        return calls.to_vec();
    }
    let own = &calls[calls.len() / 4..];
    let step = own.len().div_ceil(TRIED).max(1);
    own.iter().step_by(step).cloned().collect()
}

fn check(what: &str, last: &dyn Fn(&Workspace)) {
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
    assert!(not_made * 20 <= total, "{not_made} of {total} calls were never reached");
    assert!(std::env::var_os("WINK_CRASH_ALL").is_none() || tried + not_made == total);
}

/// Checks that the workspace is in one of two states; returns which.
fn check_whole(what: &str, call: &Call, place: &Path, states: &[Vec<String>; 2]) -> usize {
    let found = lines(place);
    let state = states.iter().position(|state| *state == found);
    let state = state.unwrap_or_else(|| panic!("{what} killed at {call:?} left {found:#?}"));
    check_store(what, call, place);
    check_nothing_in_view(what, call, place);
    check_usable(place);
    state
}

fn check_store(what: &str, call: &Call, place: &Path) {
    let store = Store::open_ambient(place.join("store")).unwrap();
    let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!(found.problems, [], "{what} killed at {call:?}");
    for snapshot in store.list().unwrap() {
        let tree = store.load(&snapshot.id).unwrap();
        assert_eq!(Some(wink_fs::tree_hash(&*tree).unwrap()), snapshot.tree_hash);
    }
}

/// Nothing that is done here takes a snapshot away that has a tag.
fn check_tags(what: &str, call: &Call, before: &Path, after: &Path) {
    let tags = |place: &Path| -> BTreeSet<String> {
        let store = Store::open_ambient(place.join("store")).unwrap();
        store.list().unwrap().into_iter().filter_map(|snapshot| snapshot.tag).collect()
    };
    assert!(tags(after).is_superset(&tags(before)), "{what} killed at {call:?} lost a snapshot");
}

fn check_nothing_in_view(what: &str, call: &Call, place: &Path) {
    let names = |directory: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let strays: Vec<_> = [place.to_path_buf(), place.join("root")]
        .iter()
        .flat_map(|directory| names(directory))
        .filter(|name| name.starts_with('.'))
        .collect();
    assert!(strays.is_empty(), "{what} killed at {call:?} left {strays:?}");
}

fn check_usable(place: &Path) {
    let files = open(place);
    files.write("after", "the crash").unwrap();
    files.undo().unwrap();
    assert!(!files.exists("after"));
    files.restore("base").unwrap();
    assert!(files.diff("base", At::Live).unwrap().is_empty());
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

/// Makes snapshots of which some go, with packs that go, packs of which a part stays, and a large one.
fn take_many(files: &Workspace) {
    for number in 0..8 {
        let content = format!("{number}").repeat(30_000 + number);
        files.write(&format!("many/{}", number % 3), &content).unwrap();
        files.write(&format!("other/{number}"), &content.to_uppercase()).unwrap();
        let options = SnapshotOptions::default();
        let tagged = options.clone().tag(format!("tag {number}"));
        files.snapshot_with(if number % 4 == 1 { &tagged } else { &options }).unwrap();
    }
}

/// Takes as many snapshots as there may be small packs; with one more they are merged.
fn take_as_many_as_may_be(files: &Workspace) {
    while files.usage().unwrap().packs < 64 {
        let number = files.usage().unwrap().packs;
        files.write("many/1", &format!("small {number}")).unwrap();
        files.snapshot(&format!("small {number}")).unwrap();
    }
}

/// Lets them be merged, so that records name packs that are gone, and takes some that are to go.
fn merge_and_take_more(files: &Workspace) {
    take_as_many_as_may_be(files);
    for number in 0..4 {
        files.write("many/1", &format!("later {number} ").repeat(3_000)).unwrap();
        files.snapshot_with(&SnapshotOptions::default()).unwrap();
    }
    assert!(files.usage().unwrap().packs < 10);
}

#[test]
fn fault_05_a_prune_that_is_killed_keeps_every_snapshot_that_stays() {
    check("prune", &take_many);
    check("prune", &merge_and_take_more);
}

#[test]
fn fault_05_a_snapshot_that_is_killed_while_it_merges_keeps_every_snapshot() {
    check("snapshot", &|files| {
        take_as_many_as_may_be(files);
        files.write("one", "more").unwrap();
    });
}

#[test]
fn fault_05_taking_a_path_out_that_is_killed_keeps_every_snapshot_whole() {
    check("prune-path", &|files| {
        files.write("kept", "something else").unwrap();
        files.snapshot("other").unwrap();
    });
}

/// Some take snapshots, some prune, all in processes of their own.
#[test]
fn fault_28_processes_that_save_and_prune_at_once_lose_no_snapshot() {
    let place = directory();
    drop(Store::create_ambient(place.path().join("store")).unwrap());
    let whats = ["save-for-a-while", "save-for-a-while", "prune-for-a-while", "prune-for-a-while"];
    let start = |what: &&str| {
        let mut child = Command::new(CHILD);
        child.arg(what).arg(place.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        child.spawn().unwrap()
    };
    let children: Vec<_> = whats.iter().map(start).collect();
    let (mut saved, mut forgotten) = (BTreeSet::new(), BTreeSet::new());
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let (what, id) = line.split_once(' ').unwrap();
            if what == "saved" { &mut saved } else { &mut forgotten }.insert(id.to_owned());
        }
    }
    assert!(saved.len() > 20 && forgotten.len() > 10, "{} {}", saved.len(), forgotten.len());
    let store = Store::open_ambient(place.path().join("store")).unwrap();
    let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!(found.problems, []);
    let listed: BTreeSet<_> = store.list().unwrap().iter().map(|it| it.id.to_string()).collect();
    assert_eq!(listed, saved.difference(&forgotten).cloned().collect());
    println!("{} snapshots were taken and {} pruned at once", saved.len(), forgotten.len());
}

/// A restore dies between two renames; then three who open the workspace die as well.
#[test]
fn fault_35_recovery_that_is_killed_goes_on_the_next_time() {
    let before = template(&|_| ());
    let after = copy(before.path());
    let all = list_calls("restore", after.path());
    let states = [lines(before.path()), lines(after.path())];
    let journal = |place: &Path| {
        let holder = fs::read_dir(place.join(".wink-staging")).ok()?;
        holder.flatten().map(|entry| entry.path().join("journal")).find(|path| path.exists())
    };
    let mut interrupted = 0;
    let renames = all.iter().filter(|(name, _)| name == "renameat2");
    for call in renames {
        let place = copy(before.path());
        kill_at("restore", place.path(), call);
        if journal(place.path()).is_none() {
            continue;
        }
        interrupted += 1;
        for count in 1..=3 {
            let name = ["renameat2", "unlinkat"][interrupted % 2].to_owned();
            let inject = format!("inject={name}:signal=KILL:when={count}");
            trace("open", place.path(), &["-o", "/dev/null", "-e", &inject]);
        }
        check_whole("recovery", call, place.path(), &states);
        assert_eq!(lines(place.path()), states[1], "what was written down is done");
    }
    assert!(interrupted > 3, "{interrupted} restores died with a journal");
}

// --- errors instead of death ---------------------------------------------------------------------

/// Lets calls of some names fail, one a run, in everything a workspace does.
fn check_errors(names: &[&str], error: &str) {
    for what in ["write", "snapshot", "restore", "import", "undo"] {
        check_errors_of(what, &|files| drop(files.write("last", "1").unwrap()), names, error);
    }
}

fn check_errors_of(what: &str, last: &dyn Fn(&Workspace), names: &[&str], error: &str) {
    let before = template(last);
    let after = copy(before.path());
    let all = list_calls(what, after.path());
    let states = [lines(before.path()), lines(after.path())];
    let calls = all.iter().filter(|(name, _)| names.contains(&&**name)).cloned();
    let calls = choose(&calls.collect::<Vec<_>>());
    calls.par_iter().for_each(|call| {
        let place = copy(before.path());
        let inject = format!("inject={}:error={error}:when={}", call.0, call.1);
        trace(what, place.path(), &["-o", "/dev/null", "-e", &inject]);
        check_tags(what, call, before.path(), place.path());
        check_whole(&format!("{what} with {error}"), call, place.path(), &states);
    });
    println!("{what}: {error} at {} calls", calls.len());
}

#[test]
fn fault_08_a_prune_on_a_disk_that_is_full_or_fails_keeps_every_snapshot_that_stays() {
    let names = ["write", "rename", "renameat", "unlink", "unlinkat", "fsync", "fdatasync"];
    for (names, error) in [(&names[..1], "ENOSPC"), (&names[..], "EIO")] {
        check_errors_of("prune", &merge_and_take_more, names, error);
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
