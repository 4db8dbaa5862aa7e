//! The listing of files in a session.

use std::time::{Duration, SystemTime};

use wink_agent::session::{
    Encoding, FileChange, FilesChanged, FilesystemSnapshotRef, Session, VirtualFileSystem,
};
use wink_fs::{SnapshotId, TreePath};

fn write(session: &Session, path: &str, millis: u64) {
    let at = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
    let change = FileChange::written(TreePath::parse(path).unwrap(), 1, Some(Encoding::Binary));
    session.dispatch(FilesChanged::new(at, [change])).unwrap();
}

fn versions(session: &Session) -> Vec<(String, u64)> {
    let listing = session.query::<VirtualFileSystem>().unwrap().latest();
    let listing = listing.as_deref().cloned().unwrap_or_default();
    listing.files().map(|file| (file.path.to_string(), file.version)).collect()
}

#[test]
fn a_session_begins_without_a_listing_and_has_one_after_the_first_write() {
    let session = Session::new();
    assert!(session.query::<VirtualFileSystem>().unwrap().latest().is_none());
    write(&session, "b", 1);
    write(&session, "a", 2);
    write(&session, "b", 3);
    assert_eq!(versions(&session), [("a".into(), 1), ("b".into(), 2)]);
    assert_eq!(session.query::<VirtualFileSystem>().unwrap().len(), 1);
}

#[test]
fn versions_go_back_with_a_rollback() {
    let session = Session::new();
    write(&session, "a", 1);
    session.snapshot("before").unwrap();
    write(&session, "a", 2);
    write(&session, "b", 2);
    session.rollback("before").unwrap();
    assert_eq!(versions(&session), [("a".into(), 1)]);
    write(&session, "a", 3);
    assert_eq!(versions(&session), [("a".into(), 2)]);
}

#[test]
fn references_to_snapshots_of_files_go_back_too() {
    let session = Session::new();
    session.snapshot("before").unwrap();
    session.dispatch(FilesystemSnapshotRef::new("vfs", SnapshotId::random(), "host")).unwrap();
    assert_eq!(session.query::<FilesystemSnapshotRef>().unwrap().len(), 1);
    session.rollback("before").unwrap();
    assert!(session.query::<FilesystemSnapshotRef>().unwrap().is_empty());
}
