//! What is looked at when a store is verified, and what is found.

use super::id::SnapshotId;
use super::value::Skipped;
use crate::util::progress::Progress;

/// How much of a store is verified.
///
/// ```
/// let options = wink_fs::VerifyOptions::default().data(true).subset(1, 10);
/// assert_eq!(options.subset, Some((1, 10)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// Whether the bytes of contents are read and hashed, not only their tables.
    pub data: bool,
    /// Which part of the bytes: the n-th of t, counted from 1; all parts together are everything.
    pub subset: Option<(u32, u32)>,
    /// Where it is counted how many of the bytes were read.
    pub progress: Option<Progress>,
}

impl VerifyOptions {
    /// Sets whether the bytes of contents are read and hashed.
    #[must_use]
    pub fn data(mut self, data: bool) -> Self {
        self.data = data;
        self
    }

    /// Sets that only the n-th of t parts of the bytes is read.
    #[must_use]
    pub fn subset(mut self, n: u32, t: u32) -> Self {
        self.subset = Some((n, t));
        self
    }

    /// Sets where it is counted how many of the bytes were read.
    #[must_use]
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }
}

/// Describes one thing that is wrong with a store.
///
/// ```
/// let problem = wink_fs::Problem::new("pack 1 is missing", vec![]);
/// assert!(problem.snapshots.is_empty());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// What is wrong, in a sentence.
    pub what: String,
    /// The snapshots that cannot be restored as a whole because of it.
    pub snapshots: Vec<SnapshotId>,
}

impl Problem {
    /// Describes something that is wrong.
    pub fn new(what: impl Into<String>, snapshots: Vec<SnapshotId>) -> Self {
        Self { what: what.into(), snapshots }
    }
}

/// The result of a verification; damage is a finding, not an error.
///
/// ```
/// use wink_fs::{SnapshotStore, Store, VerifyOptions};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let store = Store::create_ambient(directory.path())?;
/// let found = store.verify(&VerifyOptions::default().data(true))?;
/// assert_eq!((found.snapshots, found.problems.len()), (0, 0));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// How many snapshots there are, damaged ones included.
    pub snapshots: u64,
    /// How many packs there are, damaged ones included.
    pub packs: u64,
    /// How many objects the packs hold.
    pub objects: u64,
    /// How many bytes of contents were read and hashed.
    pub bytes_checked: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// The result of a repair.
///
/// ```
/// use wink_fs::{SnapshotStore, Store};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let repaired = Store::create_ambient(directory.path())?.repair()?;
/// assert!(repaired.quarantined.is_empty() && repaired.lost.is_empty());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Repaired {
    /// The names of files that were moved into the quarantine.
    pub quarantined: Vec<String>,
    /// How many objects of damaged packs were whole and are in a new one.
    pub objects_saved: u64,
    /// The snapshots whose record was missing or damaged and is there again.
    pub found: Vec<SnapshotId>,
    /// The snapshots that cannot be restored as a whole any more; their records are in the quarantine.
    pub lost: Vec<SnapshotId>,
    /// Those of them of which some files are whole: these can still be read and restored, by the same name.
    pub salvaged: Vec<SnapshotId>,
    /// The snapshot of the files as they are now, which has again what others missed.
    pub taken: Option<SnapshotId>,
    /// The files and directories that could not be read, of which it has nothing.
    pub unreadable: Vec<Skipped>,
}
