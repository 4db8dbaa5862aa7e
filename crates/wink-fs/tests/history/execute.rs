//! Programs that change files by themselves.

use std::fs;
use std::sync::{Arc, Mutex};

use wink_fs::{
    Error, ErrorKind, Event, Exclusions, ExecutionPlace, HostBackend, MemoryBackend, Operation,
    Result, SnapshotCause, Store, TreePath, Workspace,
};

use crate::history::scene::{Scene, lines, on_both, rewrite, varied};

on_both! {
    what_a_program_changed_is_undone_and_redone,
    a_program_that_fails_is_taken_back,
    a_program_that_changes_nothing_leaves_nothing,
    other_calls_before_and_after_are_undone_in_turn,
}

/// Changes files as a program would: on the disk where there is one.
fn program(place: &mut ExecutionPlace<'_>) -> Result<()> {
    let Some(root) = &place.directory else {
        rewrite(place.files, "a.txt", "changed")?;
        rewrite(place.files, "new/file", "new")?;
        let gone = TreePath::parse("nested")?;
        return place.files.remove(&gone, wink_fs::Recursion::Recursive).map(drop);
    };
    fs::write(root.join("a.txt"), "changed").unwrap();
    fs::create_dir(root.join("new")).unwrap();
    fs::write(root.join("new/file"), "new").unwrap();
    fs::remove_dir_all(root.join("nested")).unwrap();
    Ok(())
}

fn what_a_program_changed_is_undone_and_redone(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let before = lines(files);
    let (said, changes) = files.as_executor("make", |place| program(place).map(|()| 7)).unwrap();
    let changes: Vec<_> = changes.unwrap().changes.iter().map(|it| it.path.to_string()).collect();
    assert_eq!((said, changes), (7, vec!["a.txt".into(), "nested".into(), "new".into()]));
    let after = lines(files);
    let undone = files.undo().unwrap();
    assert_eq!((undone.operation.name.as_str(), undone.conflicts.len()), ("make", 0));
    assert_eq!(lines(files), before);
    files.redo().unwrap();
    assert_eq!(lines(files), after);
}

fn a_program_that_fails_is_taken_back(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let (before, operations) = (lines(files), files.operations().unwrap().len());
    let failed = files.as_executor("make", |place| {
        program(place)?;
        Err::<(), _>(Error::new(Operation::Write, ErrorKind::Cancelled))
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(lines(files), before);
    assert_eq!(files.operations().unwrap().len(), operations);
    // What others saved while it ran cannot be told from what it did, so all of it can be found.
    let [saved] = &files.snapshots().unwrap()[..] else { panic!("one snapshot of what was there") };
    assert_eq!(saved.cause, SnapshotCause::Safety);
    assert!(wink_fs::testkit::dump(&*files.tree_at(saved.id).unwrap()).unwrap() != before);
}

fn a_program_that_changes_nothing_leaves_nothing(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let operations = files.operations().unwrap().len();
    let (_, execution) = files.as_executor("true", |_| Ok::<_, wink_fs::Error>(())).unwrap();
    let execution = execution.unwrap();
    assert_eq!((execution.changes, execution.saved), (Vec::new(), None));
    assert_eq!(files.operations().unwrap().len(), operations);
    assert!(files.snapshots().unwrap().is_empty());
}

fn other_calls_before_and_after_are_undone_in_turn(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let first = lines(files);
    files.as_executor("make", program).unwrap();
    let second = lines(files);
    files.write("a.txt", "again").unwrap();
    files.undo().unwrap();
    assert_eq!(lines(files), second);
    files.undo().unwrap();
    assert_eq!(lines(files), first);
}

#[test]
fn another_process_undoes_what_a_program_changed() {
    let scene = Scene::host();
    varied(&scene.files);
    let before = lines(&scene.files);
    scene.files.as_executor("make", program).unwrap();
    let again = scene.open_again();
    assert_eq!(again.undo().unwrap().operation.name, "make");
    assert_eq!(lines(&again), before);
}

/// Runs a program in a process that does not live to see the end of it.
fn run_and_die(files: &Workspace) {
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        files.as_executor("make", |place| -> Result<()> {
            program(place)?;
            panic!("the process dies here")
        })
    }));
    assert!(died.is_err());
}

/// Once, its changes were in no operation.
#[test]
fn what_a_program_had_changed_whose_process_died_is_undone_and_redone() {
    let scene = Scene::host();
    varied(&scene.files);
    let before = lines(&scene.files);
    run_and_die(&scene.files);
    let (after, operations) = (lines(&scene.files), scene.files.operations().unwrap().len());
    assert_ne!(after, before);
    let again = scene.open_again();
    assert_eq!(lines(&again), after, "it is not taken back by itself");
    assert_eq!(again.operations().unwrap().len(), operations + 1);
    let undone = again.undo().unwrap();
    assert_eq!((undone.operation.name.as_str(), undone.conflicts.len()), ("make", 0));
    assert_eq!(lines(&again), before);
    again.redo().unwrap();
    assert_eq!(lines(&again), after);
}

#[test]
fn calls_go_on_after_a_program_whose_end_was_not_seen() {
    let scene = Scene::host();
    let files = &scene.files;
    varied(files);
    let before = lines(files);
    run_and_die(files);
    let after = lines(files);
    files.write("later", "1").unwrap();
    files.undo().unwrap();
    assert_eq!(lines(files), after);
    files.undo().unwrap();
    assert_eq!(lines(files), before);
}

