//! Checkpoints that go with a dump, so that a session goes back to them elsewhere.

use std::path::{Path, PathBuf};

use wink_agent::checkpoint::{self, Dumped};
use wink_agent::session::{FilesystemSnapshotRef, Session, reducers};
use wink_agent::{ToolContext, Toolset};
use wink_fs::{ErrorKind, SnapshotStore, Store, VerifyOptions, Workspace, tree_hash};

use crate::checkpoint::scene::{Backend, Scene, Turn, after, keep_one, on_each_backend};

on_each_backend!(
    after_a_resume_on_another_backend_a_session_goes_back_to_every_checkpoint,
    the_history_is_a_store_with_the_snapshots_that_the_session_refers_to,
    a_second_dump_takes_the_place_of_the_first,
    what_is_not_kept_any_more_is_named_and_the_rest_is_there,
    a_resume_where_the_snapshots_are_already_adds_nothing,
    a_tag_that_is_taken_stays_with_the_one_that_has_it,
    what_cannot_be_read_changes_neither_files_nor_snapshots,
    a_dump_without_a_history_has_no_checkpoints,
    what_children_keep_goes_with_them,
);

/// Takes a checkpoint after each of three turns, makes a fourth, and dumps all of it.
fn worked(scene: &Scene) -> Dumped {
    for turn in 1..=3 {
        scene.work(turn);
        checkpoint::take(&scene.session, &scene.files, "vfs", &format!("turn-{turn}")).unwrap();
    }
    scene.work(4);
    dumped(scene)
}

fn dumped(scene: &Scene) -> Dumped {
    checkpoint::dump_with_history(&scene.session, &scene.files, scene.directory.path()).unwrap()
}

fn resumed(dumped: &Dumped, scene: Scene) -> Scene {
    let session = checkpoint::resume(&dumped.session, &scene.files).unwrap();
    session.register(reducers::append_all::<Turn>).unwrap();
    Scene { session, ..scene }
}

fn ids(files: &Workspace) -> Vec<wink_fs::SnapshotId> {
    files.snapshots().unwrap().iter().map(|it| it.id).collect()
}

fn after_a_resume_on_another_backend_a_session_goes_back_to_every_checkpoint(backend: &Backend) {
    let here = backend.scene();
    here.files.write_bytes("deep/binary", vec![0, 255, 13, 10]).unwrap();
    let dumped = worked(&here);
    let there = resumed(&dumped, backend.other().scene());
    // Nothing is read from the dump any more.
    drop(here);
    assert_eq!(there.now(), after(1..=4));
    for turn in [2, 1, 3] {
        checkpoint::go_back(&there.session, &there.files, "vfs", &*format!("turn-{turn}")).unwrap();
        assert_eq!(there.now(), after(1..=turn));
        assert!(there.files.is_file("deep/binary"));
    }
    there.work(5);
    assert_eq!(there.now(), after([1, 2, 3, 5]));
    checkpoint::take(&there.session, &there.files, "vfs", "turn-5").unwrap();
    let refused = checkpoint::take(&there.session, &there.files, "vfs", "turn-1").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    checkpoint::go_back(&there.session, &there.files, "vfs", "turn-1").unwrap();
    assert_eq!(there.now(), after([1]));
}

fn the_history_is_a_store_with_the_snapshots_that_the_session_refers_to(backend: &Backend) {
    let scene = backend.scene();
    let unrelated = scene.files.snapshot("unreferenced").unwrap();
    let context = ToolContext::over(&scene.files).session(&scene.session);
    let call = Toolset::ALL.call(&context, "snapshot", serde_json::json!({"tag": "by a tool"}));
    assert!(call.ok(), "{}", call.message);
    let dumped = worked(&scene);
    let history = Store::open_ambient(dumped.history.as_ref().unwrap()).unwrap();
    let kept: Vec<_> = history.list().unwrap().into_iter().map(|it| it.id).collect();
    // When the first call began, the last snapshot was the unrelated one: so the session refers to it.
    assert_eq!(kept, ids(&scene.files));
    assert_eq!((kept[0], dumped.gone.len()), (unrelated.id, 0));
    for id in kept {
        let hash = |store: &dyn SnapshotStore| tree_hash(&*store.load(&id).unwrap()).unwrap();
        assert_eq!(hash(&history), hash(&*scene.files.snapshot_store().unwrap()));
    }
    let verified = history.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!(verified.problems, []);
}

