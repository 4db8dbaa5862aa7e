//! Taking checkpoints and going back to them.

use std::sync::{Arc, OnceLock};

use wink_agent::checkpoint;
use wink_agent::session::{FilesystemSnapshotRef, Items, SessionError, ToolInvoked, View};
use wink_fs::{ErrorKind, Event, SnapshotCause, SnapshotOptions, Workspace};

use crate::checkpoint::scene::{Backend, after, forget_when_restored, keep_one, on_each_backend};

on_each_backend!(
    files_and_session_go_back_together,
    one_can_go_to_and_fro_between_checkpoints,
    what_the_files_were_before_is_kept,
    the_session_knows_which_files_belong_to_it,
    logs_stay_when_all_else_goes_back,
    a_repeated_tag_is_refused_and_keeps_nothing,
    a_session_that_cannot_be_kept_leaves_no_snapshot_of_files,
    rolling_back_the_session_alone_leaves_the_files_and_names_them,
    a_snapshot_of_the_session_alone_is_no_checkpoint,
    files_that_cannot_go_back_leave_the_session,
    a_session_that_cannot_go_back_puts_the_files_as_they_were,
    files_that_cannot_be_put_back_either_are_told_of,
    files_are_pinned_for_the_session_until_it_forgets_them,
);

fn files_and_session_go_back_together(backend: &Backend) {
    let scene = backend.scene();
    scene.work(1);
    checkpoint::take(&scene.session, &scene.files, "vfs", "checkpoint").unwrap();
    scene.work(2);
    scene.files.write("new.txt", "").unwrap();
    let back = checkpoint::go_back(&scene.session, &scene.files, "vfs", "checkpoint").unwrap();
    assert_eq!((back.files.written, back.files.removed), (1, 1));
    assert_eq!(scene.now(), after([1]));
    assert!(!scene.files.exists("new.txt"));
}

fn one_can_go_to_and_fro_between_checkpoints(backend: &Backend) {
    let scene = backend.scene();
    let mut ids = Vec::new();
    for turn in 1..=3 {
        scene.work(turn);
        let tag = format!("turn-{turn}");
        ids.push(checkpoint::take(&scene.session, &scene.files, "vfs", &tag).unwrap().session.id);
    }
    for turn in [1, 3, 2] {
        let tag = format!("turn-{turn}");
        checkpoint::go_back(&scene.session, &scene.files, "vfs", tag.as_str()).unwrap();
        assert_eq!(scene.now(), after(1..=turn));
    }
    checkpoint::go_back(&scene.session, &scene.files, "vfs", ids[0]).unwrap();
    assert_eq!(scene.now(), after([1]));
}

fn what_the_files_were_before_is_kept(backend: &Backend) {
    let scene = backend.scene();
    scene.work(1);
    checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap();
    scene.work(2);
    let back = checkpoint::go_back(&scene.session, &scene.files, "vfs", "one").unwrap();
    scene.files.restore(back.files.saved.unwrap()).unwrap();
    assert_eq!(scene.files.read("code.py").unwrap().content, "v2");
}

fn the_session_knows_which_files_belong_to_it(backend: &Backend) {
    let scene = backend.scene();
    scene.work(1);
    let taken = checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap();
    let references = scene.session.query::<FilesystemSnapshotRef>().unwrap();
    let reference = references.latest().unwrap();
    assert_eq!(reference.snapshot_id(), Some(taken.files.id));
    assert_eq!(reference.filesystem_key, "vfs");
    assert_eq!(reference.backend_type, scene.files.properties().backend.as_str());
    assert_eq!(taken.session.files, [(*reference).clone()]);
    scene.work(2);
    checkpoint::go_back(&scene.session, &scene.files, "vfs", "one").unwrap();
    assert_eq!(scene.session.query::<FilesystemSnapshotRef>().unwrap().len(), 1);
}

fn logs_stay_when_all_else_goes_back(backend: &Backend) {
    let scene = backend.scene();
    scene.work(1);
    checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap();
    let call = ToolInvoked::new("1", "write_file", std::time::SystemTime::now());
    scene.session.dispatch(call).unwrap();
    checkpoint::go_back(&scene.session, &scene.files, "vfs", "one").unwrap();
    assert_eq!(scene.session.query::<ToolInvoked>().unwrap().len(), 1);
}

fn a_repeated_tag_is_refused_and_keeps_nothing(backend: &Backend) {
    let scene = backend.scene();
    scene.work(1);
    scene.session.snapshot("of the session").unwrap();
    scene.files.snapshot("of the files").unwrap();
    for tag in ["of the session", "of the files"] {
        let error = checkpoint::take(&scene.session, &scene.files, "vfs", tag).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
    }
    assert_eq!(scene.session.snapshots().len(), 1);
    assert_eq!(scene.files.snapshots().unwrap().len(), 1);
    assert!(scene.session.query::<FilesystemSnapshotRef>().unwrap().is_empty());
}

