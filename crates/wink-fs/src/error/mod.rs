//! One error for the whole crate: operation, path, kind.

mod kind;
mod system;
mod worded;

use std::error::Error as StdError;
use std::fmt;
use std::io;

pub use kind::ErrorKind;
pub(crate) use worded::{damaged, worded};

use crate::hash::ContentHash;
use crate::path::{TreePath, needs_escape};

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Names the operation that failed.
///
/// ```
/// assert_eq!(wink_fs::Operation::Mkdir.to_string(), "mkdir");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Operation {
    /// Turning text into a path, hash or other value.
    Resolve,
    /// Opening a workspace.
    Open,
    /// Reading content.
    Read,
    /// Reading what is known of an entry.
    Stat,
    /// Listing a directory.
    List,
    /// Writing content.
    Write,
    /// Deleting entries.
    Delete,
    /// Making a directory.
    Mkdir,
    /// Making a link.
    Symlink,
    /// Changing what is kept of a file's permissions.
    SetMode,
    /// Moving an entry.
    Rename,
    /// Copying entries.
    Copy,
    /// Making the files those of another tree.
    Replace,
    /// Taking down the files of one moment.
    Capture,
    /// Bringing in host files.
    Mount,
    /// Finding files by name.
    Glob,
    /// Finding lines by content.
    Grep,
    /// Making an archive.
    Export,
    /// Reading all files from an archive.
    Import,
    /// Reading an archive.
    OpenArchive,
    /// Keeping a state, or forgetting one.
    Snapshot,
    /// Going back to a state that was kept.
    Restore,
    /// Finding out where two states differ.
    Diff,
    /// Making an independent workspace of a state.
    Fork,
    /// Bringing the changes of another workspace in.
    Merge,
    /// Taking a step out.
    Revert,
    /// Taking back an operation, or doing it again.
    Undo,
    /// Looking for damage.
    Verify,
    /// Giving back the space of what is not needed any more.
    Prune,
    /// Putting damage aside.
    Repair,
    /// Opening or making a store of snapshots.
    OpenStore,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolve",
            Self::Open => "open",
            Self::Read => "read",
            Self::Stat => "stat",
            Self::List => "list",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Mkdir => "mkdir",
            Self::Symlink => "symlink",
            Self::SetMode => "set mode",
            Self::Rename => "rename",
            Self::Copy => "copy",
            Self::Replace => "replace",
            Self::Capture => "capture",
            Self::Mount => "mount",
            Self::Glob => "glob",
            Self::Grep => "grep",
            Self::Export => "export",
            Self::Import => "import",
            Self::OpenArchive => "open archive",
            Self::Snapshot => "snapshot",
            Self::Restore => "restore",
            Self::Diff => "diff",
            Self::Fork => "fork",
            Self::Merge => "merge",
            Self::Revert => "revert",
            Self::Undo => "undo",
            Self::Verify => "verify",
            Self::Prune => "prune",
            Self::Repair => "repair",
            Self::OpenStore => "open store",
        })
    }
}

/// An error: the operation that failed, the path, the [kind](ErrorKind), and what to do next.
///
/// Its text is one sentence for a model or a person and never shows a path of the host. What the
/// system said is kept as [`source`](StdError::source).
///
/// ```
/// use wink_fs::{ErrorKind, Workspace};
///
/// let error = Workspace::memory().read("src/main.rs").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// assert_eq!(error.path(), Some("src/main.rs"));
/// assert_eq!(
///     error.to_string(),
///     "read `src/main.rs`: nothing is there; list its parent to see what is"
/// );
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    operation: Operation,
    kind: ErrorKind,
    path: Option<String>,
    detail: Option<String>,
    current_hash: Option<ContentHash>,
    source: Option<io::Error>,
}

impl Error {
    /// Makes an error that says what its kind says.
    pub fn new(operation: Operation, kind: ErrorKind) -> Self {
        let (path, detail, current_hash, source) = (None, None, None, None);
        Self(Box::new(Inner { operation, kind, path, detail, current_hash, source }))
    }

    /// Makes an error of a system failure, with the kind that fits it.
    pub fn system(operation: Operation, source: impl Into<io::Error>) -> Self {
        let source = source.into();
        let (kind, detail) = system::classify(&source);
        let mut error = Self::new(operation, kind);
        error.0.detail = detail;
        error.0.source = Some(source);
        error
    }

    /// Makes the error of a path that is, or passes through, a symbolic link.
    pub fn through_link(operation: Operation, path: &TreePath) -> Self {
        Self::new(operation, ErrorKind::PermissionDenied).with_path(path).with_detail(
            "it is, or passes through, a symbolic link, and links are never followed; \
             use the path the link stands for",
        )
    }

    /// Names the workspace path it happened at.
    #[must_use]
    pub fn with_path(mut self, path: &TreePath) -> Self {
        self.0.path = Some(path.to_string());
        self
    }

    /// Names a path that is only text, such as one that does not parse.
    #[must_use]
    pub fn with_path_text(mut self, text: &str) -> Self {
        self.0.path = Some(printable(text));
        self
    }

    /// Replaces the kind's own sentence by a more exact one.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Carries the hash of what is there now, for a Conflict.
    #[must_use]
    pub fn with_current_hash(mut self, hash: ContentHash) -> Self {
        self.0.current_hash = Some(hash);
        self
    }

    /// Sets the operation to the one that the caller asked for.
    #[must_use]
    pub fn during(mut self, operation: Operation) -> Self {
        self.0.operation = operation;
        self
    }

    /// Returns what kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns whether it says that nothing is there: a link above a path means that nothing is below.
    ///
    /// ```
    /// let error = wink_fs::Workspace::memory().stat("nowhere").unwrap_err();
    /// assert!(error.is_absence());
    /// ```
    pub fn is_absence(&self) -> bool {
        matches!(self.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied)
    }

    /// Returns whether the process was short of something that other processes may give back: files, memory.
    pub(crate) fn is_shortage(&self) -> bool {
        const SHORT_OF: [i32; 4] = [4, 12, 23, 24]; // EINTR, ENOMEM, ENFILE, EMFILE
        let code = self.0.source.as_ref().and_then(io::Error::raw_os_error);
        code.is_some_and(|code| SHORT_OF.contains(&code))
    }

    /// Returns the operation that failed.
    pub fn operation(&self) -> Operation {
        self.0.operation
    }

    /// Returns the text of the workspace path it happened at.
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// Returns the hash of the content that is there now, when a Conflict knows it.
    pub fn current_hash(&self) -> Option<ContentHash> {
        self.0.current_hash
    }
}

/// Bounds and cleans text that was refused before it is shown in a message.
fn printable(text: &str) -> String {
    const SHOWN: usize = 200;
    let mut shown: String =
        text.chars().take(SHOWN).map(|c| if needs_escape(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { operation, kind, path, detail, .. } = &*self.0;
        write!(f, "{operation}")?;
        if let Some(path) = path {
            write!(f, " `{path}`")?;
        }
        write!(f, ": {}", detail.as_deref().unwrap_or(kind.sentence()))
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}
