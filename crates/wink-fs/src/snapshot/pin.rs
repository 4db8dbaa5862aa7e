//! What keeps a snapshot from being pruned.

use std::time::SystemTime;

use super::id::SnapshotId;

/// Keeps a snapshot from being pruned, on behalf of an owner that refers to it.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use wink_fs::{MemorySnapshots, NewSnapshot, Pin, SnapshotStore, Workspace};
///
/// let snapshots = MemorySnapshots::default();
/// let now = SystemTime::now();
/// let taken = snapshots.save(&*Workspace::memory().tree(), &NewSnapshot::new(now))?;
/// let pin = Pin::new(taken.id, "session 1").expires(now + Duration::from_secs(3600));
/// snapshots.pin(&pin)?;
/// assert!(snapshots.pins()?[0].holds(now));
/// assert!(snapshots.unpin(&taken.id, "session 1")?);
/// assert_eq!(snapshots.pins()?, []);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub struct Pin {
    /// The snapshot that stays.
    pub snapshot: SnapshotId,
    /// Who wants it to stay; each may have one pin on a snapshot.
    pub owner: String,
    /// When the pin stops to count; none means never.
    pub expires: Option<SystemTime>,
}

impl Pin {
    /// Pins a snapshot for an owner, until that one unpins it.
    pub fn new(snapshot: SnapshotId, owner: impl Into<String>) -> Self {
        Self { snapshot, owner: owner.into(), expires: None }
    }

    /// Sets when the pin stops to count.
    #[must_use]
    pub fn expires(mut self, at: SystemTime) -> Self {
        self.expires = Some(at);
        self
    }

    /// Returns whether the pin counts at a time.
    pub fn holds(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

/// Returns whether a pin that counts is on a snapshot.
pub(crate) fn is_pinned(id: &SnapshotId, pins: &[Pin], now: SystemTime) -> bool {
    pins.iter().any(|pin| pin.snapshot == *id && pin.holds(now))
}