fn a_session_that_cannot_be_kept_leaves_no_snapshot_of_files(backend: &Backend) {
    let scene = backend.scene();
    scene.work(1);
    let failing = |_: &View<'_, FilesystemSnapshotRef>,
                   _: &Arc<FilesystemSnapshotRef>|
     -> Items<FilesystemSnapshotRef> { panic!("no") };
    scene.session.register(failing).unwrap();
    let error = checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap_err();
    assert!(matches!(error, SessionError::ReducerPanicked { .. }), "{error}");
    assert!(scene.session.snapshots().is_empty() && scene.files.snapshots().unwrap().is_empty());
    assert!(scene.files.snapshot_store().unwrap().pins().unwrap().is_empty());
    assert!(scene.session.query::<FilesystemSnapshotRef>().unwrap().is_empty());
    assert_eq!(scene.now(), after([1]));
}

fn rolling_back_the_session_alone_leaves_the_files_and_names_them(backend: &Backend) {
    let scene = backend.scene();
    scene.work(1);
    let taken = checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap();
    scene.work(2);
    let snapshot = scene.session.rollback("one").unwrap();
    assert_eq!(scene.now(), ("v2".into(), vec![1]));
    assert_eq!(snapshot.files[0].snapshot_id(), Some(taken.files.id));
}

fn a_snapshot_of_the_session_alone_is_no_checkpoint(backend: &Backend) {
    let scene = backend.scene();
    scene.work(1);
    checkpoint::take(&scene.session, &scene.files, "vfs", "both").unwrap();
    scene.session.snapshot("alone").unwrap();
    scene.work(2);
    for (key, tag) in [("vfs", "alone"), ("podman", "both")] {
        let error = checkpoint::go_back(&scene.session, &scene.files, key, tag).unwrap_err();
        assert!(matches!(error, SessionError::NotACheckpoint { .. }), "{error}");
        assert_eq!(error.kind(), ErrorKind::SnapshotIncompatible);
    }
    let never = checkpoint::go_back(&scene.session, &scene.files, "vfs", "never").unwrap_err();
    assert_eq!(never.kind(), ErrorKind::SnapshotNotFound);
    assert_eq!(scene.now(), after([1, 2]));
}

fn files_that_cannot_go_back_leave_the_session(backend: &Backend) {
    let scene = backend.scene();
    scene.work(1);
    let taken = checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap();
    scene.work(2);
    assert!(scene.files.snapshot_store().unwrap().delete(&taken.files.id).unwrap());
    let error = checkpoint::go_back(&scene.session, &scene.files, "vfs", "one").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SnapshotNotFound);
    assert_eq!(scene.now(), after([1, 2]));
}

fn a_session_that_cannot_go_back_puts_the_files_as_they_were(backend: &Backend) {
    let scene = backend.scene_with(forget_when_restored("one"));
    scene.work(1);
    checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap();
    scene.work(2);
    let error = checkpoint::go_back(&scene.session, &scene.files, "vfs", "one").unwrap_err();
    assert!(matches!(error, SessionError::SnapshotNotFound { .. }), "{error}");
    assert_eq!(scene.now(), after([1, 2]));
}

fn files_that_cannot_be_put_back_either_are_told_of(backend: &Backend) {
    let kept: Arc<OnceLock<Workspace>> = Arc::default();
    let files = kept.clone();
    let scene = backend.scene_with(move |session, builder| {
        builder.observe(move |event| {
            let Event::Restored { .. } = event else { return };
            session.forget_snapshot("one").unwrap();
            let store = files.get().unwrap().snapshot_store().unwrap();
            let saved = store.list().unwrap().pop().unwrap();
            assert_eq!(saved.cause, SnapshotCause::Safety);
            store.delete(&saved.id).unwrap();
        })
    });
    kept.set(scene.files.clone()).unwrap();
    scene.work(1);
    checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap();
    scene.work(2);
    let error = checkpoint::go_back(&scene.session, &scene.files, "vfs", "one").unwrap_err();
    let SessionError::HalfWay { session, files } = error else { panic!("{error}") };
    assert!(matches!(*session, SessionError::SnapshotNotFound { .. }), "{session}");
    assert_eq!(files.kind(), ErrorKind::SnapshotNotFound);
    assert_eq!(scene.now(), ("v1".into(), vec![1, 2]));
}

fn files_are_pinned_for_the_session_until_it_forgets_them(backend: &Backend) {
    let scene = backend.scene_with(keep_one);
    let store = scene.files.snapshot_store().unwrap();
    scene.work(1);
    let taken = checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap();
    let pins = store.pins().unwrap();
    assert_eq!((pins.len(), pins[0].snapshot), (1, taken.files.id));
    assert_eq!(pins[0].owner, format!("session {}", scene.session.id()));
    assert!(pins[0].expires.is_some());

    // Without its tag, only the pin keeps it.
    scene.files.tag("one", None).unwrap();
    let take_some = || {
        for _ in 0..3 {
            scene.work(2);
            scene.files.snapshot_with(&SnapshotOptions::default()).unwrap();
        }
    };
    take_some();
    store.describe(&taken.files.id).unwrap();

    checkpoint::forget(&scene.session, &scene.files, "vfs", "one").unwrap();
    assert!(store.pins().unwrap().is_empty() && scene.session.snapshots().is_empty());
    take_some();
    let gone = store.describe(&taken.files.id).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::SnapshotNotFound);
}
