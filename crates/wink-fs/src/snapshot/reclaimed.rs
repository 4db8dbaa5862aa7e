//! How much space a history takes, and how much was given back.

use std::collections::{BTreeMap, BTreeSet};

use super::id::SnapshotId;

/// The space that a store takes.
///
/// ```
/// use wink_fs::{SnapshotStore, Store, Usage};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let store = Store::create_ambient(directory.path())?;
/// let used = store.usage()?;
/// assert!(used.bytes > 0 && !used.is_nearly_full(None));
/// assert!(used.is_nearly_full(Some(used.bytes)));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Usage {
    /// The bytes of all its files.
    pub bytes: u64,
    /// How many packs it has.
    pub packs: u64,
    /// How many of them are so small that they are worth merging.
    pub small_packs: u64,
}

impl Usage {
    /// Returns whether four fifths of what may be used are used.
    pub fn is_nearly_full(&self, max_bytes: Option<u64>) -> bool {
        max_bytes.is_some_and(|max| self.bytes >= max - max / 5)
    }
}

/// The result of freeing space.
///
/// ```
/// use wink_fs::{SnapshotStore, Store};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let reclaimed = Store::create_ambient(directory.path())?.reclaim()?;
/// assert_eq!((reclaimed.packs_removed, reclaimed.bytes_freed), (0, 0));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Reclaimed {
    /// How many packs are gone.
    pub packs_removed: u64,
    /// How many packs hold what was still needed of them.
    pub packs_written: u64,
    /// How many bytes less the packs take.
    pub bytes_freed: u64,
}

/// The result of deleting paths from snapshots.
///
/// ```
/// use wink_fs::{Exclusions, SnapshotStore, Store};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let store = Store::create_ambient(directory.path())?;
/// let redacted = store.redact(&Exclusions::parse(["**/.env"])?)?;
/// assert!(redacted.snapshots.is_empty() && redacted.paths.is_empty());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Redacted {
    /// The snapshots that are without it now.
    pub snapshots: Vec<SnapshotId>,
    /// What was taken out, as texts; a directory stands for all that was in it.
    pub paths: BTreeSet<String>,
    /// The numbers of the operations that are forgotten because they kept some of it.
    pub operations: Vec<u64>,
    /// The numbers of those that are forgotten in other workspaces that share the snapshots, by the names of
    /// their forks; the store's own has none.
    pub elsewhere: BTreeMap<String, Vec<u64>>,
    /// What was done to give its space back.
    pub reclaimed: Reclaimed,
}
