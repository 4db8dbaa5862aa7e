//! Snapshots, operations, going back: the same on memory and on a host directory with a store.

#![allow(clippy::disallowed_methods, reason = "plants and inspects host files from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use wink_fs::testkit::dump;
use wink_fs::{
    At, DiffOptions, ErrorKind, Event, Exclusions, FileMode, HostBackend, HostOptions, Kind,
    MemoryBackend, OperationCause, Recursion, RestoreOptions, Result, SnapshotCause,
    SnapshotOptions, Store, TreePath, VerifyOptions, Workspace, WriteMode, WriteOptions, ops,
};

/// A workspace, and the directory it lies in if it does.
struct Scene {
    files: Workspace,
    directory: TempDir,
}

impl Scene {
    fn memory() -> Self {
        Self { files: Workspace::memory(), directory: tempfile::tempdir().unwrap() }
    }

    fn host() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("root")).unwrap();
        let store = Store::create_ambient(directory.path().join("store")).unwrap();
        let files = Workspace::host_with_store(directory.path().join("root"), store).unwrap();
        Self { files, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Opens the directory once more, as another process would.
    fn open_again(&self) -> Workspace {
        let store = Store::open_ambient(self.path("store")).unwrap();
        Workspace::host_with_store(self.path("root"), store).unwrap()
    }
}

macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        mod memory {
            $(#[test] fn $case() { super::$case(super::Scene::memory()) })*
        }
        mod host {
            $(#[test] fn $case() { super::$case(super::Scene::host()) })*
        }
    };
}

on_both! {
    a1_19_ignored_files_are_captured_and_restored_and_none_is_deleted,
    a1_20_nested_repositories_are_plain_files,
    a_restore_brings_everything_back,
    a_restore_of_some_paths_leaves_the_others,
    a_dry_run_says_what_would_be_done_and_does_nothing,
    a_restore_can_be_undone_and_redone,
    a_restore_to_what_is_there_saves_nothing,
    a_tag_is_unique,
    a_snapshot_is_found_by_tag_id_and_prefix,
    a_snapshot_knows_what_it_grew_from,
    every_kind_of_call_is_undone_and_redone,
    undo_goes_back_step_by_step_and_redo_forward,
    a_new_call_ends_what_can_be_redone,
    a_call_that_fails_halfway_is_taken_back,
    a_call_that_changes_nothing_is_no_operation,
    an_operation_knows_its_first_state_only,
    an_import_is_undone,
    diff_tells_added_modified_and_deleted,
    diff_of_two_snapshots_does_not_look_at_the_files_of_now,
    what_is_excluded_survives_a_restore,
    events_tell_of_snapshots_and_restores,
    a_writer_waits_no_longer_than_it_likes,
    a_read_only_workspace_is_not_restored,
}

fn lines(files: &Workspace) -> Vec<String> {
    dump(&*files.tree()).unwrap()
}

fn varied(files: &Workspace) {
    files.write("a.txt", "one\ntwo\n").unwrap();
    files.write("crlf", "one\r\ntwo\r\n").unwrap();
    files.write(".gitignore", "*\n").unwrap();
    files.write("nested/.git/config", "[core]").unwrap();
    files.write("nested/.git/objects/ab/cd", "x").unwrap();
    files.write("run.sh", "#!/bin/sh\n").unwrap();
    files.set_mode("run.sh", FileMode::default().executable(true)).unwrap();
    files.write("key", "secret").unwrap();
    files.set_mode("key", FileMode::default().private(true)).unwrap();
    files.mkdir("empty/below").unwrap();
    files.symlink("link", b"../outside").unwrap();
    files.write_bytes(r"caf\xe9\x0a", &b"\xff\0"[..]).unwrap();
}

