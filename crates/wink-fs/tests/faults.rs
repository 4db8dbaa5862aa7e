//! What is left when a backend fails or dies in the middle of an operation.

use std::sync::Arc;

use wink_fs::testkit::{Fault, Recorder, dump};
use wink_fs::{
    Backend, ContentHash, ErrorKind, FileMode, Filesystem, Guard, HostBackend, Layered, Limits,
    MemoryBackend, MkdirOptions, MoveOptions, Operation, Recursion, Result, TreePath, WriteMode,
    WriteOptions, ops,
};

use crate::common::size::size;

/// Makes a backend with nothing in it.
type Fresh = fn() -> Box<dyn Backend>;

/// Every kind of backend that must withstand this.
const BACKENDS: [(&str, Fresh); 2] = [
    ("memory", || Box::new(MemoryBackend::new())),
    ("host", || Box::new(HostBackend::temporary().unwrap())),
];

fn at(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

fn text(fs: &mut dyn Filesystem, path: &str, text: &str, options: WriteOptions) -> Result<()> {
    ops::write(fs, &at(path), text, &options).map(drop)
}

fn copy(fs: &mut dyn Filesystem, from: &str, to: &str, replace: bool) -> Result<()> {
    ops::copy(fs, &at(from), &at(to), &MoveOptions::default().replace(replace)).map(drop)
}

fn rename(fs: &mut dyn Filesystem, from: &str, to: &str, replace: bool) -> Result<()> {
    ops::rename(fs, &at(from), &at(to), &MoveOptions::default().replace(replace))
}

fn mkdir(fs: &mut dyn Filesystem, path: &str) -> Result<()> {
    ops::mkdir(fs, &at(path), &MkdirOptions::default()).map(drop)
}

/// Makes the files that every operation starts from.
fn prepare(fs: &mut dyn Filesystem) {
    text(fs, "src/deep/main.rs", "fn main() {}", WriteOptions::default()).unwrap();
    let script = WriteOptions::default().file_mode(FileMode::default().executable(true));
    text(fs, "src/run.sh", "true", script).unwrap();
    fs.symlink(&at("src/link"), b"../outside").unwrap();
    mkdir(fs, "src/empty").unwrap();
    text(fs, "note", "old", WriteOptions::default()).unwrap();
}

type Work = fn(&mut dyn Filesystem) -> Result<()>;

/// One operation, and whether it changes the tree by a single call.
struct Case {
    name: &'static str,
    operation: Operation,
    single: bool,
    run: Work,
}

fn appending() -> WriteOptions {
    WriteOptions::default().mode(WriteMode::Append)
}

fn expecting_old() -> WriteOptions {
    WriteOptions::default().expected(ContentHash::of(b"old"))
}

const fn single(operation: Operation, name: &'static str, run: Work) -> Case {
    Case { name, operation, single: true, run }
}

const fn several(operation: Operation, name: &'static str, run: Work) -> Case {
    Case { name, operation, single: false, run }
}

use Operation::{Copy, Delete, Mkdir, Rename, SetMode, Symlink, Write};

const CASES: &[Case] = &[
    single(Write, "overwrite", |fs| text(fs, "note", "new", WriteOptions::default())),
    single(Write, "write what was read", |fs| text(fs, "note", "new", expecting_old())),
    single(Write, "append", |fs| text(fs, "note", ", new", appending())),
    single(Write, "append to what was read", |fs| {
        text(fs, "note", ", new", expecting_old().mode(WriteMode::Append))
    }),
    single(Copy, "copy a file", |fs| copy(fs, "src/run.sh", "copy.sh", false)),
    single(Copy, "copy a file over another", |fs| copy(fs, "src/run.sh", "note", true)),
    single(Rename, "rename", |fs| rename(fs, "src", "source", false)),
    single(Rename, "rename over another", |fs| rename(fs, "src/run.sh", "note", true)),
    single(Mkdir, "mkdir", |fs| mkdir(fs, "new")),
    single(Delete, "delete a file", |fs| fs.remove(&at("note"), Recursion::OnlyEmpty).map(drop)),
    single(Delete, "delete recursively", |fs| {
        fs.remove(&at("src"), Recursion::Recursive).map(drop)
    }),
    single(SetMode, "set a mode", |fs| fs.set_mode(&at("note"), FileMode::default().private(true))),
    single(Symlink, "symlink", |fs| fs.symlink(&at("link"), b"src")),
    several(Write, "write with new parents", |fs| {
        text(fs, "a/b/c/f", "new", WriteOptions::default())
    }),
    several(Write, "create with new parents", |fs| {
        text(fs, "a/b/c/f", "new", WriteOptions::default().mode(WriteMode::Create))
    }),
    several(Write, "append with new parents", |fs| text(fs, "a/b/c/f", "new", appending())),
    several(Mkdir, "mkdir with new parents", |fs| mkdir(fs, "src/a/b/c")),
    several(Rename, "rename with new parents", |fs| rename(fs, "src", "a/b/c", false)),
    several(Copy, "copy a directory", |fs| copy(fs, "src", "copy", false)),
    several(Copy, "copy a directory with new parents", |fs| copy(fs, "src", "a/b/c", false)),
    several(Copy, "copy a link with new parents", |fs| copy(fs, "src/link", "a/b/c", false)),
];

/// What an operation came to.
struct Outcome {
    result: Result<()>,
    before: Vec<String>,
    after: Vec<String>,
    calls: u64,
}

/// Runs an operation on prepared files with a fault in the way.
fn run(mut backend: Box<dyn Backend>, case: &Case, fault: Fault) -> Outcome {
    prepare(&mut *backend);
    let before = dump(&*backend).unwrap();
    let fault = Arc::new(fault);
    let mut faulty = Layered::over(backend, fault.clone());
    let result = (case.run)(&mut faulty);
    let calls = fault.calls();
    let after = dump(faulty.inner_mut()).unwrap();
    Outcome { result, before, after, calls }
}

/// Calls `check` with each kind of backend and each operation: its name, how to make another such
/// backend, the operation, and what it comes to when nothing fails.
fn for_each_case(check: impl Fn(&str, Fresh, &Case, &Outcome)) {
    for (backend, fresh) in BACKENDS {
        for case in CASES {
            let good = run(fresh(), case, Fault::default());
            assert!(good.result.is_ok(), "{}: {:?}", case.name, good.result);
            assert_ne!(good.before, good.after, "{}", case.name);
            check(&format!("{} on {backend}", case.name), fresh, case, &good);
        }
    }
}

#[test]
fn a_failure_at_any_call_leaves_the_tree_as_it_was() {
    for_each_case(|name, fresh, case, good| {
        for nth in 1..=good.calls {
            let bad = run(fresh(), case, Fault::fail_nth(nth, ErrorKind::Io));
            assert_eq!(bad.result.unwrap_err().kind(), ErrorKind::Io, "{name}, call {nth}");
            assert_eq!(bad.after, bad.before, "{name}, call {nth}");
        }
    });
}

#[test]
fn a_failure_names_a_path_and_the_operation_that_was_asked_for() {
    for_each_case(|name, fresh, case, good| {
        for nth in 1..=good.calls {
            let error = run(fresh(), case, Fault::fail_nth(nth, ErrorKind::Io)).result.unwrap_err();
            assert_eq!(error.operation(), case.operation, "{name}, call {nth}");
            assert!(error.path().is_some(), "{name}, call {nth}");
        }
    });
}

/// Some kinds are answers that an operation acts upon: it may go another way and still succeed.
#[test]
fn a_failure_of_any_kind_leaves_the_old_tree_or_the_new() {
    for_each_case(|name, fresh, case, good| {
        for (at, kind) in ErrorKind::ALL.iter().copied().enumerate() {
            // In the ordinary run each call meets a part of the kinds on the host, and another the next one.
            let step = if name.ends_with("host") { size(4, 1) } else { 1 };
            let calls = (1..=good.calls).filter(|nth| (*nth + at as u64).is_multiple_of(step));
            for nth in calls {
                let bad = run(fresh(), case, Fault::fail_nth(nth, kind));
                let expected = if bad.result.is_ok() { &good.after } else { &bad.before };
                assert_eq!(&bad.after, expected, "{name}, {kind} at call {nth}");
            }
        }
    });
}

#[test]
fn a_death_in_an_operation_of_one_change_leaves_the_old_tree_or_the_new() {
    for_each_case(|name, fresh, case, good| {
        for nth in (1..=good.calls).filter(|_| case.single) {
            let bad = run(fresh(), case, Fault::die_at_nth(nth));
            assert_eq!(bad.result.unwrap_err().kind(), ErrorKind::Unavailable, "{name}");
            assert!([&bad.before, &good.after].contains(&&bad.after), "{name}, call {nth}");
        }
    });
}

/// No process is left to remove the parents or the half of a copy that were made, but nothing is lost.
#[test]
fn a_death_in_an_operation_of_several_changes_loses_nothing() {
    for_each_case(|name, fresh, case, good| {
        for nth in (1..=good.calls).filter(|_| !case.single) {
            let bad = run(fresh(), case, Fault::die_at_nth(nth));
            assert_eq!(bad.result.unwrap_err().kind(), ErrorKind::Unavailable, "{name}");
            let kept = |line| bad.after.contains(line);
            assert!(bad.before.iter().all(kept), "{name}, call {nth}: {:?}", bad.after);
        }
    });
}

#[test]
fn parents_made_for_a_failed_write_are_removed_again() {
    for (name, fresh) in BACKENDS {
        let backend = fresh();
        // Calls: the first try, two parents, the second try.
        let fault = Arc::new(Fault::fail_nth(4, ErrorKind::NoSpace));
        let mut fs = Layered::over(backend, fault);
        let error = text(&mut fs, "a/b/f", "new", WriteOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSpace, "{name}");
        assert_eq!(dump(fs.inner_mut()).unwrap(), [""; 0], "{name}");
    }
}

/// A copy that passes the limit on depth in the middle, while the n-th call below the guard fails.
fn copy_too_deep(nth: u64) -> (Vec<String>, Vec<String>, Recorder) {
    let mut memory = MemoryBackend::new();
    text(&mut memory, "d/x/y/z", "", WriteOptions::default()).unwrap();
    let before = dump(&memory).unwrap();
    let recorder = Recorder::default();
    recorder.fail_nth(nth, ErrorKind::Io);
    let mut limits = Limits::default();
    limits.max_depth = Some(4);
    let mut fs = Layered::new(Layered::new(memory, recorder.clone()), Guard::new(limits));
    copy(&mut fs, "d", "a/b/c", false).unwrap_err();
    recorder.fail_nth(u64::MAX, ErrorKind::Io);
    (before, dump(fs.inner_mut()).unwrap(), recorder)
}

#[test]
fn only_a_clean_up_that_fails_itself_leaves_what_was_made() {
    let mut cleanups = 0;
    for nth in 1..100 {
        let (before, after, recorder) = copy_too_deep(nth);
        let failed = recorder.calls().get(nth as usize - 1).map(|call| call.method);
        if failed == Some("remove") {
            cleanups += 1;
            assert!(after.len() > before.len(), "call {nth}");
        } else {
            assert_eq!(after, before, "{failed:?} at call {nth}");
        }
    }
    assert_eq!(cleanups, 4, "a copied directory, the copy itself, and two parents");
}
