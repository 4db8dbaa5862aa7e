//! Checkpoints that could not be forgotten at first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wink_agent::checkpoint;
use wink_agent::session::Session;
use wink_fs::{
    Error, ErrorKind, MemoryBackend, MemorySnapshots, NewSnapshot, Operation, Pin, Result,
    Snapshot, SnapshotId, SnapshotStore, Tree, Verification, VerifyOptions, Workspace,
};

/// Snapshots in memory whose pins cannot be taken away while it fails.
#[derive(Default)]
struct Stubborn {
    inner: MemorySnapshots,
    fails: AtomicBool,
}

impl SnapshotStore for Stubborn {
    fn strategy(&self) -> &'static str {
        self.inner.strategy()
    }

    fn save(&self, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot> {
        self.inner.save(tree, new)
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

    fn set_tag(&self, id: &SnapshotId, tag: Option<&str>) -> Result<Snapshot> {
        self.inner.set_tag(id, tag)
    }

    fn verify(&self, options: &VerifyOptions) -> Result<Verification> {
        self.inner.verify(options)
    }

    fn pin(&self, pin: &Pin) -> Result<()> {
        self.inner.pin(pin)
    }

    fn unpin(&self, id: &SnapshotId, owner: &str) -> Result<bool> {
        if self.fails.load(Ordering::Relaxed) {
            Err(Error::new(Operation::Snapshot, ErrorKind::Io))
        } else {
            self.inner.unpin(id, owner)
        }
    }

    fn pins(&self) -> Result<Vec<Pin>> {
        self.inner.pins()
    }
}

#[test]
fn a_checkpoint_whose_pin_could_not_be_taken_away_can_be_forgotten_again() {
    let store = Arc::new(Stubborn::default());
    let files = Workspace::builder(MemoryBackend::new()).snapshots(store.clone()).build();
    let session = Session::new();
    checkpoint::take(&session, &files, "vfs", "one").unwrap();
    store.fails.store(true, Ordering::Relaxed);
    let error = checkpoint::forget(&session, &files, "vfs", "one").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(session.snapshots().len(), 1);

    store.fails.store(false, Ordering::Relaxed);
    let forgotten = checkpoint::forget(&session, &files, "vfs", "one").unwrap();
    assert_eq!(forgotten.tag.as_deref(), Some("one"));
    assert!(store.pins().unwrap().is_empty() && session.snapshots().is_empty());
    assert!(files.snapshots().unwrap()[0].tag.is_none());
}
