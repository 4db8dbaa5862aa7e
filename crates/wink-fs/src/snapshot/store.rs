//! What keeps snapshots.

use std::path::Path;
use std::sync::Arc;

use super::id::SnapshotId;
use super::request::NewSnapshot;
use super::value::Snapshot;
use super::verification::{Verification, VerifyOptions};
use crate::error::Result;
use crate::tree::Tree;

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
///
/// ```
/// use std::time::SystemTime;
/// use wink_fs::{tree_hash, NewSnapshot, Result, SnapshotStore, Store, Tree, Workspace};
///
/// /// Tells whether a store gives back what it was given.
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

    /// Keeps a tree; it is durable when this returns.
    ///
    /// A file whose content is not what the tree said of it is Conflict.
    fn save(&self, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot>;

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

    /// Forgets a snapshot, and tells whether it was there; pruning gives its space back.
    fn delete(&self, id: &SnapshotId) -> Result<bool>;

    /// Looks for damage, which is reported and changes nothing.
    fn verify(&self, options: &VerifyOptions) -> Result<Verification>;

    /// Returns the directory that the snapshots are in, where the history of a workspace has a place too.
    fn directory(&self) -> Option<&Path> {
        None
    }
}
