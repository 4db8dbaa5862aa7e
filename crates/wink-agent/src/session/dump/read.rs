//! Reading a tree of sessions.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use wink_fs::{Error, ErrorKind, Operation};

use super::assemble::assemble;
use super::line::{self, Line};
use crate::session::Session;
use crate::session::error::SessionError;

const MAX_LINE_BYTES: u64 = 256 * 1024 * 1024;
const MAX_SESSIONS: usize = 100_000;

/// Limits for reading a dump that another program may have written.
///
/// ```
/// use wink_agent::session::{LoadOptions, SessionError, read_session_tree};
///
/// let options = LoadOptions::default().max_line_bytes(10);
/// let error = read_session_tree(&b"{\"format\":\"wink session\"}\n"[..], &options).unwrap_err();
/// assert!(matches!(error, SessionError::LineTooLong { line: 1, max_bytes: 10 }));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The longest line, in bytes.
    pub max_line_bytes: u64,
    /// The largest number of sessions.
    pub max_sessions: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { max_line_bytes: MAX_LINE_BYTES, max_sessions: MAX_SESSIONS }
    }
}

impl LoadOptions {
    /// Sets the longest line, in bytes.
    #[must_use]
    pub fn max_line_bytes(mut self, bytes: u64) -> Self {
        self.max_line_bytes = bytes;
        self
    }

    /// Sets the largest number of sessions.
    #[must_use]
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions;
        self
    }
}

/// Reads a dump and returns its root; see [`dump_session_tree`](super::dump_session_tree).
///
/// The items of a slice become those of a type when the program first asks for them. Slices that the program
/// never asks for, and unknown fields, are dumped again as they were. Reducers, subscribers and snapshots are
/// the program's and not in a dump.
pub fn load_session_tree(path: impl AsRef<Path>) -> Result<Session, SessionError> {
    load_session_tree_with(path, &LoadOptions::default())
}

/// Reads a dump within bounds and returns its root.
pub fn load_session_tree_with(
    path: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<Session, SessionError> {
    read_session_tree(open_dump(path.as_ref())?, options)
}

/// Opens a file of a dump.
pub(crate) fn open_dump(path: &Path) -> Result<BufReader<File>, SessionError> {
    // Opening a FIFO would wait for its other end.
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(Error::new(Operation::Read, ErrorKind::InvalidArgument)
            .with_detail("it is not a file; name the dump of a session")
            .into());
    }
    Ok(BufReader::new(File::open(path).map_err(failed)?))
}

/// Reads the lines of a dump and returns its root.
///
/// ```
/// use wink_agent::session::{FilesystemSnapshotRef, LoadOptions, Session};
/// use wink_agent::session::{read_session_tree, write_session_tree};
///
/// let session = Session::new();
/// session.seed([FilesystemSnapshotRef::new("vfs", wink_fs::SnapshotId::random(), "host")])?;
/// let mut dump = Vec::new();
/// write_session_tree(&session, &mut dump)?;
/// assert_eq!(read_session_tree(&dump[..], &LoadOptions::default())?.id(), session.id());
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
pub fn read_session_tree(
    mut from: impl BufRead,
    options: &LoadOptions,
) -> Result<Session, SessionError> {
    let mut lines: Vec<Line> = Vec::new();
    while let Some(text) = next_line(&mut from, lines.len() + 1, options.max_line_bytes)? {
        if lines.len() == options.max_sessions {
            let why = format!("it has more than {} sessions", options.max_sessions);
            return Err(SessionError::malformed(lines.len() + 1, why));
        }
        lines.push(line::decode(lines.len() + 1, &text)?);
    }
    assemble(lines)
}

/// Reads a line without its ending; none at the end of the file.
pub(super) fn next_line(
    from: &mut impl BufRead,
    number: usize,
    max_bytes: u64,
) -> Result<Option<String>, SessionError> {
    let mut bytes = Vec::new();
    let limit = max_bytes.saturating_add(1);
    from.by_ref().take(limit).read_until(b'\n', &mut bytes).map_err(failed)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let complete = bytes.pop_if(|last| *last == b'\n').is_some();
    if !complete && bytes.len() as u64 > max_bytes {
        return Err(SessionError::LineTooLong { line: number, max_bytes });
    }
    String::from_utf8(bytes).map(Some).map_err(|why| SessionError::malformed(number, why))
}

fn failed(error: io::Error) -> SessionError {
    SessionError::system(Operation::Read, error)
}
