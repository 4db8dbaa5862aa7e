//! What a strategy does in its own way: where contents go, and how they come back.

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
    /// Begins a snapshot; `base` is the last one, for those that keep only what is new.
    fn begin<'a>(
        &'a self,
        id: &SnapshotId,
        base: Option<&'a Manifest>,
    ) -> io::Result<Box<dyn Work + 'a>>;

    /// Tells whether a snapshot is kept as what is new since the last one.
    fn is_incremental(&self) -> bool {
        false
    }

    /// Gives access to the contents of a snapshot.
    fn reader(&self, id: &SnapshotId) -> io::Result<Arc<dyn Reader>>;

    /// Returns the ids of what is kept, whether or not there is a snapshot of it.
    fn held(&self) -> io::Result<Vec<String>>;

    /// Gives back the space of what is kept under an id.
    fn forget(&self, id: &str) -> io::Result<()>;

    /// Returns how many packs there are, where several snapshots are in one.
    fn packs(&self) -> io::Result<u64> {
        Ok(0)
    }

    /// Returns whether condensing is worth its time although no caller asked for it.
    fn is_fragmented(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Makes a part of what is kept superfluous, where forgetting snapshots did not give all space back;
    /// these are all snapshots there are.
    fn condense(&self, _: &[Snapshot], _: ManifestOf<'_>) -> io::Result<Condensed> {
        Ok(Condensed::default())
    }

    /// Removes what [`condense`](Self::condense) made superfluous; no other process stores anything meanwhile.
    fn remove_condensed(&self, _: &Condensed) -> io::Result<Reclaimed> {
        Ok(Reclaimed::default())
    }

    /// Is told all snapshots there are, with the one that is about to be, or after one went.
    fn announce(&self, _: &[Snapshot]) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the manifest of a snapshot.
pub(super) type ManifestOf<'m> = &'m dyn Fn(&Snapshot) -> io::Result<Manifest>;

/// What took the place of what.
#[derive(Default)]
pub(super) struct Condensed {
    /// The pack that was written, if any is needed.
    pub(super) new: Option<String>,
    /// The packs that nothing needs any more.
    pub(super) old: Vec<String>,
    /// What the last snapshot's manifest has to say from now on, where that is something else.
    pub(super) notes: Option<Vec<u8>>,
}

/// One snapshot on its way in; several threads call it at once.
pub(super) trait Work: Sync {
    /// Tells whether entries must come one after the other, in their order.
    fn in_order(&self) -> bool {
        false
    }

    /// Returns the last snapshot, where what is the same as there needs no look.
    fn base(&self) -> Option<&Arc<Directory>> {
        None
    }

    /// Begins a directory, before anything in it.
    fn enter(&self, _: &TreePath) -> io::Result<()> {
        Ok(())
    }

    /// Keeps a file; returns what was kept.
    fn file(&self, path: &TreePath, mode: FileMode, content: &Content) -> io::Result<KeptContent>;

    /// Keeps a link.
    fn link(&self, _: &TreePath, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// Ends a directory, after everything in it.
    fn leave(&self, _: &[(Name, Node)]) -> io::Result<Place> {
        Ok(Place::new())
    }

    /// Makes everything durable.
    fn finish(self: Box<Self>, snapshot: &Snapshot, root: &Directory) -> io::Result<Finished>;
}

/// What was kept of a file.
pub(super) struct KeptContent {
    pub(super) hash: ContentHash,
    pub(super) size: u64,
    pub(super) place: Place,
}

/// What a snapshot's record and manifest say of how it was kept.
#[derive(Default)]
pub(super) struct Finished {
    pub(super) reference: String,
    pub(super) notes: Vec<u8>,
}

/// Opens the contents of one snapshot; the caller verifies them.
pub(super) trait Reader: Send + Sync {
    fn open(&self, path: &TreePath, file: &KeptFile) -> io::Result<Content>;
}