fn ruin(files: &Workspace) {
    files.write("a.txt", "changed").unwrap();
    files.write("new/file", "new").unwrap();
    files.delete_all("nested").unwrap();
    files.delete_all("empty").unwrap();
    files.delete("link").unwrap();
    files.write("link", "a file now").unwrap();
    files.set_mode("run.sh", FileMode::default()).unwrap();
    files.delete(r"caf\xe9\x0a").unwrap();
    files.rename("crlf", "lf").unwrap();
}

fn a_restore_brings_everything_back(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let before = lines(files);
    let snapshot = files.snapshot("before").unwrap();
    assert_eq!((snapshot.file_count, snapshot.point_in_time), (9, true));
    ruin(files);
    let receipt = files.restore(&snapshot).unwrap();
    assert_eq!(lines(files), before);
    assert_eq!((receipt.written, receipt.brought_back, receipt.removed), (3, 4, 2));
    assert_eq!(receipt.unchanged, 2);
    assert!(files.diff(&snapshot, At::Live).unwrap().is_empty());
    let verified = files.snapshot_store().unwrap();
    let verified = verified.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!((verified.snapshots, verified.problems.len()), (2, 0));
}

fn a_restore_of_some_paths_leaves_the_others(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let snapshot = files.snapshot("before").unwrap();
    ruin(files);
    let options = RestoreOptions::default().path("nested/.git").path("new").path("a.txt");
    let receipt = files.restore_with(&snapshot, &options).unwrap();
    assert_eq!((receipt.written, receipt.brought_back, receipt.removed), (1, 2, 1));
    assert!(files.is_file("nested/.git/config") && !files.exists("new"));
    assert_eq!(files.read("link").unwrap().content, "a file now");
    assert_eq!(files.read("a.txt").unwrap().content, "one\ntwo\n");
}

fn a_dry_run_says_what_would_be_done_and_does_nothing(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let snapshot = files.snapshot("before").unwrap();
    ruin(files);
    let (now, operations) = (lines(files), files.operations().unwrap().len());
    let dry = files.restore_with(&snapshot, &RestoreOptions::default().dry_run(true)).unwrap();
    assert_eq!((lines(files), files.operations().unwrap().len()), (now, operations));
    assert_eq!((dry.saved, files.snapshots().unwrap().len()), (None, 1));
    let mut real = files.restore(&snapshot).unwrap();
    assert!(real.saved.take().is_some());
    assert_eq!(real, dry);
}

fn a_restore_can_be_undone_and_redone(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let before = lines(files);
    let snapshot = files.snapshot("before").unwrap();
    ruin(files);
    let ruined = lines(files);
    let receipt = files.restore(&snapshot).unwrap();
    let saved = files.find_snapshot(&receipt.saved.unwrap().to_string()).unwrap();
    assert_eq!((saved.cause, saved.tag), (SnapshotCause::Safety, None));
    let undone = files.undo().unwrap();
    assert_eq!((undone.operation.name.as_str(), undone.conflicts.len()), ("restore", 0));
    assert_eq!(lines(files), ruined);
    files.redo().unwrap();
    assert_eq!(lines(files), before);
}

fn a_restore_to_what_is_there_saves_nothing(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let snapshot = files.snapshot("before").unwrap();
    let operations = files.operations().unwrap().len();
    let receipt = files.restore(&snapshot).unwrap();
    assert_eq!((receipt.saved, receipt.written, receipt.unchanged), (None, 0, 9));
    assert_eq!(files.operations().unwrap().len(), operations);
    assert_eq!(files.snapshots().unwrap().len(), 1);
}

