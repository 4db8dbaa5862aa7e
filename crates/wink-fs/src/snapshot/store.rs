//! What keeps snapshots.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::id::SnapshotId;
use super::pin::{Pin, is_pinned};
use super::reclaimed::{Reclaimed, Redacted, Usage};
use super::request::NewSnapshot;
use super::retention::Retention;
use super::value::Snapshot;
use super::verification::{Repaired, Verification, VerifyOptions};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::tree::Tree;
use crate::tree::scope::Exclusions;

/// Keeps snapshots of trees: a snapshot strategy.
///
/// # Contract
///
/// - When `save` returns a snapshot, it survives a power cut. When it fails, there is no snapshot.
/// - A loaded tree has the names, kinds, contents, link targets and modes of the tree that was saved, so
///   that both have the same [`tree_hash`](crate::tree_hash).
/// - A FIFO, socket or device is left out, and [`Snapshot::skipped`] names it.
/// - What is loaded was checked: bytes that are not those that were saved are Corrupt, never returned.
/// - Damage to one snapshot leaves the others usable.
/// - Order is by [`Snapshot::sequence`], which never depends on a clock.
/// - A tag names at most one snapshot; one that is in use is AlreadyExists.
/// - A copy of a snapshot keeps its id; one that is there already is AlreadyExists, and stays as it is.
/// - Forgetting snapshots and reclaiming space lose nothing of the others, even if other processes save meanwhile.
///
/// ```
/// use std::time::SystemTime;
/// use wink_fs::{tree_hash, NewSnapshot, Result, SnapshotStore, Store, Tree, Workspace};
///
/// /// Returns whether a store gives back what it was given.
/// fn round_trip(store: &dyn SnapshotStore, tree: &dyn Tree) -> Result<bool> {
///     let snapshot = store.save(tree, &NewSnapshot::new(SystemTime::now()))?;
///     Ok(tree_hash(&*store.load(&snapshot.id)?)? == tree_hash(tree)?)
/// }
///
/// # let directory = tempfile::tempdir().unwrap();
/// let files = Workspace::memory();
/// files.write("a/b.txt", "hello")?;
/// assert!(round_trip(&Store::create_ambient(directory.path())?, &*files.tree())?);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub trait SnapshotStore: Send + Sync {
    /// Returns the strategy's name, as settings spell it.
    fn strategy(&self) -> &'static str;

    /// Returns the fork that takes a new snapshot, unless the request names one.
    fn fork(&self) -> Option<&str> {
        None
    }

    /// Keeps a tree; it is durable when this returns.
    ///
    /// A file whose content is not what the tree said of it is Conflict.
    fn save(&self, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot>;

    /// Returns what can be done for the next [`save`](Self::save) while the files are still looked at.
    fn preparation(&self) -> Option<Box<dyn FnOnce() + Send + '_>> {
        None
    }

    /// Returns a snapshot's tree; an id that is not there is SnapshotNotFound.
    ///
    /// Content is read and checked when it is opened.
    fn load(&self, id: &SnapshotId) -> Result<Arc<dyn Tree>>;

    /// Returns what is known of a snapshot; an id that is not there is SnapshotNotFound.
    fn describe(&self, id: &SnapshotId) -> Result<Snapshot>;

    /// Returns the snapshots whose description is whole, oldest first.
    ///
    /// [`verify`](Self::verify) names those whose description is damaged.
    fn list(&self) -> Result<Vec<Snapshot>>;

    /// Forgets a snapshot, and returns whether it was there; pruning gives its space back.
    fn delete(&self, id: &SnapshotId) -> Result<bool>;

    /// Gives a snapshot a tag that no other one has, or takes its tag away.
    fn set_tag(&self, _: &SnapshotId, _: Option<&str>) -> Result<Snapshot> {
        Err(Error::new(Operation::Snapshot, ErrorKind::Unsupported)
            .with_detail("this strategy gives tags only to new snapshots; take another one"))
    }

    /// Looks for damage, which is reported and changes nothing.
    fn verify(&self, options: &VerifyOptions) -> Result<Verification>;

    /// Forgets a snapshot on which there is no pin that counts, and returns whether it did.
    fn delete_unpinned(&self, id: &SnapshotId, now: SystemTime) -> Result<bool> {
        Ok(!is_pinned(id, &self.pins()?, now) && self.delete(id)?)
    }

    /// Forgets the snapshots that `choose` names, and returns them; no pin is added while it chooses.
    fn forget(&self, choose: Choose<'_>) -> Result<Vec<Snapshot>> {
        let snapshots = self.list()?;
        let chosen = choose(&snapshots, &self.pins()?);
        let mut gone = Vec::new();
        for snapshot in snapshots.into_iter().filter(|it| chosen.contains(&it.id)) {
            if self.delete(&snapshot.id)? {
                gone.push(snapshot);
            }
        }
        Ok(gone)
    }

    /// Gives the space back that forgotten snapshots took, where deleting them did not.
    fn reclaim(&self) -> Result<Reclaimed> {
        Ok(Reclaimed::default())
    }

    /// Takes everything that matches out of all snapshots, and its bytes out of the store.
    ///
    /// Each snapshot says in [`Snapshot::skipped`] what was taken out of it.
    fn redact(&self, _: &Exclusions) -> Result<Redacted> {
        Err(Error::new(Operation::Prune, ErrorKind::Unsupported).with_detail(
            "this strategy cannot take paths out of snapshots; delete the snapshots instead",
        ))
    }

    /// Puts aside what is damaged, so that the rest verifies without a fault; nothing is deleted.
    fn repair(&self) -> Result<Repaired> {
        self.repair_by(&mut || Ok(()))
    }

    /// Like [`repair`](Self::repair), but calls `heal`, which may store missing objects, before snapshots are moved.
    fn repair_by(&self, _: &mut dyn FnMut() -> Result<()>) -> Result<Repaired> {
        Err(Error::new(Operation::Repair, ErrorKind::Unsupported)
            .with_detail("this strategy cannot repair itself; restore its files from a copy"))
    }

    /// Returns whether [`reclaim`](Self::reclaim) is worth its time although no caller asked for it.
    fn is_fragmented(&self) -> Result<bool> {
        Ok(false)
    }

    /// Returns which snapshots stay by themselves, where that is limited already.
    fn retention(&self) -> Option<Retention> {
        None
    }

    /// Returns the size of what only this snapshot brought when it was saved; `None` if that is not known, or not
    /// any more.
    fn stored_bytes(&self, _: &Snapshot) -> Option<u64> {
        None
    }

    /// Returns how much space is taken; nothing if that is not known.
    fn usage(&self) -> Result<Usage> {
        Ok(Usage::default())
    }

    /// Returns how much space would be taken if only these snapshots were kept, after a
    /// [`reclaim`](Self::reclaim); nothing if that is not known. Nothing is written.
    fn usage_with(&self, _: &[Snapshot]) -> Result<Option<Usage>> {
        Ok(None)
    }

    /// Keeps a snapshot from being pruned; another pin of the same owner is replaced.
    ///
    /// An id that is not there is SnapshotNotFound.
    fn pin(&self, _: &Pin) -> Result<()> {
        Err(Error::new(Operation::Snapshot, ErrorKind::Unsupported)
            .with_detail("this strategy keeps no pins; give the snapshot a tag instead"))
    }

    /// Takes an owner's pin away, and returns whether it was there.
    fn unpin(&self, _: &SnapshotId, _: &str) -> Result<bool> {
        Ok(false)
    }

    /// Returns all pins, those that have expired included.
    fn pins(&self) -> Result<Vec<Pin>> {
        Ok(Vec::new())
    }

    /// Returns the directory that the snapshots are in, where the history of a workspace has a place too.
    fn directory(&self) -> Option<&Path> {
        None
    }
}

/// Returns the snapshots that are pruned, given the pins.
///
/// ```
/// use wink_fs::{MemorySnapshots, NewSnapshot, Pin, Snapshot, SnapshotStore, Workspace};
///
/// let snapshots = MemorySnapshots::default();
/// let new = NewSnapshot::new(std::time::SystemTime::now());
/// let first = snapshots.save(&*Workspace::memory().tree(), &new)?;
/// let all = |all: &[Snapshot], _: &[Pin]| all.iter().map(|it| it.id).collect();
/// assert_eq!(snapshots.forget(&all)?, [first]);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub type Choose<'c> = &'c dyn Fn(&[Snapshot], &[Pin]) -> Vec<SnapshotId>;
