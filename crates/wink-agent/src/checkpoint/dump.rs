//! Dumps a session and its files, side by side.

use std::path::{Path, PathBuf};

use wink_fs::archive::{self, ExportOptions};
use wink_fs::{SnapshotId, TreePath, Workspace};

use super::history::{self, Draft};
use crate::WithoutSpecial;
use crate::session::{Session, SessionError, directory_of, dump_even_empty, load_session_tree};

/// What the name of an archive beside a dump ends with.
const ARCHIVE: &str = "fs.zip";

/// The files of a dump.
///
/// ```
/// use wink_agent::{checkpoint, session::Session};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let (session, files) = (Session::new(), wink_fs::Workspace::memory());
/// let dumped = checkpoint::dump_with_files(&session, &files, directory.path())?;
/// assert!(dumped.session.ends_with(format!("{}.jsonl", session.id())));
/// assert!(dumped.archive.ends_with(format!("{}.fs.zip", session.id())));
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Dumped {
    /// The dump of the session and all below it.
    pub session: PathBuf,
    /// The archive of the files.
    pub archive: PathBuf,
    /// The directory of the snapshots that the session refers to, if it was asked for.
    pub history: Option<PathBuf>,
    /// The snapshots that the session refers to and that are not in it, because they are not kept any more
    /// or are of other files.
    pub gone: Vec<SnapshotId>,
    /// The FIFOs, sockets and devices among the files, which are not in the archive.
    pub left_out: Vec<TreePath>,
}

/// Writes `{session_id}.fs.zip`, then `{session_id}.jsonl`, into a directory or beside a file.
///
/// So where the dump is, the archive is. The session's own line is written even if it has no slices.
pub fn dump_with_files(
    session: &Session,
    workspace: &Workspace,
    target: impl AsRef<Path>,
) -> Result<Dumped, SessionError> {
    let directory = directory_of(target.as_ref());
    let (archive, left_out) = export(session, workspace, &directory)?;
    let session = dump_even_empty(session, &directory)?;
    Ok(Dumped { session, archive, history: None, gone: Vec::new(), left_out })
}

/// Like [`dump_with_files`], and writes `{session_id}.history/`: the snapshots of files that the session and
/// all below it refer to, and the states that they keep, so that after [`resume`] they go back to them.
///
/// The directory is complete or not there; one that an earlier dump left takes its place only then.
///
/// ```
/// use wink_agent::{checkpoint, session::Session};
/// use wink_fs::Workspace;
///
/// # let directory = tempfile::tempdir().unwrap();
/// let (session, files) = (Session::new(), Workspace::memory());
/// files.write("a.txt", "one")?;
/// checkpoint::take(&session, &files, "vfs", "turn-1")?;
/// files.write("a.txt", "two")?;
/// let dumped = checkpoint::dump_with_history(&session, &files, directory.path())?;
///
/// let elsewhere = Workspace::memory();
/// let resumed = checkpoint::resume(&dumped.session, &elsewhere)?;
/// assert_eq!(elsewhere.read("a.txt")?.content, "two");
/// checkpoint::go_back(&resumed, &elsewhere, "vfs", "turn-1")?;
/// assert_eq!(elsewhere.read("a.txt")?.content, "one");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dump_with_history(
    session: &Session,
    workspace: &Workspace,
    target: impl AsRef<Path>,
) -> Result<Dumped, SessionError> {
    let directory = directory_of(target.as_ref());
    let mut draft = Draft::write(session, workspace, &directory)?;
    let (archive, left_out) = export(session, workspace, &directory)?;
    let gone = std::mem::take(&mut draft.gone);
    let history = Some(draft.publish(session, &directory)?);
    let session = dump_even_empty(session, &directory)?;
    Ok(Dumped { session, archive, history, gone, left_out })
}

/// Writes the archive; returns where, and what is not in it.
fn export(
    session: &Session,
    workspace: &Workspace,
    directory: &Path,
) -> Result<(PathBuf, Vec<TreePath>), SessionError> {
    let archive = directory.join(format!("{}.{ARCHIVE}", session.id()));
    let tree = WithoutSpecial::of(workspace.tree_without_excluded());
    // As private as the session beside it.
    archive::export_ambient(&tree, &archive, &ExportOptions::default().private(true))?;
    Ok((archive, tree.left_out()))
}

/// Loads a dump, and replaces the files with those of the archive beside it, on any backend.
///
/// If there is a history beside it, the workspace gets the snapshots that the session refers to, pinned
/// for it, and the session the states that it kept. A tag that another snapshot has stays with that one.
/// If something cannot be read, files and snapshots stay unchanged.
///
/// ```
/// use wink_agent::{checkpoint, session::Session};
/// use wink_fs::Workspace;
///
/// # let directory = tempfile::tempdir().unwrap();
/// let (session, files) = (Session::new(), Workspace::memory());
/// files.write("a.txt", "hello")?;
/// let dumped = checkpoint::dump_with_files(&session, &files, directory.path())?;
///
/// let elsewhere = Workspace::memory(); // or any other
/// let resumed = checkpoint::resume(&dumped.session, &elsewhere)?;
/// assert_eq!(resumed.id(), session.id());
/// assert_eq!(elsewhere.read("a.txt")?.content, "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn resume(dump: impl AsRef<Path>, workspace: &Workspace) -> Result<Session, SessionError> {
    let session = load_session_tree(&dump)?;
    let brought = history::bring_in(&session, dump.as_ref(), workspace)?;
    workspace.import_archive(archive_beside(dump.as_ref()))?;
    brought.keep(&session);
    Ok(session)
}

/// Returns where the archive of a dump is.
pub(crate) fn archive_beside(dump: &Path) -> PathBuf {
    dump.with_extension(ARCHIVE)
}
