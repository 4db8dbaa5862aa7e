//! As many snapshots as are wanted, whatever keeps them.

use std::path::Path;
use std::sync::Arc;

use crate::error::Result;
use crate::snapshot::{
    NewSnapshot, Snapshot, SnapshotCause, SnapshotId, SnapshotStore, Verification, VerifyOptions,
};
use crate::tree::Tree;

/// Lets the oldest snapshots go that nobody gave a tag, once there are too many.
#[derive(Debug)]
pub(super) struct Limited<S> {
    inner: S,
    max: usize,
}

impl<S: SnapshotStore> Limited<S> {
    pub(super) fn new(inner: S, max: usize) -> Self {
        Self { inner, max }
    }

    fn let_oldest_go(&self) -> Result<()> {
        let mut counted = self.inner.list()?;
        counted.retain(|it| it.cause == SnapshotCause::Requested && it.tag.is_none());
        // The newest stays, whatever was asked for.
        let oldest = counted.len().saturating_sub(self.max.max(1));
        counted[..oldest].iter().try_for_each(|it| self.inner.delete(&it.id).map(drop))
    }
}

impl<S: SnapshotStore> SnapshotStore for Limited<S> {
    fn strategy(&self) -> &'static str {
        self.inner.strategy()
    }

    fn save(&self, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot> {
        let saved = self.inner.save(tree, new)?;
        // The snapshot is there; what could not go now goes after the next one.
        let _ = self.let_oldest_go();
        Ok(saved)
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

    fn directory(&self) -> Option<&Path> {
        self.inner.directory()
    }
}