#[test]
fn a_program_that_had_changed_nothing_when_its_process_died_leaves_nothing() {
    let scene = Scene::host();
    varied(&scene.files);
    let operations = scene.files.operations().unwrap().len();
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        scene.files.as_executor("sleep", |_| -> Result<()> { panic!("the process dies here") })
    }));
    assert!(died.is_err());
    let again = scene.open_again();
    assert_eq!(again.operations().unwrap().len(), operations);
    assert!(again.snapshots().unwrap().is_empty());
    let left = fs::read_dir(scene.path("store/operations")).unwrap().flatten();
    let left = left.filter(|it| it.path().extension().is_some_and(|it| it == "begun"));
    assert_eq!(left.count(), 0);
}

/// Recovery cannot tell any more what the program changed, but every process can go on working.
#[test]
fn calls_go_on_where_the_snapshot_before_such_a_program_is_gone() {
    let scene = Scene::host();
    varied(&scene.files);
    run_and_die(&scene.files);
    let after = lines(&scene.files);
    for entry in fs::read_dir(scene.path("store/snapshots")).unwrap().flatten() {
        fs::remove_file(entry.path()).unwrap();
    }
    let again = scene.open_again();
    again.write("later", "1").unwrap();
    again.undo().unwrap();
    assert_eq!(lines(&again), after);
}

#[test]
fn opening_a_workspace_does_not_wait_for_a_running_program() {
    let scene = Scene::host();
    scene.files.write("a", "1").unwrap();
    let (took, execution) = scene
        .files
        .as_executor("make", |place| {
            fs::write(place.directory.as_ref().unwrap().join("a"), "2").unwrap();
            let start = std::time::Instant::now();
            assert_eq!(scene.open_again().read("a")?.content, "2");
            Ok::<_, wink_fs::Error>(start.elapsed())
        })
        .unwrap();
    // A lock that is held is waited for for five seconds.
    assert!(took < std::time::Duration::from_secs(5), "{took:?}");
    assert_eq!(execution.unwrap().changes.len(), 1);
    let names: Vec<_> = scene.files.operations().unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["write", "make"]);
}

/// Makes a workspace of a directory in which something is excluded.
fn excluding(directory: &std::path::Path, pattern: &str) -> Workspace {
    let root = directory.join("root");
    fs::create_dir(&root).unwrap();
    Workspace::builder(HostBackend::open_ambient(&root).unwrap())
        .store(Store::create_ambient(directory.join("store")).unwrap())
        .exclude(Exclusions::parse([pattern]).unwrap())
        .build()
}

/// Once, undo took the directory for one that another program had changed since.
#[test]
fn a_directory_with_something_excluded_that_a_program_made_is_undone() {
    let directory = tempfile::tempdir().unwrap();
    let files = excluding(directory.path(), "*.log");
    let made = files.as_executor("make", |place| {
        let root = place.directory.as_ref().unwrap();
        fs::create_dir(root.join("out")).unwrap();
        fs::write(root.join("out/a"), "a").unwrap();
        fs::write(root.join("out/make.log"), "log").unwrap();
        Ok::<_, wink_fs::Error>(())
    });
    made.unwrap();
    assert_eq!(files.undo().unwrap().conflicts, []);
    assert!(!files.exists("out/a") && files.is_file("out/make.log"));
}

#[test]
fn what_is_excluded_is_neither_told_nor_taken_back() {
    let directory = tempfile::tempdir().unwrap();
    let files = excluding(directory.path(), "/target");
    let (_, changes) = files
        .as_executor("make", |place| {
            let root = place.directory.as_ref().unwrap();
            fs::create_dir(root.join("target")).unwrap();
            fs::write(root.join("target/out"), "out").unwrap();
            fs::write(root.join("log"), "log").unwrap();
            Ok::<_, wink_fs::Error>(())
        })
        .unwrap();
    let changes: Vec<_> = changes.unwrap().changes.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(changes, ["log"]);
    files.undo().unwrap();
    assert!(!files.exists("log") && files.is_file("target/out"));
}

#[test]
fn nothing_is_run_where_nothing_may_change() {
    let files = Workspace::builder(MemoryBackend::new()).read_only(true).build();
    let refused = files.as_executor("make", |_| -> Result<()> { panic!("it was run") });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ReadOnly);
}

/// Once, no observer was told of it, nor that it also holds what came after the process died.
#[test]
fn what_stays_of_a_program_whose_process_died_is_told() {
    let scene = Scene::host();
    varied(&scene.files);
    run_and_die(&scene.files);
    fs::write(scene.path("root/theirs"), "written since").unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = told.clone();
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let again = Workspace::host_builder(scene.path("root"), store).unwrap();
    let again = again.observe(move |event| sink.lock().unwrap().push(event.clone())).build();
    let made = again.operations().unwrap().pop().unwrap();
    let left: Vec<_> = made.changes.into_iter().map(|it| it.path).collect();
    assert!(left.iter().any(|path| path.to_string() == "theirs"));
    assert_eq!(*told.lock().unwrap(), [Event::Recovered { taken_back: Vec::new(), left }]);
}

/// Once, what is excluded was taken for something that other programs had changed since.
#[test]
fn what_a_program_changed_is_known_although_something_in_it_is_excluded() {
    let directory = tempfile::tempdir().unwrap();
    let files = excluding(directory.path(), "*.log");
    let made = files.as_executor("make", |place| {
        let root = place.directory.as_ref().unwrap();
        fs::create_dir(root.join("out")).unwrap();
        fs::write(root.join("out/a"), "a").unwrap();
        fs::write(root.join("out/make.log"), "log").unwrap();
        Ok::<_, wink_fs::Error>(())
    });
    made.unwrap();
    let (file, log) = (files.path("out/a").unwrap(), files.path("out/make.log").unwrap());
    let check = || {
        let trees = files.operation_trees(1).unwrap();
        assert_eq!(trees.unknown, []);
        assert!(trees.after.stat(&file).is_ok() && trees.after.stat(&log).is_err());
    };
    check();
    files.delete_all("out").unwrap();
    check();
}
