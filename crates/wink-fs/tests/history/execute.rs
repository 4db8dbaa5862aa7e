//! Programs that change files by themselves.

use std::fs;

use wink_fs::{
    Error, ErrorKind, Exclusions, ExecutionPlace, HostBackend, MemoryBackend, Operation, Result,
    Store, TreePath, Workspace,
};

use crate::scene::{Scene, lines, on_both, rewrite, varied};

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
    assert!(files.snapshots().unwrap().is_empty());
}

fn a_program_that_changes_nothing_leaves_nothing(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let operations = files.operations().unwrap().len();
    let (_, execution) = files.as_executor("true", |_| Ok(())).unwrap();
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

#[test]
fn what_is_excluded_is_neither_told_nor_taken_back() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    fs::create_dir(&root).unwrap();
    let files = Workspace::builder(HostBackend::open_ambient(&root).unwrap())
        .store(Store::create_ambient(directory.path().join("store")).unwrap())
        .exclude(Exclusions::parse(["/target"]).unwrap())
        .build();
    let (_, changes) = files
        .as_executor("make", |place| {
            let root = place.directory.as_ref().unwrap();
            fs::create_dir(root.join("target")).unwrap();
            fs::write(root.join("target/out"), "out").unwrap();
            fs::write(root.join("log"), "log").unwrap();
            Ok(())
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
