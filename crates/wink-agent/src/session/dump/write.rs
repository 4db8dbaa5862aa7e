//! Writing a tree of sessions.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use wink_fs::Operation;

use super::line;
use crate::session::Session;
use crate::session::error::SessionError;
use crate::session::id::SessionId;
use crate::session::slices::Slices;

/// Writes a session and all below it to `{session_id}.jsonl`, and returns where that is.
///
/// The target is a directory, or a file beside which the dump is written, whose path is the program's
/// own. A session without slices is left out, unless one below it has some; if none has any, nothing
/// is written. The file is complete or not there, and only its owner may read it: tool calls hold what
/// files hold.
///
/// ```
/// use wink_agent::session::{Session, dump_session_tree, load_session_tree};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Debug, Serialize, Deserialize)]
/// # struct Fact(String);
/// # impl wink_agent::session::Slice for Fact { const NAME: &'static str = "fact"; }
///
/// # let directory = tempfile::tempdir().unwrap();
/// let session = Session::new();
/// assert_eq!(dump_session_tree(&session, directory.path())?, None);
///
/// session.seed([Fact("water is wet".into())])?;
/// let path = dump_session_tree(&session, directory.path())?.unwrap();
/// let loaded = load_session_tree(path)?;
/// assert_eq!(loaded.query::<Fact>()?.latest().unwrap().0, "water is wet");
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
pub fn dump_session_tree(
    session: &Session,
    target: impl AsRef<Path>,
) -> Result<Option<PathBuf>, SessionError> {
    let lines = lines(dumped(session))?;
    if lines.is_empty() {
        return Ok(None);
    }
    publish(session, &directory_of(target.as_ref()), &lines).map(Some)
}

/// Writes a session and all below it into a directory, even if no session has slices.
pub(crate) fn dump_even_empty(
    session: &Session,
    directory: &Path,
) -> Result<PathBuf, SessionError> {
    let mut dumped = dumped(session);
    if dumped.is_empty() {
        dumped.push((session.clone(), Slices::default()));
    }
    publish(session, directory, &lines(dumped)?)
}

/// Writes a session and all below it, a line each, and returns the number of lines.
///
/// ```
/// use wink_agent::session::{Session, write_session_tree};
///
/// let mut out = Vec::new();
/// assert_eq!(write_session_tree(&Session::new(), &mut out)?, 0);
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
pub fn write_session_tree(session: &Session, mut out: impl Write) -> Result<usize, SessionError> {
    let lines = lines(dumped(session))?;
    write_lines(&mut out, &lines).map_err(|error| SessionError::system(Operation::Write, error))?;
    Ok(lines.len())
}

fn lines(dumped: Vec<(Session, Slices)>) -> Result<Vec<Vec<u8>>, SessionError> {
    let mut ids = HashSet::new();
    if let Some((twice, _)) = dumped.iter().find(|(session, _)| !ids.insert(session.id())) {
        return Err(SessionError::DuplicateSession { id: twice.id() });
    }
    let count = dumped.len();
    let sessions = |place| (place == 0).then_some(count);
    let lines = dumped.iter().enumerate();
    lines.map(|(place, (session, slices))| line::encode(session, slices, sessions(place))).collect()
}

/// Returns the sessions that have slices and those above them, each with its slices of one moment.
fn dumped(root: &Session) -> Vec<(Session, Slices)> {
    let walked = root.walk().into_iter().map(|session| {
        let slices = session.slices().clone();
        (session, slices)
    });
    let mut walked: Vec<_> = walked.collect();
    let mut needed: HashSet<SessionId> = HashSet::new();
    // Each comes before its children, so from the end every session knows whether one below is needed.
    for (session, slices) in walked.iter().rev() {
        let has_slices = slices.each().any(|(_, _, cell)| !cell.is_absent());
        if !has_slices && !needed.contains(&session.id()) {
            continue;
        }
        needed.insert(session.id());
        needed.extend(session.parent_id());
    }
    walked.retain(|(session, _)| needed.contains(&session.id()));
    walked
}

fn write_lines(out: &mut impl Write, lines: &[Vec<u8>]) -> io::Result<()> {
    for line in lines {
        out.write_all(line)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Returns the directory that a target stands for.
pub(crate) fn directory_of(target: &Path) -> PathBuf {
    if target.is_dir() {
        return target.to_path_buf();
    }
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

fn publish(
    session: &Session,
    directory: &Path,
    lines: &[Vec<u8>],
) -> Result<PathBuf, SessionError> {
    let path = directory.join(format!("{}.jsonl", session.id()));
    let written = write_file(directory, &path, lines);
    written.map_err(|error| SessionError::system(Operation::Write, error))?;
    Ok(path)
}

/// Writes a file under another name, syncs it and renames it.
fn write_file(directory: &Path, path: &Path, lines: &[Vec<u8>]) -> io::Result<()> {
    let mut draft =
        tempfile::Builder::new().prefix(".wink-dump-").suffix(".tmp").tempfile_in(directory)?;
    write_lines(&mut io::BufWriter::new(draft.as_file_mut()), lines)?;
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|failed| failed.error)?;
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    Ok(())
}
