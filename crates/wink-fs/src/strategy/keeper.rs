//! What differs between strategies: where contents go, and how they are read.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::manifest::{Directory, KeptFile, Manifest, Node, Place};
use crate::hash::ContentHash;
use crate::path::{Name, TreePath};
use crate::snapshot::{Reclaimed, Snapshot, SnapshotId};
use crate::tree::FileMode;
use crate::tree::content::Content;

/// Keeps the contents of snapshots; names, kinds, modes and targets are in their manifests.
pub(super) trait Keeper: Send + Sync + fmt::Debug {
    /// Begins a snapshot; `base` is the last one, for incremental strategies.
    fn begin<'a>(
        &'a self,
        id: &SnapshotId,
        base: Option<&'a Manifest>,
    ) -> io::Result<Box<dyn Work + 'a>>;

    /// Returns whether a snapshot has only what is new since the last one.
    fn is_incremental(&self) -> bool {
        false
    }

    /// Opens the contents of a snapshot.
    fn reader(&self, id: &SnapshotId) -> io::Result<Arc<dyn Reader>>;

    /// Returns the ids of everything kept, with or without a snapshot.
    fn held(&self) -> io::Result<Vec<String>>;

    /// Deletes what is kept under an id.
    fn forget(&self, id: &str) -> io::Result<()>;

    /// Returns the number of packs, if snapshots share packs.
    fn packs(&self) -> io::Result<u64> {
        Ok(0)
    }

    /// Returns whether rewriting packs is worth its time.
    fn is_fragmented(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Prepares to free space that deleting snapshots did not free; the list has all snapshots.
    fn condense(&self, _: &[Snapshot], _: ManifestOf<'_>) -> io::Result<Condensed> {
        Ok(Condensed::default())
    }

    /// Deletes what [`condense`](Self::condense) has replaced; no other process may write.
    fn remove_condensed(&self, _: &Condensed) -> io::Result<Reclaimed> {
        Ok(Reclaimed::default())
    }

    /// Receives all snapshots, including the one about to be published, or after one was deleted.
    fn announce(&self, _: &[Snapshot]) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the manifest of a snapshot.
pub(super) type ManifestOf<'m> = &'m dyn Fn(&Snapshot) -> io::Result<Manifest>;

/// The result of `condense`.
#[derive(Default)]
pub(super) struct Condensed {
    /// The new pack, if one was needed.
    pub(super) new: Option<String>,
    /// The packs that are not needed any more.
    pub(super) old: Vec<String>,
    /// The new notes of the last snapshot's manifest, if they changed.
    pub(super) notes: Option<Vec<u8>>,
}

/// A snapshot being taken; several threads call it at once.
pub(super) trait Work: Sync {
    /// Returns whether entries must come in order.
    fn in_order(&self) -> bool {
        false
    }

    /// Returns the last snapshot, if unchanged entries can be reused from it.
    fn base(&self) -> Option<&Arc<Directory>> {
        None
    }

    /// Enters a directory.
    fn enter(&self, _: &TreePath) -> io::Result<()> {
        Ok(())
    }

    /// Keeps a file; returns what was kept.
    fn file(&self, path: &TreePath, mode: FileMode, content: &Content) -> io::Result<KeptContent>;

    /// Keeps a link.
    fn link(&self, _: &TreePath, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// Leaves a directory.
    fn leave(&self, _: &[(Name, Node)]) -> io::Result<Place> {
        Ok(Place::new())
    }

    /// Syncs everything.
    fn finish(self: Box<Self>, snapshot: &Snapshot, root: &Directory) -> io::Result<Finished>;
}

/// What was kept of a file.
pub(super) struct KeptContent {
    pub(super) hash: ContentHash,
    pub(super) size: u64,
    pub(super) place: Place,
}

/// The strategy's part of a snapshot's record and manifest.
#[derive(Default)]
pub(super) struct Finished {
    pub(super) reference: String,
    pub(super) notes: Vec<u8>,
}

/// Opens the contents of one snapshot; the caller checks them.
pub(super) trait Reader: Send + Sync {
    fn open(&self, path: &TreePath, file: &KeptFile) -> io::Result<Content>;
}
