//! The session's listing of the files.

use std::sync::Arc;
use std::time::SystemTime;

use tempfile::TempDir;
use wink_agent::checkpoint;
use wink_agent::file_index::Follower;
use wink_agent::session::{Encoding, Session, VirtualFileSystem};
use wink_fs::{
    Error, ErrorKind, MemoryBackend, Operation, Recursion, TreePath, Workspace, WorkspaceBuilder,
    WriteMode, WriteOptions, ops,
};

use crate::checkpoint::scene::{Backend, on_each_backend};

on_each_backend!(
    files_that_are_there_at_the_beginning_are_listed,
    each_write_of_any_mode_adds_one_to_the_version,
    the_listing_has_sizes_and_guesses_encodings,
    moves_and_deletions_are_followed,
    a_call_that_fails_and_is_taken_back_never_shows,
    a_failed_call_on_files_of_the_beginning_never_shows,
    an_update_without_changes_tells_nothing,
    versions_go_back_with_a_checkpoint_and_go_on_from_there,
    a_restore_and_an_undo_are_followed,
    an_import_is_followed,
    what_was_heard_of_beside_what_was_replaced_is_followed_too,
    a_move_of_what_is_then_replaced_is_followed,
    after_the_session_alone_went_back_the_next_update_lists_the_files_that_are_there,
    a_cleared_listing_is_made_again,
    what_another_thread_changed_and_never_told_is_told_by_the_next_update,
    files_that_went_back_apart_from_the_follower_are_listed_as_they_are,
);

struct Followed {
    session: Session,
    files: Workspace,
    follower: Follower,
    directory: TempDir,
}

impl Followed {
    fn new(backend: &Backend) -> Self {
        let (session, directory) = (Session::new(), tempfile::tempdir().unwrap());
        let (files, follower) = Follower::begin(&session, backend.builder(&directory)).unwrap();
        Self { session, files, follower, directory }
    }

    fn write(&self, path: &str, content: &str) {
        self.files.write(path, content).unwrap();
        self.follower.update().unwrap();
    }

    /// Returns paths and versions, as the session knows them.
    fn versions(&self) -> Vec<(String, u64)> {
        self.follower.update().unwrap();
        let listing = self.follower.listing().unwrap();
        listing.files().map(|file| (file.path.to_string(), file.version)).collect()
    }
}

fn what_was_heard_of_beside_what_was_replaced_is_followed_too(backend: &Backend) {
    let followed = Followed::new(backend);
    followed.write("a/one.txt", "1");
    followed.write("b/two.txt", "2");
    followed.files.write("a/one.txt", "changed").unwrap();
    followed.files.write("b/two.txt", "changed").unwrap();
    followed.files.undo().unwrap();
    followed.files.write("c/three.txt", "3").unwrap();
    followed.files.rename("a/one.txt", "a/moved.txt").unwrap();
    let expected = [("a/moved.txt", 2), ("b/two.txt", 1), ("c/three.txt", 1)];
    assert_eq!(followed.versions(), listed(&expected));
}

fn a_move_of_what_is_then_replaced_is_followed(backend: &Backend) {
    let followed = Followed::new(backend);
    followed.write("d/a.txt", "a");
    followed.write("d/b.txt", "b");
    followed.files.rename("d", "e").unwrap();
    followed.files.write("e/a.txt", "changed").unwrap();
    followed.files.undo().unwrap();
    let paths: Vec<_> = followed.versions().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["e/a.txt", "e/b.txt"]);
    followed.files.undo().unwrap();
    let paths: Vec<_> = followed.versions().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["d/a.txt", "d/b.txt"]);
}

fn listed(files: &[(&str, u64)]) -> Vec<(String, u64)> {
    files.iter().map(|(path, version)| ((*path).to_owned(), *version)).collect()
}

/// Begins a workspace that has `a.txt` with five bytes.
fn with_a_file(backend: &Backend, directory: &TempDir) -> WorkspaceBuilder {
    match backend {
        Backend::Memory => {
            let mut memory = MemoryBackend::new();
            let path = TreePath::parse("a.txt").unwrap();
            ops::write(&mut memory, &path, "hello", &WriteOptions::default()).unwrap();
            Workspace::builder(memory)
        }
        Backend::Host => {
            Workspace::host(directory.path()).unwrap().write("root/a.txt", "hello").unwrap();
            backend.builder(directory)
        }
    }
}

fn files_that_are_there_at_the_beginning_are_listed(backend: &Backend) {
    let (session, directory) = (Session::new(), tempfile::tempdir().unwrap());
    let (_files, follower) = Follower::begin(&session, with_a_file(backend, &directory)).unwrap();
    let sizes: Vec<_> = follower.listing().unwrap().files().map(|file| file.size_bytes).collect();
    assert_eq!(sizes, [5]);
}

