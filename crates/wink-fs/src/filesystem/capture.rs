//! Captures: the files of one moment.

use std::fmt;
use std::iter::Sum;
use std::sync::Arc;

use crate::path::TreePath;
use crate::tree::Tree;

/// The totals of a tree.
///
/// ```
/// use wink_fs::{Backend, MemoryBackend, TreePath, WriteOptions, ops};
///
/// let mut files = MemoryBackend::new();
/// ops::write(&mut files, &TreePath::parse("a/b.txt")?, "hello", &WriteOptions::default())?;
/// let totals = files.capture(&Default::default())?.totals;
/// assert_eq!((totals.files, totals.directories, totals.bytes), (1, 1, 5));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Totals {
    /// The number of files and links.
    pub files: u64,
    /// The number of directories, without the root.
    pub directories: u64,
    /// The total size of all files.
    pub bytes: u64,
}

impl Totals {
    /// Makes the value, for a backend.
    pub fn new(files: u64, directories: u64, bytes: u64) -> Self {
        Self { files, directories, bytes }
    }

    /// Replaces a part of these totals.
    pub(crate) fn with(self, added: Self, taken: Self) -> Self {
        Self {
            files: self.files + added.files - taken.files,
            directories: self.directories + added.directories - taken.directories,
            bytes: self.bytes + added.bytes - taken.bytes,
        }
    }
}

impl Sum for Totals {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| sum.with(one, Self::default()))
    }
}

/// The files of one moment.
///
/// ```
/// use wink_fs::{Backend, Filesystem, MemoryBackend, Tree, TreePath};
///
/// let mut files = MemoryBackend::new();
/// let before = files.capture(&Default::default())?;
/// files.create_dir(&TreePath::parse("later")?)?;
/// assert!(before.tree.list(&TreePath::root())?.is_empty());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Capture {
    /// The files, without what was excluded or skipped.
    pub tree: Arc<dyn Tree>,
    /// The totals of the tree.
    pub totals: Totals,
    /// Whether everything is from one moment.
    pub point_in_time: bool,
    /// What was not captured, such as a FIFO, or a directory that cannot be read.
    pub not_captured: Vec<NotCaptured>,
    /// How many directories have a hash that the backend could learn, to be faster next time.
    pub unlearnt: u64,
}

/// Why a file is missing that another program writes to without a pause.
pub(crate) const BUSY: &str = "it keeps changing";

/// Why an entry is missing that the user may not read.
pub(crate) const DENIED: &str = "permission denied";

/// An entry that could not be captured.
///
/// ```
/// use wink_fs::{Backend, MemoryBackend};
///
/// assert!(MemoryBackend::new().capture(&Default::default())?.not_captured.is_empty());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NotCaptured {
    /// Its path.
    pub path: TreePath,
    /// What it is, or why it could not be read.
    pub why: &'static str,
    /// Whether it should be captured, and could not be read: a snapshot without it is incomplete. Others, such as a
    /// socket, are in no snapshot.
    pub is_missing: bool,
}

impl NotCaptured {
    /// Names what no snapshot holds.
    pub(crate) fn special(path: TreePath, why: &'static str) -> Self {
        Self { path, why, is_missing: false }
    }

    /// Names what should be captured, and could not be read.
    pub(crate) fn missing(path: TreePath, why: &'static str) -> Self {
        Self { path, why, is_missing: true }
    }
}

impl Capture {
    /// Makes the capture of a backend that captures one moment and skips nothing.
    pub fn new(tree: Arc<dyn Tree>, totals: Totals) -> Self {
        Self { tree, totals, point_in_time: true, not_captured: Vec::new(), unlearnt: 0 }
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("totals", &self.totals).finish_non_exhaustive()
    }
}
