//! Checkpoints: one tag for the files and the session, taken and restored together.
//!
//! ```
//! use wink_agent::checkpoint;
//! use wink_agent::session::Session;
//! use wink_fs::Workspace;
//!
//! let (session, files) = (Session::new(), Workspace::memory());
//! files.write("code.py", "v1")?;
//! checkpoint::take(&session, &files, "vfs", "turn-5")?;
//!
//! files.write("code.py", "v2")?;
//! checkpoint::go_back(&session, &files, "vfs", "turn-5")?;
//! assert_eq!(files.read("code.py")?.content, "v1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dump;
mod history;

use std::time::{Duration, SystemTime};

use wink_fs::{
    ErrorKind, Pin, Receipt, Result as FileResult, Snapshot, SnapshotId, SnapshotStore, Workspace,
};

pub(crate) use self::dump::archive_beside;
pub use self::dump::{Dumped, dump_with_files, dump_with_history, resume};
pub(crate) use self::history::bring_in;

use crate::session::{FilesystemSnapshotRef, Session, SessionError, SessionSnapshot, SnapshotName};

/// How long a snapshot of files is kept for a session that no program uses any more.
const PINNED_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Describes a state of files and session.
///
/// ```
/// use wink_agent::{checkpoint, session::Session};
///
/// let (session, files) = (Session::new(), wink_fs::Workspace::memory());
/// let taken = checkpoint::take(&session, &files, "vfs", "turn-5")?;
/// assert_eq!(taken.session.files[0].snapshot_id(), Some(taken.files.id));
/// assert_eq!(taken.session.tag, taken.files.tag);
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Checkpoint {
    /// What was kept of the session.
    pub session: SessionSnapshot,
    /// What was kept of the files.
    pub files: Snapshot,
}

/// What a return to a checkpoint did.
///
/// ```
/// use wink_agent::{checkpoint, session::Session};
///
/// let (session, files) = (Session::new(), wink_fs::Workspace::memory());
/// checkpoint::take(&session, &files, "vfs", "empty")?;
/// files.write("a.txt", "hello")?;
/// assert_eq!(checkpoint::go_back(&session, &files, "vfs", "empty")?.files.removed, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WentBack {
    /// The state that the session has now.
    pub session: SessionSnapshot,
    /// What was done to the files.
    pub files: Receipt,
}

/// Takes a snapshot of the files, then of the session, with one tag; both or neither.
///
/// The session knows by a [`FilesystemSnapshotRef`] with the key which files belong to it. Their
/// snapshot is pinned for the session, so that it is not pruned in the next thirty days.
pub fn take(
    session: &Session,
    workspace: &Workspace,
    filesystem_key: &str,
    tag: &str,
) -> Result<Checkpoint, SessionError> {
    session.check_new_tag(tag)?;
    let files = workspace.snapshot(tag)?;
    let backend = workspace.properties().backend.as_str();
    let reference = FilesystemSnapshotRef::new(filesystem_key, files.id, backend);
    let pinned = workspace
        .snapshot_store()
        .and_then(|store| pin(session, &*store, files.id, files.created_at));
    let kept = pinned
        .map_err(SessionError::from)
        .and_then(|()| session.snapshot_with_files(tag, reference));
    match kept {
        Ok(session) => Ok(Checkpoint { session, files }),
        Err(error) => {
            // The files are as they were; at most, a snapshot that no session refers to could remain.
            let _ = drop_files(session, workspace, files.id);
            Err(error)
        }
    }
}

/// Restores the files, then the session, from a checkpoint; both or neither.
///
/// A safety snapshot is taken first, which the receipt names. If the session cannot go back, the files are
/// restored from it.
pub fn go_back(
    session: &Session,
    workspace: &Workspace,
    filesystem_key: &str,
    name: impl Into<SnapshotName>,
) -> Result<WentBack, SessionError> {
    let snapshot = session.find_snapshot(name)?;
    let id = files_of(&snapshot, filesystem_key)?;
    let files = workspace.restore(id)?;
    match session.rollback(&snapshot) {
        Ok(session) => Ok(WentBack { session, files }),
        Err(error) => Err(go_forth(workspace, &files, error)),
    }
}

/// Forgets a checkpoint of a session; its files are not pinned any more and lose their tag.
///
/// The session forgets it last: if something fails before, it can be tried again.
pub fn forget(
    session: &Session,
    workspace: &Workspace,
    filesystem_key: &str,
    name: impl Into<SnapshotName>,
) -> Result<SessionSnapshot, SessionError> {
    let snapshot = session.find_snapshot(name)?;
    let id = files_of(&snapshot, filesystem_key)?;
    workspace.snapshot_store()?.unpin(&id, &owner(session))?;
    match workspace.tag(id, None).map_err(|error| (error.kind(), error)) {
        // It is gone already, or nothing but its tag ever kept it.
        Ok(_) | Err((ErrorKind::SnapshotNotFound | ErrorKind::Unsupported, _)) => {
            session.forget_snapshot(&snapshot)
        }
        Err((_, error)) => Err(error.into()),
    }
}

fn files_of(snapshot: &SessionSnapshot, key: &str) -> Result<SnapshotId, SessionError> {
    let reference = snapshot.files.iter().find(|files| files.filesystem_key == key);
    reference.and_then(FilesystemSnapshotRef::snapshot_id).ok_or_else(|| {
        SessionError::NotACheckpoint {
            name: snapshot.tag.clone().unwrap_or_else(|| snapshot.id.to_string()),
            filesystem_key: key.to_owned(),
        }
    })
}

/// Puts the files as they were before they went back.
fn go_forth(workspace: &Workspace, receipt: &Receipt, error: SessionError) -> SessionError {
    let Some(saved) = receipt.saved else { return error };
    match workspace.restore(saved) {
        Ok(_) => error,
        Err(files) => SessionError::HalfWay { session: Box::new(error), files },
    }
}

/// Returns the name under which a session pins snapshots.
fn owner(session: &Session) -> String {
    format!("session {}", session.id())
}

/// Keeps a snapshot for a session from a time on.
fn pin(
    session: &Session,
    store: &dyn SnapshotStore,
    id: SnapshotId,
    from: SystemTime,
) -> FileResult<()> {
    let mut pin = Pin::new(id, owner(session));
    pin.expires = from.checked_add(PINNED_FOR);
    match store.pin(&pin) {
        // Without pins, the tag keeps it.
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(()),
        result => result,
    }
}

fn drop_files(session: &Session, workspace: &Workspace, id: SnapshotId) -> FileResult<bool> {
    let store = workspace.snapshot_store()?;
    store.unpin(&id, &owner(session))?;
    let deleted = store.delete(&id)?;
    // So that no call is told of it as the last one.
    workspace.current_snapshot_id()?;
    Ok(deleted)
}