fn each_write_of_any_mode_adds_one_to_the_version(backend: &Backend) {
    let scene = Followed::new(backend);
    scene.write("a.txt", "one");
    scene.write("a.txt", "two");
    let append = WriteOptions::default().mode(WriteMode::Append);
    scene.files.write_with("a.txt", " and three", &append).unwrap();
    assert_eq!(scene.versions(), listed(&[("a.txt", 3)]));
    let listing = scene.session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
    let file = listing.get(&TreePath::parse("a.txt").unwrap()).unwrap();
    assert_eq!(file.size_bytes, 13);
    assert!(file.created_at <= file.updated_at && file.updated_at <= SystemTime::now());
}

fn the_listing_has_sizes_and_guesses_encodings(backend: &Backend) {
    let scene = Followed::new(backend);
    let umlauts = format!("a{}", "ü".repeat(5_000));
    scene.write("text", &umlauts);
    scene.files.write_bytes("binary", vec![0, 1, 2]).unwrap();
    scene.files.write_bytes("cut", b"caf\xc3".to_vec()).unwrap();
    scene.follower.update().unwrap();
    let listing = scene.follower.listing().unwrap();
    let seen: Vec<_> =
        listing.files().map(|file| (file.size_bytes, file.encoding.clone().unwrap())).collect();
    let wanted = [(3, Encoding::Binary), (4, Encoding::Binary), (10_001, Encoding::Utf8)];
    assert_eq!(seen, wanted);
}

fn moves_and_deletions_are_followed(backend: &Backend) {
    let scene = Followed::new(backend);
    for path in ["d/x", "d/e/y", "d-e", "z"] {
        scene.files.write(path, "1").unwrap();
    }
    scene.files.write("d/x", "22").unwrap();
    scene.files.rename("d", "moved").unwrap();
    scene.files.delete_all("moved/e").unwrap();
    assert_eq!(scene.versions(), listed(&[("d-e", 1), ("moved/x", 2), ("z", 1)]));
}