fn a_second_dump_takes_the_place_of_the_first(backend: &Backend) {
    let scene = backend.scene();
    let first = worked(&scene);
    checkpoint::forget(&scene.session, &scene.files, "vfs", "turn-1").unwrap();
    scene.work(5);
    checkpoint::take(&scene.session, &scene.files, "vfs", "turn-5").unwrap();
    let second = dumped(&scene);
    assert_eq!(first.history, second.history);
    assert_eq!(left_over(scene.directory.path()), [] as [PathBuf; 0]);
    let there = resumed(&second, backend.other().scene());
    checkpoint::go_back(&there.session, &there.files, "vfs", "turn-5").unwrap();
    let gone = checkpoint::go_back(&there.session, &there.files, "vfs", "turn-1").unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::SnapshotNotFound);
}

/// Returns what a dump left beside what it wrote.
fn left_over(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let is_draft = |path: &PathBuf| path.to_string_lossy().contains(".wink-dump-");
    entries.filter(is_draft).collect()
}

fn what_is_not_kept_any_more_is_named_and_the_rest_is_there(backend: &Backend) {
    let scene = backend.scene_with(keep_one);
    for turn in 1..=2 {
        scene.work(turn);
        checkpoint::take(&scene.session, &scene.files, "vfs", &format!("turn-{turn}")).unwrap();
    }
    let first = scene.files.find_snapshot("turn-1").unwrap().id;
    scene.files.snapshot_store().unwrap().delete(&first).unwrap();
    let dumped = dumped(&scene);
    assert_eq!(dumped.gone, [first]);
    let there = resumed(&dumped, backend.other().scene());
    let refused = checkpoint::go_back(&there.session, &there.files, "vfs", "turn-1").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::SnapshotNotFound);
    assert_eq!(there.now(), after([1, 2]), "nothing has gone back");
    checkpoint::go_back(&there.session, &there.files, "vfs", "turn-2").unwrap();
}

fn a_resume_where_the_snapshots_are_already_adds_nothing(backend: &Backend) {
    let scene = backend.scene();
    let dumped = worked(&scene);
    let before = ids(&scene.files);
    let session = checkpoint::resume(&dumped.session, &scene.files).unwrap();
    // What is new is only what an import keeps for safety.
    let now = ids(&scene.files);
    assert_eq!(now[..before.len()], before);
    assert!(now.len() <= before.len() + 1);
    checkpoint::go_back(&session, &scene.files, "vfs", "turn-2").unwrap();
    assert_eq!(scene.files.read("code.py").unwrap().content, "v2");
}

fn a_tag_that_is_taken_stays_with_the_one_that_has_it(backend: &Backend) {
    let (here, elsewhere) = (backend.scene(), backend.other().scene_with(keep_one));
    let dumped = worked(&here);
    let own = elsewhere.files.snapshot("turn-1").unwrap();
    let there = resumed(&dumped, elsewhere);
    assert_eq!(there.files.find_snapshot("turn-1").unwrap().id, own.id);
    // The one without its tag is pinned, however many are taken.
    for turn in 5..9 {
        there.work(turn);
        there.files.snapshot_with(&Default::default()).unwrap();
    }
    checkpoint::go_back(&there.session, &there.files, "vfs", "turn-1").unwrap();
    assert_eq!(there.now(), after([1]));
}

fn what_cannot_be_read_changes_neither_files_nor_snapshots(backend: &Backend) {
    type Harm = fn(&Path, &Dumped);
    let harms: [(Harm, ErrorKind); 5] = [
        (|history, _| std::fs::write(history.join("format"), "no").unwrap(), ErrorKind::Corrupt),
        (|history, _| std::fs::remove_file(history.join("format")).unwrap(), ErrorKind::NotFound),
        (
            |history, _| std::fs::write(history.join("checkpoints.jsonl"), "{}\n").unwrap(),
            ErrorKind::Corrupt,
        ),
        (|history, _| damage(&history.join("packs")), ErrorKind::Corrupt),
        (|_, dumped| std::fs::write(&dumped.archive, "no archive").unwrap(), ErrorKind::Corrupt),
    ];
    for (harm, kind) in harms {
        let (here, there) = (backend.scene(), backend.other().scene());
        there.work(9);
        let own = there.files.snapshot("own").unwrap();
        let dumped = worked(&here);
        harm(dumped.history.as_ref().unwrap(), &dumped);
        let error = checkpoint::resume(&dumped.session, &there.files).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(!error.to_string().contains(here.directory.path().to_str().unwrap()), "{error}");
        assert_eq!(there.now(), after([9]));
        assert_eq!(ids(&there.files), [own.id], "{error}");
        assert_eq!(there.files.snapshot_store().unwrap().pins().unwrap(), []);
    }
}

