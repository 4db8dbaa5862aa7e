//! Limits the number of snapshots of any store.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::Result;
use crate::snapshot::{
    Choose, NewSnapshot, Pin, Reclaimed, Redacted, Repaired, Retention, Snapshot, SnapshotCause,
    SnapshotId, SnapshotStore, Usage, Verification, VerifyOptions, is_pinned,
};
use crate::tree::Tree;
use crate::tree::scope::Exclusions;

/// Removes the oldest untagged snapshots when there are too many.
#[derive(Debug)]
pub(super) struct Limited<S> {
    inner: S,
    max: usize,
}

impl<S: SnapshotStore> Limited<S> {
    pub(super) fn new(inner: S, max: usize) -> Self {
        Self { inner, max }
    }

    /// Considers only the fork of the new snapshot.
    fn remove_oldest(&self, saved: &Snapshot) -> Result<()> {
        let counts = |it: &&Snapshot, pins: &[Pin]| {
            let is_plain = it.cause == SnapshotCause::Requested && it.tag.is_none();
            is_plain && it.fork == saved.fork && !is_pinned(&it.id, pins, saved.created_at)
        };
        let oldest = |all: &[Snapshot], pins: &[Pin]| {
            let counted: Vec<_> = all.iter().filter(|it| counts(it, pins)).collect();
            // The newest always stays.
            let many = counted.len().saturating_sub(self.max.max(1));
            counted[..many].iter().map(|it| it.id).collect()
        };
        self.inner.forget(&oldest).map(drop)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: SnapshotStore> SnapshotStore for Limited<S> {
    fn strategy(&self) -> &'static str {
        self.inner.strategy()
    }

    fn fork(&self) -> Option<&str> {
        self.inner.fork()
    }

    fn save(&self, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot> {
        let saved = self.inner.save(tree, new)?;
        // The snapshot is published; what could not be removed now is removed after the next one.
        let _ = self.remove_oldest(&saved);
        Ok(saved)
    }

    fn preparation(&self) -> Option<Box<dyn FnOnce() + Send + '_>> {
        self.inner.preparation()
    }

    fn load(&self, id: &SnapshotId) -> Result<Arc<dyn Tree>> {
        self.inner.load(id)
    }

    fn describe(&self, id: &SnapshotId) -> Result<Snapshot> {
        self.inner.describe(id)
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        self.inner.list()
    }

    fn delete(&self, id: &SnapshotId) -> Result<bool> {
        self.inner.delete(id)
    }

    fn verify(&self, options: &VerifyOptions) -> Result<Verification> {
        self.inner.verify(options)
    }

    fn set_tag(&self, id: &SnapshotId, tag: Option<&str>) -> Result<Snapshot> {
        self.inner.set_tag(id, tag)
    }

    fn delete_unpinned(&self, id: &SnapshotId, now: SystemTime) -> Result<bool> {
        self.inner.delete_unpinned(id, now)
    }

    fn forget(&self, choose: Choose<'_>) -> Result<Vec<Snapshot>> {
        self.inner.forget(choose)
    }

    fn reclaim(&self) -> Result<Reclaimed> {
        self.inner.reclaim()
    }

    fn redact(&self, out: &Exclusions) -> Result<Redacted> {
        self.inner.redact(out)
    }

    fn repair(&self) -> Result<Repaired> {
        self.inner.repair()
    }

    fn repair_by(&self, heal: &mut dyn FnMut() -> Result<()>) -> Result<Repaired> {
        self.inner.repair_by(heal)
    }

    fn is_fragmented(&self) -> Result<bool> {
        self.inner.is_fragmented()
    }

    fn retention(&self) -> Option<Retention> {
        Some(Retention::default().max_count(self.max.max(1)))
    }

    fn stored_bytes(&self, snapshot: &Snapshot) -> Option<u64> {
        self.inner.stored_bytes(snapshot)
    }

    fn usage(&self) -> Result<Usage> {
        self.inner.usage()
    }

    fn usage_with(&self, kept: &[Snapshot]) -> Result<Option<Usage>> {
        self.inner.usage_with(kept)
    }

    fn pin(&self, pin: &Pin) -> Result<()> {
        self.inner.pin(pin)
    }

    fn unpin(&self, id: &SnapshotId, owner: &str) -> Result<bool> {
        self.inner.unpin(id, owner)
    }

    fn pins(&self) -> Result<Vec<Pin>> {
        self.inner.pins()
    }

    fn directory(&self) -> Option<&Path> {
        self.inner.directory()
    }
}
