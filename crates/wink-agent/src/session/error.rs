//! Errors of sessions.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use wink_fs::{Error, ErrorKind, Operation};

use super::id::SessionId;

/// An error of a session, with what to do next.
///
/// ```
/// use wink_agent::session::{Session, SessionError};
/// use wink_fs::ErrorKind;
///
/// let error = Session::new().rollback("turn-5").unwrap_err();
/// assert!(matches!(error, SessionError::SnapshotNotFound { .. }));
/// assert_eq!(error.kind(), ErrorKind::SnapshotNotFound);
/// ```
#[derive(Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum SessionError {
    /// No snapshot of the session has this id or tag.
    SnapshotNotFound { name: String },
    /// A snapshot of the session has this tag already.
    SnapshotExists { tag: String },
    /// This text cannot be a snapshot's tag.
    InvalidTag { why: &'static str },
    /// Another type, or a slice of another kind, has this name in the session.
    SliceMismatch { slice: String },
    /// What was loaded under this name is not what the type says it is.
    SliceUnreadable { slice: String, why: String },
    /// An item of the slice has no form in JSON.
    NotSerializable { slice: String, why: String },
    /// A reducer panicked; the session is as it was.
    ReducerPanicked { slice: &'static str, event: &'static str, message: String },
    /// A tool would change the session that it is called for, before it is known that the call goes well.
    DuringCall,
    /// Two sessions of one tree have the same id.
    DuplicateSession { id: SessionId },
    /// A line of a dump is not what a line must be.
    Malformed { line: usize, why: String },
    /// A line of a dump needs a version or a feature that is not known.
    UnknownFormat { line: usize, what: String },
    /// A line of a dump names a parent that is not in it.
    UnknownParent { line: usize, parent: SessionId },
    /// A line of a dump names a parent that is not above it: the lines run in a circle or out of order.
    ParentNotBefore { line: usize, parent: SessionId },
    /// A line of a dump is longer than is allowed.
    LineTooLong { line: usize, max_bytes: u64 },
    /// The snapshot was not taken together with files of this key.
    NotACheckpoint { name: String, filesystem_key: String },
    /// The session could not go back, and then the files could not go forth again.
    HalfWay { session: Box<SessionError>, files: Error },
    /// A file could not be read or written.
    File(Error),
}

impl SessionError {
    /// Returns the kind of failure, which callers map to an exit code or HTTP status.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::SnapshotNotFound { .. } => ErrorKind::SnapshotNotFound,
            Self::SnapshotExists { .. } => ErrorKind::AlreadyExists,
            Self::InvalidTag { .. } | Self::NotSerializable { .. } => ErrorKind::InvalidArgument,
            Self::SliceMismatch { .. } | Self::DuplicateSession { .. } => ErrorKind::Conflict,
            Self::ReducerPanicked { .. } => ErrorKind::Io,
            Self::DuringCall => ErrorKind::Unsupported,
            Self::UnknownFormat { .. } | Self::NotACheckpoint { .. } => {
                ErrorKind::SnapshotIncompatible
            }
            Self::LineTooLong { .. } => ErrorKind::TooLarge,
            Self::HalfWay { files: error, .. } | Self::File(error) => error.kind(),
            Self::SliceUnreadable { .. }
            | Self::Malformed { .. }
            | Self::UnknownParent { .. }
            | Self::ParentNotBefore { .. } => ErrorKind::Corrupt,
        }
    }

    pub(super) fn malformed(line: usize, why: impl fmt::Display) -> Self {
        Self::Malformed { line, why: why.to_string() }
    }

    pub(super) fn system(operation: Operation, error: io::Error) -> Self {
        Self::File(Error::system(operation, error))
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { line, .. }
            | Self::UnknownFormat { line, .. }
            | Self::UnknownParent { line, .. }
            | Self::ParentNotBefore { line, .. }
            | Self::LineTooLong { line, .. } => {
                write!(f, "load session: line {line} ")?;
                self.write_line_problem(f)
            }
            _ => self.write_problem(f),
        }
    }
}

impl SessionError {
    fn write_problem(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SnapshotNotFound { name } => {
                write!(f, "the session has no snapshot `{name}`; list its snapshots")
            }
            Self::SnapshotExists { tag } => {
                write!(f, "a snapshot of the session has the tag `{tag}` already; give another")
            }
            Self::InvalidTag { why } => write!(f, "{why}"),
            Self::SliceMismatch { slice } => {
                write!(
                    f,
                    "another type or kind of slice is named `{slice}`; give each its own name"
                )
            }
            Self::SliceUnreadable { slice, why } => {
                write!(f, "the loaded items of `{slice}` are not what its type says: {why}")
            }
            Self::NotSerializable { slice, why } => {
                write!(f, "an item of `{slice}` has no form in JSON: {why}")
            }
            Self::ReducerPanicked { slice, event, message } => write!(
                f,
                "the reducer of `{slice}` for {event} panicked and nothing was changed: {message}"
            ),
            Self::DuringCall => write!(
                f,
                "a tool cannot change the session that it is called for; give events to the call, which \
                 dispatches them when it goes well"
            ),
            Self::DuplicateSession { id } => {
                write!(f, "two sessions of the tree have the id {id}; give each its own")
            }
            Self::NotACheckpoint { name, filesystem_key } => write!(
                f,
                "the snapshot `{name}` was not taken together with files of `{filesystem_key}`; \
                 roll back the session alone, or restore the files by themselves"
            ),
            Self::HalfWay { session, files } => write!(
                f,
                "the files went back, the session did not ({session}), and the files could not be \
                 put as they were ({files}); restore them from their newest snapshot"
            ),
            Self::File(error) => write!(f, "{error}"),
            _ => self.write_line_problem(f),
        }
    }

    fn write_line_problem(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { why, .. } => write!(f, "is damaged: {why}"),
            Self::UnknownFormat { what, .. } => {
                write!(f, "needs {what}, which is not known; use the version that wrote it")
            }
            Self::UnknownParent { parent, .. } => {
                write!(f, "names the parent {parent}, which the dump does not have")
            }
            Self::ParentNotBefore { parent, .. } => {
                write!(f, "names the parent {parent}, which must come on a line before it")
            }
            Self::LineTooLong { max_bytes, .. } => {
                write!(f, "has more than {max_bytes} bytes; allow more if you trust the file")
            }
            _ => Ok(()),
        }
    }
}

// The messages contain the inner error, so the source is the inner error's own.
impl StdError for SessionError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::HalfWay { files: error, .. } | Self::File(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Error> for SessionError {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}