fn a_call_that_fails_and_is_taken_back_never_shows(backend: &Backend) {
    let scene = Followed::new(backend);
    scene.write("removed", "1");
    scene.write("written", "1");
    let [removed, written, new] =
        ["removed", "written", "new"].map(|path| TreePath::parse(path).unwrap());
    let failed = scene.files.as_agent("fail", |fs| {
        ops::write(fs, &new, "2", &WriteOptions::default())?;
        ops::write(fs, &written, "2", &WriteOptions::default())?;
        fs.remove(&removed, Recursion::OnlyEmpty)?;
        Err::<(), _>(Error::new(Operation::Write, ErrorKind::Cancelled))
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(scene.versions(), listed(&[("removed", 1), ("written", 1)]));
    scene.write("written", "3");
    assert_eq!(scene.versions(), listed(&[("removed", 1), ("written", 2)]));
}

fn a_failed_call_on_files_of_the_beginning_never_shows(backend: &Backend) {
    let directory = tempfile::tempdir().unwrap();
    let (session, path) = (Session::new(), TreePath::parse("a.txt").unwrap());
    let (files, follower) = Follower::begin(&session, with_a_file(backend, &directory)).unwrap();
    let failed = files.as_agent("fail", |fs| {
        ops::write(fs, &path, "HELLO", &WriteOptions::default())?;
        Err::<(), _>(Error::new(Operation::Write, ErrorKind::Cancelled))
    });
    assert!(failed.is_err());
    follower.update().unwrap();
    assert_eq!(follower.listing().unwrap().get(&path).unwrap().version, 1);
    files.write("a.txt", "Hello").unwrap();
    follower.update().unwrap();
    assert_eq!(follower.listing().unwrap().get(&path).unwrap().version, 2);
}

fn an_update_without_changes_tells_nothing(backend: &Backend) {
    let scene = Followed::new(backend);
    scene.write("a", "1");
    let before = scene.session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
    scene.follower.update().unwrap();
    scene.follower.rescan().unwrap();
    let after = scene.session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
    assert!(Arc::ptr_eq(&before, &after));
}

fn versions_go_back_with_a_checkpoint_and_go_on_from_there(backend: &Backend) {
    let scene = Followed::new(backend);
    scene.write("a", "1");
    scene.write("b", "1");
    checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap();
    scene.write("a", "2");
    scene.write("a", "3");
    scene.write("c", "1");
    assert_eq!(scene.versions(), listed(&[("a", 3), ("b", 1), ("c", 1)]));
    scene.follower.go_back("vfs", "one").unwrap();
    assert_eq!(scene.versions(), listed(&[("a", 1), ("b", 1)]));
    scene.write("a", "4");
    assert_eq!(scene.versions(), listed(&[("a", 2), ("b", 1)]));
}

/// The listing stayed as it was at the snapshot, for files that were somewhere else.
fn after_the_session_alone_went_back_the_next_update_lists_the_files_that_are_there(
    backend: &Backend,
) {
    let scene = Followed::new(backend);
    for path in ["changed", "removed", "same"] {
        scene.write(path, "1");
    }
    scene.session.snapshot("one").unwrap();
    scene.write("changed", "2");
    scene.write("changed", "3");
    scene.write("new", "1");
    scene.files.delete("removed").unwrap();
    let now = [("changed", 3), ("new", 1), ("same", 1)];
    assert_eq!(scene.versions(), listed(&now));
    scene.session.rollback("one").unwrap();
    assert_eq!(scene.versions(), listed(&[("changed", 2), ("new", 1), ("same", 1)]));
    scene.write("changed", "4");
    assert_eq!(scene.versions(), listed(&[("changed", 3), ("new", 1), ("same", 1)]));
}

fn what_another_thread_changed_and_never_told_is_told_by_the_next_update(backend: &Backend) {
    let scene = Followed::new(backend);
    let files = scene.files.clone();
    std::thread::spawn(move || drop(files.write("theirs", "1").unwrap())).join().unwrap();
    assert_eq!(scene.versions(), listed(&[("theirs", 1)]));
}

fn a_cleared_listing_is_made_again(backend: &Backend) {
    let scene = Followed::new(backend);
    scene.write("a", "1");
    scene.write("b", "1");
    scene.session.clear::<VirtualFileSystem>().unwrap();
    scene.files.delete("b").unwrap();
    assert_eq!(scene.versions(), listed(&[("a", 1)]));
}

fn files_that_went_back_apart_from_the_follower_are_listed_as_they_are(backend: &Backend) {
    let scene = Followed::new(backend);
    scene.write("a", "1");
    scene.write("same", "1");
    checkpoint::take(&scene.session, &scene.files, "vfs", "one").unwrap();
    scene.write("a", "2");
    scene.write("a", "3");
    scene.write("b", "1");
    checkpoint::go_back(&scene.session, &scene.files, "vfs", "one").unwrap();
    assert_eq!(scene.versions(), listed(&[("a", 2), ("same", 1)]));
}

fn a_restore_and_an_undo_are_followed(backend: &Backend) {
    let scene = Followed::new(backend);
    scene.write("a", "1");
    scene.write("same", "1");
    let before = scene.files.snapshot("before").unwrap();
    scene.write("a", "two");
    scene.write("b", "1");
    scene.files.restore(&before).unwrap();
    assert_eq!(scene.versions(), listed(&[("a", 3), ("same", 1)]));
    scene.files.undo().unwrap();
    assert_eq!(scene.versions(), listed(&[("a", 4), ("b", 1), ("same", 1)]));
}

fn an_import_is_followed(backend: &Backend) {
    let scene = Followed::new(backend);
    scene.write("a", "1");
    let archive = scene.directory.path().join("x.fs.zip");
    scene.files.export_archive(&archive).unwrap();
    scene.write("b", "1");
    scene.files.import_archive(&archive).unwrap();
    assert_eq!(scene.versions(), listed(&[("a", 1)]));
}

#[test]
fn a_rescan_finds_what_others_changed_on_the_disk() {
    let scene = Followed::new(&Backend::Host);
    for path in ["changed", "removed", "same"] {
        scene.write(path, "1");
    }
    let others = Workspace::host(scene.directory.path().join("root")).unwrap();
    others.write("changed", "two").unwrap();
    others.delete("removed").unwrap();
    others.write("new", "1").unwrap();
    assert_eq!(scene.versions(), listed(&[("changed", 1), ("removed", 1), ("same", 1)]));
    scene.follower.rescan().unwrap();
    assert_eq!(scene.versions(), listed(&[("changed", 2), ("new", 1), ("same", 1)]));
}

/// A look at all files, of which there may be many, followed each of these calls.
#[test]
fn an_undo_a_restore_and_a_program_are_followed_where_they_changed_something() {
    let followed = Followed::new(&Backend::Host);
    followed.write("a.txt", "one");
    let before = followed.files.snapshot("before").unwrap();
    followed.write("a.txt", "two");
    let others = Workspace::host(followed.directory.path().join("root")).unwrap();
    others.write("theirs.txt", "by another program").unwrap();
    followed.files.undo().unwrap();
    assert_eq!(followed.versions(), listed(&[("a.txt", 3)]));
    let path = wink_fs::RestoreOptions::default().path(wink_fs::TreePath::parse("a.txt").unwrap());
    followed.files.write("a.txt", "three").unwrap();
    followed.files.restore_with(&before, &path).unwrap();
    assert_eq!(followed.versions().len(), 1);
    let name = TreePath::parse("made.txt").unwrap();
    let options = WriteOptions::default();
    let make =
        |place: &mut wink_fs::ExecutionPlace<'_>| ops::write(place.files, &name, "", &options);
    followed.files.as_executor("make", make).unwrap();
    assert_eq!(followed.versions().len(), 2);
    followed.follower.rescan().unwrap();
    assert_eq!(followed.versions().len(), 3);
}
