//! The event that tells a session what changed in its files.

use std::sync::Arc;
use std::time::SystemTime;

use wink_fs::TreePath;

use super::listed_file::Encoding;
use crate::session::moment;

/// The event of changed files, in the order in which they changed.
///
/// Every session keeps its [`VirtualFileSystem`](crate::session::VirtualFileSystem) by these events.
///
/// ```
/// use std::time::SystemTime;
/// use wink_agent::session::{FileChange, FilesChanged, Session, VirtualFileSystem};
/// use wink_fs::TreePath;
///
/// let session = Session::new();
/// let change = FileChange::written(TreePath::parse("a.txt")?, 5, None);
/// session.dispatch(FilesChanged::new(SystemTime::now(), [change]))?;
/// assert_eq!(session.query::<VirtualFileSystem>()?.latest().unwrap().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct FilesChanged {
    /// When they changed, to the millisecond.
    pub at: SystemTime,
    /// What changed.
    pub changes: Vec<FileChange>,
    /// The key of the section that owns the files, if the session may have files of other sections too.
    pub filesystem_key: Option<Arc<str>>,
}

impl FilesChanged {
    /// Tells of changes at one time.
    pub fn new(at: SystemTime, changes: impl IntoIterator<Item = FileChange>) -> Self {
        let at = moment::to_millis(at);
        let changes = changes.into_iter().collect();
        Self { at, changes, filesystem_key: None }
    }

    /// Sets the key of the section that owns the files.
    #[must_use]
    pub fn filesystem_key(mut self, key: impl Into<Arc<str>>) -> Self {
        self.filesystem_key = Some(key.into());
        self
    }
}

/// What happened to one path.
///
/// ```
/// use wink_agent::session::FileChange;
/// use wink_fs::TreePath;
///
/// let path = TreePath::parse("src")?;
/// assert_eq!(FileChange::removed(path.clone()), FileChange::Removed { path });
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum FileChange {
    /// A file has new content, or was made.
    Written { path: TreePath, size_bytes: u64, encoding: Option<Encoding> },
    /// An entry is gone, with all that was below it.
    Removed { path: TreePath },
    /// An entry moved, with all that is below it; what was at its new place is gone.
    Renamed { from: TreePath, to: TreePath },
}

impl FileChange {
    /// A file was created or has new content.
    pub fn written(path: TreePath, size_bytes: u64, encoding: Option<Encoding>) -> Self {
        Self::Written { path, size_bytes, encoding }
    }

    /// An entry was removed, with all that was below it.
    pub fn removed(path: TreePath) -> Self {
        Self::Removed { path }
    }

    /// An entry was moved, with all that is below it.
    pub fn renamed(from: TreePath, to: TreePath) -> Self {
        Self::Renamed { from, to }
    }
}