/// Turns the bytes in the middle of each file round.
fn damage(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[12..middle].iter_mut().for_each(|byte| *byte = !*byte);
        std::fs::write(path, bytes).unwrap();
    }
}

fn a_dump_without_a_history_has_no_checkpoints(backend: &Backend) {
    let here = backend.scene();
    here.work(1);
    checkpoint::take(&here.session, &here.files, "vfs", "turn-1").unwrap();
    let target = here.directory.path();
    let dumped = checkpoint::dump_with_files(&here.session, &here.files, target).unwrap();
    assert_eq!((dumped.history.as_ref(), dumped.gone.len()), (None, 0));
    let there = resumed(&dumped, backend.other().scene());
    assert_eq!(there.session.snapshots(), []);
    assert_eq!(
        there.files.find_snapshot("turn-1").unwrap_err().kind(),
        ErrorKind::SnapshotNotFound
    );
}

fn what_children_keep_goes_with_them(backend: &Backend) {
    let here = backend.scene();
    let child = here.session.child();
    for turn in 1..=2 {
        child.seed([Turn(turn)]).unwrap();
        here.files.write("code.py", &format!("v{turn}")).unwrap();
        checkpoint::take(&child, &here.files, "vfs", &format!("child-{turn}")).unwrap();
    }
    let dumped = dumped(&here);
    let there = resumed(&dumped, backend.other().scene());
    let child = there.session.children().remove(0);
    assert_eq!(there.session.snapshots(), []);
    checkpoint::go_back(&child, &there.files, "vfs", "child-1").unwrap();
    assert_eq!(there.files.read("code.py").unwrap().content, "v1");
    assert_eq!(child.query::<Turn>().unwrap().latest().unwrap().0, 1);
    assert_eq!(child.query::<FilesystemSnapshotRef>().unwrap().len(), 1);
}

/// A dump that fails leaves the one before it, whole, and nothing half done.
#[test]
fn a_history_that_cannot_be_written_leaves_the_last_one_and_nothing_half_done() {
    let scene = Backend::Host.scene();
    let first = worked(&scene);
    let listed = |dumped: &Dumped| {
        let history = Store::open_ambient(dumped.history.as_ref().unwrap()).unwrap();
        history.list().unwrap()
    };
    let (before, dump) = (listed(&first), std::fs::read(&first.session).unwrap());
    scene.work(5);
    damage(&scene.directory.path().join("store/packs"));
    let target = scene.directory.path();
    // Opened again, because the store remembers what it has read.
    let store = Store::open_ambient(target.join("store")).unwrap();
    let files = Workspace::host_with_store(target.join("root"), store).unwrap();
    let error = checkpoint::dump_with_history(&scene.session, &files, target).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(listed(&first), before);
    assert_eq!(std::fs::read(&first.session).unwrap(), dump);
    assert_eq!(left_over(target), [] as [PathBuf; 0]);

    let empty = tempfile::tempdir().unwrap();
    checkpoint::dump_with_history(&scene.session, &files, empty.path()).unwrap_err();
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn a_workspace_without_a_history_has_none_to_dump_and_takes_the_files_alone() {
    let place = tempfile::tempdir().unwrap();
    let files = Workspace::host(place.path()).unwrap();
    let refused = checkpoint::dump_with_history(&Session::new(), &files, place.path()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);

    let here = Backend::Memory.scene();
    let dumped = worked(&here);
    let session = checkpoint::resume(&dumped.session, &files).unwrap();
    assert_eq!(files.read("code.py").unwrap().content, "v4");
    let refused = checkpoint::go_back(&session, &files, "vfs", "turn-1").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    session.rollback("turn-1").unwrap();
    assert_eq!(session.query::<Turn>().unwrap().len(), 1);
}

#[test]
fn a_foreign_snapshot_under_the_id_of_ours_is_refused() {
    let (here, there) = (Backend::Memory.scene(), Backend::Host.scene());
    let dumped = worked(&here);
    let (theirs, other) = (here.files.find_snapshot("turn-1").unwrap(), Workspace::memory());
    let store = there.files.snapshot_store().unwrap();
    store.save(&*other.tree(), &wink_fs::NewSnapshot::copy_of(&theirs)).unwrap();
    let error = checkpoint::resume(&dumped.session, &there.files).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SnapshotIncompatible, "{error}");
    assert_eq!(ids(&there.files), [theirs.id]);
}

