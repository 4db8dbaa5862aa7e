//! Which snapshot holds the files as an operation left them.

use wink_fs::{ErrorKind, SnapshotId, Workspace};

use crate::history::scene::{Scene, on_both, ruin, varied};

on_both! {
    a_snapshot_that_was_taken_after_an_operation_is_its_state,
    what_a_restore_saved_is_the_state_after_the_operation_before_it,
    the_state_after_a_restore_is_the_snapshot_it_went_to,
    an_operation_that_is_not_kept_has_no_state,
}

fn after(files: &Workspace, sequence: u64) -> Option<SnapshotId> {
    files.snapshot_after(sequence).unwrap().map(|it| it.id)
}

fn a_snapshot_that_was_taken_after_an_operation_is_its_state(scene: Scene) {
    let files = &scene.files;
    files.write("a", "one").unwrap();
    assert_eq!(after(files, 1), None);
    let one = files.snapshot("one").unwrap();
    files.write("a", "two").unwrap();
    files.write("a", "three").unwrap();
    let three = files.snapshot("three").unwrap();
    let found = [1, 2, 3].map(|sequence| after(files, sequence));
    assert_eq!(found, [Some(one.id), None, Some(three.id)]);
}

fn what_a_restore_saved_is_the_state_after_the_operation_before_it(scene: Scene) {
    let files = &scene.files;
    let empty = files.snapshot("empty").unwrap();
    files.write("a", "one").unwrap();
    let saved = files.restore(&empty).unwrap().saved;
    assert!(saved.is_some());
    assert_eq!(after(files, 1), saved);
}

fn the_state_after_a_restore_is_the_snapshot_it_went_to(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let before = files.snapshot("before").unwrap();
    ruin(files);
    files.snapshot("ruined").unwrap();
    files.restore(&before).unwrap();
    let last = files.operations().unwrap().pop().unwrap();
    files.write("later", "").unwrap();
    assert_eq!((last.name.as_str(), after(files, last.sequence)), ("restore", Some(before.id)));
}

fn an_operation_that_is_not_kept_has_no_state(scene: Scene) {
    let error = scene.files.snapshot_after(7).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("no operation 7"), "{error}");
}