fn a_tag_is_unique(scene: Scene) {
    scene.files.snapshot("mine").unwrap();
    assert_eq!(scene.files.snapshot("mine").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(scene.files.snapshot("").unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(scene.files.snapshots().unwrap().len(), 1);
}

fn a_snapshot_is_found_by_tag_id_and_prefix(scene: Scene) {
    let files = &scene.files;
    let one = files.snapshot_with(&SnapshotOptions::default()).unwrap();
    let two = files.snapshot("two").unwrap();
    let id = |name: &str| files.find_snapshot(name).map(|found| found.id);
    assert_eq!(id("two").unwrap(), two.id);
    assert_eq!(id(&one.id.to_string()).unwrap(), one.id);
    assert_eq!(id(&one.id.short()).unwrap(), one.id);
    for unknown in ["three", "", "zzzzzzzz"] {
        let error = id(unknown).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SnapshotNotFound, "{unknown}: {error}");
    }
    assert_eq!(files.restore("three").unwrap_err().kind(), ErrorKind::SnapshotNotFound);
    assert_eq!(files.restore(At::Live).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

fn a_snapshot_knows_what_it_grew_from(scene: Scene) {
    let files = &scene.files;
    let one = files.snapshot("one").unwrap();
    files.write("a", "").unwrap();
    let two = files.snapshot("two").unwrap();
    assert_eq!((one.parent, two.parent), (None, Some(one.id)));
    assert_eq!(files.current_snapshot_id().unwrap(), Some(two.id));
    files.restore(&one).unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(one.id));
    assert_eq!(files.snapshot("three").unwrap().parent, Some(one.id));
}

fn every_kind_of_call_is_undone_and_redone(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let append = WriteOptions::default().mode(WriteMode::Append);
    let calls: [(&str, &dyn Fn() -> Result<()>); 10] = [
        ("write", &|| files.write("deep/er/new", "new").map(drop)),
        ("write", &|| files.write("a.txt", "changed").map(drop)),
        ("write", &|| files.write_with("a.txt", "more", &append).map(drop)),
        ("delete", &|| files.delete("link").map(drop)),
        ("delete", &|| files.delete_all("nested").map(drop)),
        ("mkdir", &|| files.mkdir("made/here").map(drop)),
        ("symlink", &|| files.symlink("made/link", b"x")),
        ("set mode", &|| files.set_mode("run.sh", FileMode::default().private(true))),
        ("rename", &|| files.rename("crlf", "made/crlf")),
        ("copy", &|| files.copy("made", "copied").map(drop)),
    ];
    for (name, call) in calls {
        let before = lines(files);
        call().unwrap();
        let after = lines(files);
        let undone = files.undo().unwrap();
        assert_eq!((undone.operation.name.as_str(), undone.conflicts.len()), (name, 0));
        assert_eq!(lines(files), before, "{name}");
        files.redo().unwrap();
        assert_eq!(lines(files), after, "{name}");
    }
}

fn undo_goes_back_step_by_step_and_redo_forward(scene: Scene) {
    let files = &scene.files;
    let content = || files.read("a").map_or(String::new(), |page| page.content);
    for text in ["1", "2", "3"] {
        files.write("a", text).unwrap();
    }
    for expected in ["2", "1", ""] {
        files.undo().unwrap();
        assert_eq!(content(), expected);
    }
    assert_eq!(files.undo().unwrap_err().kind(), ErrorKind::NotFound);
    for expected in ["1", "2"] {
        files.redo().unwrap();
        assert_eq!(content(), expected);
    }
    files.undo().unwrap();
    assert_eq!(content(), "1");
    files.redo().unwrap();
    files.redo().unwrap();
    assert_eq!(content(), "3");
    assert_eq!(files.redo().unwrap_err().kind(), ErrorKind::NotFound);
}

fn a_new_call_ends_what_can_be_redone(scene: Scene) {
    let files = &scene.files;
    files.write("a", "1").unwrap();
    files.write("a", "2").unwrap();
    files.undo().unwrap();
    files.write("b", "1").unwrap();
    assert_eq!(files.redo().unwrap_err().kind(), ErrorKind::NotFound);
    files.undo().unwrap();
    files.undo().unwrap();
    assert_eq!(lines(files), [""; 0]);
}

fn a_call_that_fails_halfway_is_taken_back(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let (before, operations) = (lines(files), files.operations().unwrap().len());
    let at = |text: &str| TreePath::parse(text).unwrap();
    let failed: Result<()> = files.as_agent("many steps", |fs| {
        ops::write(fs, &at("a.txt"), "changed", &WriteOptions::default())?;
        ops::write(fs, &at("new/file"), "new", &WriteOptions::default())?;
        fs.remove(&at("nested"), Recursion::Recursive)?;
        fs.set_mode(&at("run.sh"), FileMode::default())?;
        fs.remove(&at("not there"), Recursion::OnlyEmpty).map(drop)
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(lines(files), before);
    assert_eq!(files.operations().unwrap().len(), operations);
}

fn a_call_that_changes_nothing_is_no_operation(scene: Scene) {
    let files = &scene.files;
    files.write("a", "same").unwrap();
    files.write("a", "same").unwrap();
    assert!(files.delete("missing").is_err());
    assert!(files.mkdir("").is_ok());
    assert_eq!(files.operations().unwrap().len(), 1);
}

/// Something is made, and then removed together with what was there before.
fn an_operation_knows_its_first_state_only(scene: Scene) {
    let files = &scene.files;
    files.write("d/old", "old").unwrap();
    files.write("d/kept/x", "x").unwrap();
    let before = lines(files);
    let at = |text: &str| TreePath::parse(text).unwrap();
    files
        .as_owner("mixed", |fs| {
            ops::write(fs, &at("d/new"), "new", &WriteOptions::default())?;
            ops::write(fs, &at("d/old"), "changed", &WriteOptions::default())?;
            ops::write(fs, &at("d/old"), "changed again", &WriteOptions::default())?;
            fs.remove(&at("d"), Recursion::Recursive)?;
            ops::write(fs, &at("d"), "a file", &WriteOptions::default()).map(drop)
        })
        .unwrap();
    files.undo().unwrap();
    assert_eq!(lines(files), before);
}

fn an_import_is_undone(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let archive = scene.path("a.fs.zip");
    let other = Workspace::memory();
    other.write("only", "this").unwrap();
    other.export_archive(&archive).unwrap();
    let before = lines(files);
    files.import_archive(&archive).unwrap();
    assert_eq!(lines(files), [r#"only "this""#]);
    assert_eq!(files.undo().unwrap().operation.name, "import");
    assert_eq!(lines(files), before);
}

fn diff_tells_added_modified_and_deleted(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let before = files.snapshot("before").unwrap();
    ruin(files);
    let options = DiffOptions::default().renames(true).hunks(true);
    let diff = files.diff_with(&before, At::Live, &options).unwrap();
    let paths = |changed: &[wink_fs::Changed]| {
        changed.iter().map(|it| it.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&diff.added), ["new/file"]);
    assert_eq!(paths(&diff.modified), ["a.txt", "link", "run.sh"]);
    let deleted =
        [r"caf\xe9\x0a", "empty/below", "nested/.git/config", "nested/.git/objects/ab/cd"];
    assert_eq!(paths(&diff.deleted), deleted);
    let moved: Vec<_> = diff.renamed.iter().map(|it| format!("{} {}", it.from, it.to)).collect();
    assert_eq!(moved, ["crlf lf"]);
    assert_eq!(diff.unchanged_count, 2);
    let hunk = &diff.modified[0].hunks.as_ref().unwrap()[0];
    let text = "@@ -1,2 +1,1 @@\n-one\n-two\n+changed\n\\ No newline at end of file\n";
    assert_eq!(hunk.to_string(), text);
    assert_eq!(
        (diff.modified[1].before, diff.modified[1].hunks.is_none()),
        (Some(Kind::Symlink), true)
    );
}

fn diff_of_two_snapshots_does_not_look_at_the_files_of_now(scene: Scene) {
    let files = &scene.files;
    files.write("a", "1").unwrap();
    let one = files.snapshot("one").unwrap();
    files.write("a", "2").unwrap();
    let two = files.snapshot("two").unwrap();
    files.delete("a").unwrap();
    let diff = files.diff(&one, &two).unwrap();
    assert_eq!((diff.modified.len(), diff.added.len(), diff.deleted.len()), (1, 0, 0));
}

fn what_is_excluded_survives_a_restore(scene: Scene) {
    let excluded = Exclusions::parse(["/target", "*.log"]).unwrap();
    let files = match scene.path("store").exists() {
        true => {
            let store = Store::open_ambient(scene.path("store")).unwrap();
            Workspace::host_builder(scene.path("root"), store).unwrap().exclude(excluded).build()
        }
        false => Workspace::builder(MemoryBackend::new()).exclude(excluded).build(),
    };
    files.write("a", "1").unwrap();
    files.write("target/big", "1").unwrap();
    let before = files.snapshot("before").unwrap();
    assert_eq!((before.file_count, before.excluded.len()), (1, 2));
    files.write("target/big", "2").unwrap();
    files.write("new/x.log", "2").unwrap();
    files.write("a", "2").unwrap();
    assert_eq!(files.diff(&before, At::Live).unwrap().added.len(), 1, "the directory `new`");
    files.restore(&before).unwrap();
    let left = [r#"a "1""#, "new/", r#"new/x.log "2""#, "target/", r#"target/big "2""#];
    assert_eq!(lines(&files), left);
}

fn events_tell_of_snapshots_and_restores(scene: Scene) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let observer = told.clone();
    let observe = move |event: &Event| observer.lock().unwrap().push(event.clone());
    let files = match scene.path("store").exists() {
        true => {
            let store = Store::open_ambient(scene.path("store")).unwrap();
            Workspace::host_builder(scene.path("root"), store).unwrap().observe(observe).build()
        }
        false => Workspace::builder(MemoryBackend::new()).observe(observe).build(),
    };
    let snapshot = files.snapshot("before").unwrap();
    files.write("a", "").unwrap();
    files.restore(&snapshot).unwrap();
    let told = told.lock().unwrap();
    assert_eq!(told.first(), Some(&Event::SnapshotTaken { id: snapshot.id }));
    assert_eq!(told.last(), Some(&Event::Restored { id: snapshot.id }));
    assert!(told.contains(&Event::Replaced));
}

fn a_writer_waits_no_longer_than_it_likes(scene: Scene) {
    let files = &scene.files;
    let hurried = files.waiting_at_most(Duration::from_millis(20));
    files
        .as_owner("slow", |fs| {
            std::thread::scope(|scope| {
                let write = scope.spawn(|| hurried.write("a", "").map(drop));
                assert_eq!(write.join().unwrap().unwrap_err().kind(), ErrorKind::Deadline);
                assert!(hurried.list("").unwrap().is_empty(), "readers do not wait");
            });
            rewrite(fs, "b", "")
        })
        .unwrap();
    hurried.write("a", "").unwrap();
}

fn rewrite(fs: &mut dyn wink_fs::Filesystem, path: &str, content: &str) -> Result<()> {
    let path = TreePath::parse(path)?;
    ops::write(fs, &path, content, &WriteOptions::default()).map(drop)
}

fn a_read_only_workspace_is_not_restored(scene: Scene) {
    let files = match scene.path("store").exists() {
        true => {
            scene.files.snapshot("before").unwrap();
            fs::write(scene.path("root/a"), "").unwrap();
            let store = Store::open_ambient(scene.path("store")).unwrap();
            Workspace::host_builder(scene.path("root"), store).unwrap().read_only(true).build()
        }
        false => {
            let files = Workspace::builder(MemoryBackend::new()).read_only(true).build();
            files.snapshot("before").unwrap();
            files
        }
    };
    let before = lines(&files);
    assert_eq!(files.restore("before").unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(lines(&files), before);
}

fn a1_19_ignored_files_are_captured_and_restored_and_none_is_deleted(scene: Scene) {
    let files = &scene.files;
    files.write(".gitignore", "*\n").unwrap();
    files.write(".git/info/exclude", "*\n").unwrap();
    files.write("target/out.o", "built").unwrap();
    files.write("secret.env", "KEY=1").unwrap();
    let before = lines(files);
    let snapshot = files.snapshot("before").unwrap();
    assert_eq!(snapshot.file_count, 4);
    files.delete_all("target").unwrap();
    files.write("secret.env", "KEY=2").unwrap();
    files.write("other.o", "new").unwrap();
    files.restore(&snapshot).unwrap();
    assert_eq!(lines(files), before);
}

fn a1_20_nested_repositories_are_plain_files(scene: Scene) {
    let files = &scene.files;
    files.write("nested/.git/HEAD", "ref: refs/heads/main\n").unwrap();
    files.write("nested/.git/config", "[core]\n\tfsmonitor = /bin/false\n").unwrap();
    files.write("nested/uncommitted", "work").unwrap();
    files.write("bare.git/HEAD", "ref: refs/heads/main\n").unwrap();
    files.mkdir("bare.git/refs/heads").unwrap();
    files.write("submodule/.git", "gitdir: /etc\n").unwrap();
    let before = lines(files);
    let snapshot = files.snapshot("before").unwrap();
    for directory in ["nested", "bare.git", "submodule"] {
        files.delete_all(directory).unwrap();
    }
    files.restore(&snapshot).unwrap();
    assert_eq!(lines(files), before);
}

// --- only on a host ------------------------------------------------------------------------------

#[test]
fn undo_leaves_what_somebody_changed_since() {
    let scene = Scene::host();
    scene.files.write("a", "mine").unwrap();
    scene.files.write("a", "mine again").unwrap();
    fs::write(scene.path("root/a"), "theirs").unwrap();
    let error = scene.files.undo().unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some("a")));
    assert_eq!(scene.files.read("a").unwrap().content, "theirs");
}

#[test]
fn undo_of_several_paths_leaves_only_those_that_changed() {
    let scene = Scene::host();
    let files = &scene.files;
    for path in ["a", "b", "c"] {
        files.write(path, "old").unwrap();
    }
    files
        .as_agent("three", |fs| ["a", "b", "c"].iter().try_for_each(|it| rewrite(fs, it, "new")))
        .unwrap();
    fs::write(scene.path("root/b"), "theirs").unwrap();
    let undone = files.undo().unwrap();
    let text = |paths: &[TreePath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        (text(&undone.paths), text(&undone.conflicts)),
        (vec!["a".into(), "c".into()], vec!["b".into()])
    );
    let contents = ["a", "b", "c"].map(|path| files.read(path).unwrap().content);
    assert_eq!(contents, ["old", "theirs", "old"]);
}

#[test]
fn another_process_undoes_what_this_one_did() {
    let scene = Scene::host();
    scene.files.write("a", "one").unwrap();
    scene.files.write("a", "two").unwrap();
    let other = scene.open_again();
    assert_eq!(other.undo().unwrap().operation.sequence, 2);
    assert_eq!(scene.files.read("a").unwrap().content, "one");
    let causes: Vec<_> = scene.files.operations().unwrap().iter().map(|it| it.cause).collect();
    let expected = [OperationCause::Call, OperationCause::Call, OperationCause::Undo { of: 2 }];
    assert_eq!(causes, expected);
    scene.files.redo().unwrap();
    assert_eq!(other.read("a").unwrap().content, "two");
}

/// What shells and editors did is in a snapshot as well.
#[test]
fn changes_from_outside_are_captured_and_restored() {
    let scene = Scene::host();
    scene.files.write("a", "one").unwrap();
    let before = scene.files.snapshot("before").unwrap();
    fs::write(scene.path("root/a"), "two").unwrap();
    fs::write(scene.path("root/b"), "new").unwrap();
    let after = scene.files.snapshot("after").unwrap();
    scene.files.restore(&before).unwrap();
    assert_eq!(lines(&scene.files), [r#"a "one""#]);
    scene.files.restore(&after).unwrap();
    assert_eq!(lines(&scene.files), [r#"a "two""#, r#"b "new""#]);
}

#[test]
fn an_unchanged_snapshot_reads_no_file_and_writes_no_pack() {
    let scene = Scene::host();
    varied(&scene.files);
    let first = scene.files.snapshot("first").unwrap();
    let second = scene.open_again().snapshot("second").unwrap();
    assert!(!first.reference.is_empty() && second.reference.is_empty());
    assert_eq!(first.tree_hash, second.tree_hash);
}

#[test]
fn a_host_without_a_store_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let files = Workspace::host(directory.path()).unwrap();
    files.write("a", "").unwrap();
    for error in [files.snapshot("x").unwrap_err(), files.undo().unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
}

#[test]
fn two_hundred_operations_are_kept_and_no_more() {
    for scene in [Scene::memory(), Scene::host()] {
        for round in 0..210 {
            scene.files.write("a", &round.to_string()).unwrap();
        }
        let operations = scene.files.operations().unwrap();
        assert_eq!((operations.len(), operations[0].sequence), (200, 11));
        if scene.path("store").exists() {
            let kept = fs::read_dir(scene.path("store/operations")).unwrap().count();
            assert!(kept <= 440, "{kept}");
        }
    }
}

/// A directory on another file system than the store: what is kept is copied.
#[test]
fn what_is_replaced_is_kept_across_file_systems() {
    let Ok(shm) = tempfile::tempdir_in("/dev/shm") else { panic!("/dev/shm is needed") };
    let scene = Scene::host();
    fs::create_dir(shm.path().join("root")).unwrap();
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let options = HostOptions::default();
    let backend = HostBackend::open_ambient_with(shm.path().join("root"), &options).unwrap();
    let files = Workspace::builder(backend).store(store).build();
    varied(&files);
    let before = lines(&files);
    files.delete_all("nested").unwrap();
    files.undo().unwrap();
    assert_eq!(lines(&files), before);
}

fn chattr(flag: &str, path: &std::path::Path) {
    let done = std::process::Command::new("chattr").arg(flag).arg(path).status();
    assert!(done.expect("chattr is needed").success(), "chattr needs root and ext4");
}

/// A file that nobody may change is found out before the first rename is final.
#[test]
fn a1_30_a_restore_that_cannot_replace_a_file_changes_nothing() {
    let scene = Scene::host();
    let files = &scene.files;
    for path in ["a", "b/immutable", "c"] {
        files.write(path, "old").unwrap();
    }
    let snapshot = files.snapshot("before").unwrap();
    for path in ["a", "b/immutable", "c"] {
        files.write(path, "new").unwrap();
    }
    let before = lines(files);
    chattr("+i", &scene.path("root/b/immutable"));
    let error = files.restore(&snapshot);
    chattr("-i", &scene.path("root/b/immutable"));
    let error = error.unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::PermissionDenied, Some("b/immutable")));
    assert_eq!(lines(files), before);
    files.restore(&snapshot).unwrap();
    assert_eq!(files.read("b/immutable").unwrap().content, "old");
}

/// A small file system of its own, unmounted in the end.
struct Small(TempDir);

impl Small {
    fn new(options: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let options = std::ffi::CString::new(options).unwrap();
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("tmpfs", place.path(), "tmpfs", flags, &*options)
            .expect("mounting needs root");
        fs::create_dir(place.path().join("root")).unwrap();
        Self(place)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(self.0.path(), rustix::mount::UnmountFlags::DETACH);
    }
}

/// Fills a file system while a snapshot wants to come back, and checks that nothing happens.
fn check_no_space(small: &Small, fill: impl Fn(usize) -> bool) {
    let scene = Scene::host();
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let files = Workspace::host_with_store(small.0.path().join("root"), store).unwrap();
    for file in 0..20 {
        files.write_bytes(&format!("many/{file}"), vec![file; 20_000]).unwrap();
    }
    let snapshot = files.snapshot("before").unwrap();
    files.delete_all("many").unwrap();
    files.write("now", "kept").unwrap();
    let filled = (0..100_000).take_while(|round| fill(*round)).count();
    let before = lines(&files);
    let error = files.restore(&snapshot).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}");
    assert_eq!(lines(&files), before);
    drop(files);
    (0..filled).for_each(|round| drop(fs::remove_file(small.0.path().join(round.to_string()))));
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let files = Workspace::host_with_store(small.0.path().join("root"), store).unwrap();
    assert_eq!(files.restore(&snapshot).unwrap().brought_back, 20);
}

#[test]
fn fault_09_a_full_disk_stops_a_restore_before_anything_changes() {
    let small = Small::new("size=1m");
    let filler = |round: usize| {
        let path = small.0.path().join(round.to_string());
        fs::write(&path, vec![0; 4096]).is_ok()
    };
    check_no_space(&small, filler);
}

#[test]
fn fault_10_used_up_inodes_stop_a_restore_before_anything_changes() {
    let small = Small::new("size=16m,nr_inodes=60");
    let filler = |round: usize| fs::write(small.0.path().join(round.to_string()), "").is_ok();
    check_no_space(&small, filler);
}

/// Handles to one workspace, as two processes have them, take turns and lose nothing.
#[test]
fn fault_25_two_handles_on_one_workspace_lose_nothing() {
    let scene = Scene::host();
    let handles = [scene.open_again(), scene.open_again()];
    std::thread::scope(|scope| {
        for (number, files) in handles.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..40 {
                    files.write(&format!("{number}/{round}"), "x").unwrap();
                    if round % 10 == 0 {
                        files.snapshot_with(&SnapshotOptions::default()).unwrap();
                    }
                }
            });
        }
    });
    let last = scene.files.snapshot("last").unwrap();
    assert_eq!(last.file_count, 80);
    assert_eq!(scene.files.snapshots().unwrap().len(), 9);
    let sequences: Vec<_> =
        scene.files.operations().unwrap().iter().map(|it| it.sequence).collect();
    assert_eq!(sequences, (1..=80).collect::<Vec<_>>());
}

#[test]
fn fault_25_a_wait_that_is_too_long_names_who_is_at_work() {
    let scene = Scene::host();
    let other = scene.open_again();
    let waited = scene.files.as_owner("slow", |_| Ok(other.write("a", "").unwrap_err())).unwrap();
    assert_eq!(waited.kind(), ErrorKind::Locked);
    let pid = format!("process {}", std::process::id());
    assert!(waited.to_string().contains(&pid), "{waited}");
    other.write("a", "").unwrap();
}

#[test]
fn fault_26_restores_and_writes_at_once_have_a_serial_outcome() {
    let scene = Scene::host();
    let files = &scene.files;
    for name in ["A", "B"] {
        (0..10).for_each(|file| drop(files.write(&format!("f{file}"), name).unwrap()));
        files.snapshot(name).unwrap();
    }
    let handles = [scene.open_again(), scene.open_again(), scene.open_again()];
    std::thread::scope(|scope| {
        for (files, name) in handles.iter().zip(["A", "B"]) {
            scope.spawn(move || (0..10).for_each(|_| drop(files.restore(name).unwrap())));
        }
        scope.spawn(|| {
            (0..30).for_each(|_| drop(handles[2].write("written", "by somebody").unwrap()));
        });
    });
    let contents: std::collections::BTreeSet<String> =
        (0..10).map(|file| files.read(&format!("f{file}")).unwrap().content).collect();
    assert_eq!(contents.len(), 1, "one restore was the last: {contents:?}");
    let verified = files.snapshot_store().unwrap().verify(&VerifyOptions::default()).unwrap();
    assert_eq!(verified.problems, []);
}