const GOLDEN: &str = include_str!("golden/checkpoints-v1.jsonl");
const PAGE: &str = include_str!("../../../../docs/session-format.md");

#[test]
fn checkpoints_of_version_1_are_read_for_ever_and_written_again_byte_for_byte() {
    let (here, place) = (Backend::Memory.scene(), tempfile::tempdir().unwrap());
    let id = "67e55044-10b1-426f-9247-bb680e5fe0c8".parse().unwrap();
    let session = Session::builder().session_id(id).build();
    let dump = |session, files| {
        let dumped = checkpoint::dump_with_history(session, files, place.path()).unwrap();
        (dumped.session, dumped.history.unwrap().join("checkpoints.jsonl"))
    };
    let (path, states) = dump(&session, &here.files);
    std::fs::write(&states, GOLDEN).unwrap();
    let resumed = checkpoint::resume(&path, &here.files).unwrap();
    let tags: Vec<_> = resumed.snapshots().into_iter().map(|it| it.tag).collect();
    assert_eq!(tags, [Some("turn-1".to_owned()), None]);
    let (_, again) = dump(&resumed, &here.files);
    assert_eq!(std::fs::read_to_string(again).unwrap(), GOLDEN);

    resumed.rollback("turn-1").unwrap();
    assert_eq!(resumed.query::<Turn>().unwrap().latest().unwrap().0, 1);
    assert!(PAGE.contains(GOLDEN), "docs/session-format.md shows it");
}

#[test]
fn unknown_fields_of_checkpoints_and_their_slices_are_written_again() {
    let (here, place) = (Backend::Memory.scene(), tempfile::tempdir().unwrap());
    let id = "67e55044-10b1-426f-9247-bb680e5fe0c8".parse().unwrap();
    let session = Session::builder().session_id(id).build();
    let dumped = checkpoint::dump_with_history(&session, &here.files, place.path()).unwrap();
    let states = dumped.history.unwrap().join("checkpoints.jsonl");
    let of_the_future = GOLDEN
        .replace(r#""items":[1]}]}"#, r#""items":[1],"unit":"m/s"}],"note":[2.50]}"#)
        .replace(r#""backend_type":"in_memory"}"#, r#""backend_type":"in_memory","host":"a"}"#);
    assert_ne!(of_the_future, GOLDEN);
    std::fs::write(&states, &of_the_future).unwrap();
    let resumed = checkpoint::resume(&dumped.session, &here.files).unwrap();
    checkpoint::dump_with_history(&resumed, &here.files, place.path()).unwrap();
    assert_eq!(std::fs::read_to_string(states).unwrap(), of_the_future);
}

#[test]
fn checkpoints_that_are_none_are_refused_by_their_line() {
    let scene = Backend::Memory.scene();
    let dumped = worked(&scene);
    let states = dumped.history.as_ref().unwrap().join("checkpoints.jsonl");
    let whole = std::fs::read_to_string(&states).unwrap();
    let elsewhere = Workspace::memory();
    for (from, to, words) in [
        ("wink checkpoint", "wink session", "line of a checkpoint"),
        ("\"version\":1", "\"version\":2", "version 2"),
        ("\"requires\":[]", "\"requires\":[\"more\"]", "the feature `more`"),
        ("turn-2", "turn\\n2", "control characters"),
        ("\"files\":[{", "\"files\":[7,{", "`files`"),
        ("\"snapshot_id\":\"", "\"snapshot_id\":\"x", "no id of a snapshot"),
        ("\"slices\":[", "\"slice\":[", "`slices` is missing"),
    ] {
        let harmed = whole.replace(from, to);
        assert_ne!(harmed, whole, "{from}");
        std::fs::write(&states, harmed).unwrap();
        let error = checkpoint::resume(&dumped.session, &elsewhere).unwrap_err();
        assert!(error.to_string().starts_with("load session: line "), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(elsewhere.snapshots().unwrap().is_empty() && !elsewhere.exists("code.py"));
    }
}
