//! Which state is meant.

use crate::snapshot::{Snapshot, SnapshotId};

/// Says which state is meant: that of now, or that of a snapshot.
///
/// A snapshot is named by its tag, its id, or the beginning of its id.
///
/// ```
/// use wink_fs::{StateRef, Workspace};
///
/// let files = Workspace::memory();
/// let first = files.snapshot("first")?;
/// let second = files.snapshot("second")?;
/// assert!(files.diff("first", &second)?.is_empty());
/// assert!(files.diff(first.id.short().as_str(), StateRef::Live)?.is_empty());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StateRef {
    /// The files as they are now.
    Live,
    /// The files of a snapshot.
    Snapshot(String),
}

impl From<&str> for StateRef {
    fn from(name: &str) -> Self {
        Self::Snapshot(name.to_owned())
    }
}

impl From<&Snapshot> for StateRef {
    fn from(snapshot: &Snapshot) -> Self {
        snapshot.id.into()
    }
}

impl From<SnapshotId> for StateRef {
    fn from(id: SnapshotId) -> Self {
        Self::Snapshot(id.to_string())
    }
}
