//! Snapshots that live as long as the workspace, and share what they have in common.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::pin::{Pin, is_pinned};
use super::request::NewSnapshot;
use super::store::{Choose, SnapshotStore};
use super::value::Snapshot;
use super::verification::{Verification, VerifyOptions};
use super::{SnapshotId, check_new, check_tag, check_unused};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::memory;
use crate::tree::Tree;

/// Keeps snapshots in memory; one of files in memory costs a pointer.
///
/// ```
/// use std::time::SystemTime;
/// use wink_fs::{MemorySnapshots, NewSnapshot, SnapshotStore, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "hello")?;
/// let snapshots = MemorySnapshots::default();
/// let taken = snapshots.save(&*files.tree(), &NewSnapshot::new(SystemTime::now()))?;
/// files.delete("a.txt")?;
/// assert_eq!(snapshots.load(&taken.id)?.list(&wink_fs::TreePath::root())?.len(), 1);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Default)]
pub struct MemorySnapshots {
    snapshots: Mutex<Vec<Kept>>,
    pins: Mutex<Vec<Pin>>,
}

struct Kept {
    snapshot: Snapshot,
    tree: Arc<dyn Tree>,
}

impl MemorySnapshots {
    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Taken before the snapshots if both are needed.
    fn pinned(&self) -> MutexGuard<'_, Vec<Pin>> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find<T>(&self, id: &SnapshotId, part: impl FnOnce(&Kept) -> T) -> Result<T> {
        let kept = self.kept();
        let found = kept.iter().rfind(|kept| kept.snapshot.id == *id);
        found.map(part).ok_or_else(|| Error::new(Operation::Restore, ErrorKind::SnapshotNotFound))
    }
}

impl SnapshotStore for MemorySnapshots {
    fn strategy(&self) -> &'static str {
        "memory"
    }

    fn save(&self, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot> {
        new.tag.as_deref().map_or(Ok(()), check_tag)?;
        let tree = memory::kept(tree).map_err(|error| error.during(Operation::Snapshot))?;
        let mut kept = self.kept();
        check_new(new.id, new.tag.as_deref(), kept.iter().map(|kept| &kept.snapshot))?;
        let mut snapshot = Snapshot::of(new, self.strategy());
        snapshot.sequence = kept.last().map_or(1, |last| last.snapshot.sequence + 1);
        kept.push(Kept { snapshot: snapshot.clone(), tree });
        Ok(snapshot)
    }

    fn load(&self, id: &SnapshotId) -> Result<Arc<dyn Tree>> {
        self.find(id, |kept| kept.tree.clone())
    }

    fn describe(&self, id: &SnapshotId) -> Result<Snapshot> {
        self.find(id, |kept| kept.snapshot.clone())
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        Ok(self.kept().iter().map(|kept| kept.snapshot.clone()).collect())
    }

    fn set_tag(&self, id: &SnapshotId, tag: Option<&str>) -> Result<Snapshot> {
        tag.map_or(Ok(()), check_tag)?;
        let mut kept = self.kept();
        let others = kept.iter().map(|kept| &kept.snapshot).filter(|other| other.id != *id);
        check_unused(tag, others)?;
        let found = kept.iter_mut().find(|kept| kept.snapshot.id == *id);
        let found =
            found.ok_or_else(|| Error::new(Operation::Snapshot, ErrorKind::SnapshotNotFound))?;
        found.snapshot.retag(tag);
        Ok(found.snapshot.clone())
    }

    fn delete(&self, id: &SnapshotId) -> Result<bool> {
        let mut kept = self.kept();
        let found = kept.iter().position(|kept| kept.snapshot.id == *id);
        let gone = found.map(|at| kept.remove(at));
        // Freeing the snapshot may take long: release the lock first, so that no other thread waits for it.
        drop(kept);
        Ok(gone.is_some())
    }

    fn verify(&self, _: &VerifyOptions) -> Result<Verification> {
        Ok(Verification { snapshots: self.kept().len() as u64, ..Verification::default() })
    }

    fn delete_unpinned(&self, id: &SnapshotId, now: SystemTime) -> Result<bool> {
        let pins = self.pinned();
        Ok(!is_pinned(id, &pins, now) && self.delete(id)?)
    }

    fn forget(&self, choose: Choose<'_>) -> Result<Vec<Snapshot>> {
        let pins = self.pinned();
        let mut kept = self.kept();
        let all: Vec<_> = kept.iter().map(|kept| kept.snapshot.clone()).collect();
        let chosen = choose(&all, &pins);
        let goes = |kept: &mut Kept| chosen.contains(&kept.snapshot.id);
        let gone: Vec<Kept> = kept.extract_if(.., goes).collect();
        drop(kept);
        Ok(gone.into_iter().map(|kept| kept.snapshot).collect())
    }

    fn pin(&self, pin: &Pin) -> Result<()> {
        let mut pins = self.pinned();
        self.describe(&pin.snapshot)?;
        pins.retain(|it| (it.snapshot, &it.owner) != (pin.snapshot, &pin.owner));
        pins.push(pin.clone());
        Ok(())
    }

    fn unpin(&self, id: &SnapshotId, owner: &str) -> Result<bool> {
        let mut pins = self.pinned();
        let before = pins.len();
        pins.retain(|it| (it.snapshot, &*it.owner) != (*id, owner));
        Ok(pins.len() < before)
    }

    fn pins(&self) -> Result<Vec<Pin>> {
        Ok(self.pinned().clone())
    }
}

impl fmt::Debug for MemorySnapshots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemorySnapshots({})", self.kept().len())
    }
}
