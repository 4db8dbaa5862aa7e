//! `overlay`: what is different from the base that a workspace is mounted over, for each snapshot.
//!
//! The layers of a mount are not looked at: marks for what was deleted, replaced or moved in them are the
//! kernel's own matter. A snapshot is taken of the merged view like any other; contents that the base has
//! stay there, whatever path they are at now, and all others are copied. What is in a manifest and what is
//! not says the rest.

mod base;
mod mount;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use self::base::Base;
pub use self::mount::OverlayMount;
use super::copy::{CopyKeeper, Way};
use super::keeper::{Finished, Keeper, KeptContent, Reader, Work};
use super::manifest::{Directory, KeptFile, Manifest};
use crate::path::TreePath;
use crate::snapshot::{Snapshot, SnapshotId};
use crate::store::disk::Disk;
use crate::tree::FileMode;
use crate::tree::content::Content;

/// Returns the base of a workspace; one that was not mounted by [`OverlayMount`] is Unsupported.
pub(super) fn base_of(root: &Path) -> io::Result<PathBuf> {
    mount::base_of(root)
}

/// Begins to keep what is different from a base.
pub(super) fn make(disk: &Disk, base: &Path) -> io::Result<()> {
    base::describe(disk, base)
}

/// Keeps the contents of each snapshot that the base does not have.
#[derive(Debug)]
pub(super) struct OverlayKeeper {
    disk: Disk,
    copies: CopyKeeper,
    /// Read when it is needed first.
    base: Mutex<Option<Arc<Base>>>,
}

impl OverlayKeeper {
    pub(super) fn new(disk: Disk) -> Self {
        let copies = CopyKeeper::new(disk.clone(), Way::Copy);
        Self { disk, copies, base: Mutex::default() }
    }

    fn base(&self) -> io::Result<Arc<Base>> {
        let mut base = self.base.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = &*base {
            return Ok(base.clone());
        }
        Ok(base.insert(Arc::new(Base::read(&self.disk)?)).clone())
    }
}

impl Keeper for OverlayKeeper {
    fn begin<'a>(
        &'a self,
        id: &SnapshotId,
        last: Option<&'a Manifest>,
    ) -> io::Result<Box<dyn Work + 'a>> {
        let base = self.base()?;
        base.check()?;
        Ok(Box::new(Differing { base, copying: self.copies.begin(id, last)? }))
    }

    fn reader(&self, id: &SnapshotId) -> io::Result<Arc<dyn Reader>> {
        let (copies, base) = (self.copies.reader(id)?, self.base()?.reader());
        Ok(Arc::new(OverlayReader { copies, base }))
    }

    fn held(&self) -> io::Result<Vec<String>> {
        self.copies.held()
    }

    fn forget(&self, id: &str) -> io::Result<()> {
        self.copies.forget(id)
    }
}

struct Differing<'a> {
    base: Arc<Base>,
    copying: Box<dyn Work + 'a>,
}

impl Differing<'_> {
    /// Makes the directories above a copy; several threads may be at it.
    fn make_parents(&self, path: &TreePath) -> io::Result<()> {
        for parent in path.ancestors() {
            match self.copying.enter(&parent) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
        }
        Ok(())
    }
}

impl Work for Differing<'_> {
    fn base(&self) -> Option<&Arc<Directory>> {
        Some(&self.base.root)
    }

    fn file(&self, path: &TreePath, mode: FileMode, content: &Content) -> io::Result<KeptContent> {
        let hash = content.hash()?;
        if let Some(place) = self.base.find(&hash) {
            return Ok(KeptContent { hash, size: content.len(), place: place.clone() });
        }
        self.make_parents(path)?;
        self.copying.file(path, mode, content)
    }

    fn finish(self: Box<Self>, snapshot: &Snapshot, root: &Directory) -> io::Result<Finished> {
        self.copying.finish(snapshot, root)
    }
}

struct OverlayReader {
    copies: Arc<dyn Reader>,
    base: Arc<dyn Reader>,
}

impl Reader for OverlayReader {
    fn open(&self, path: &TreePath, file: &KeptFile) -> io::Result<Content> {
        // A copy lies at the path of its file and needs no other place.
        let reader = if file.place.is_empty() { &self.copies } else { &self.base };
        reader.open(path, file)
    }
}
