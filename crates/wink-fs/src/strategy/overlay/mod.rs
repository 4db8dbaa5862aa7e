//! `overlay`: the difference from the base that a workspace is mounted over.
//!
//! The layers of the mount are not read, because the marks in them belong to the kernel. A snapshot is taken of the
//! merged view. Contents that the base has, at any path, stay there; all others are copied.

mod base;
mod mount;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use self::base::Base;
pub use self::mount::OverlayMount;
use super::copy::{CopyKeeper, CopyMethod};
use super::keeper::{Finished, Keeper, KeptContent, Reader, Work};
use super::manifest::{Directory, KeptFile, Manifest};
use crate::path::TreePath;
use crate::snapshot::{Snapshot, SnapshotId};
use crate::store::disk::Disk;
use crate::tree::FileMode;
use crate::tree::content::Content;

/// Returns the base of a workspace; without an [`OverlayMount`] it is Unsupported.
pub(super) fn base_of(root: &Path) -> io::Result<PathBuf> {
    mount::base_of(root)
}

/// Prepares to keep differences from a base.
pub(super) fn make(disk: &Disk, base: &Path) -> io::Result<()> {
    base::describe(disk, base)
}

/// Keeps the contents that the base does not have.
#[derive(Debug)]
pub(super) struct OverlayKeeper {
    disk: Disk,
    copies: CopyKeeper,
    /// Read on first use.
    base: Mutex<Option<Arc<Base>>>,
}

impl OverlayKeeper {
    pub(super) fn new(disk: Disk) -> Self {
        let copies = CopyKeeper::new(disk.clone(), CopyMethod::Copy);
        Self { disk, copies, base: Mutex::default() }
    }

    fn base(&self) -> io::Result<Arc<Base>> {
        let mut base = self.base.lock();
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
        let copies = self.copies.reader(id)?;
        let base = self.base()?.reader();
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
    /// Makes the parents of a copy; several threads may do so.
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
        // A copy is at the path of its file and needs no location.
        let reader = if file.place.is_empty() { &self.copies } else { &self.base };
        reader.open(path, file)
    }
}
