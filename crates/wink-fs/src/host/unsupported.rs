//! The host backend on systems other than Linux, where it cannot be opened.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::Capture;
use crate::filesystem::event::Event;
use crate::filesystem::layer::Source;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::filesystem::staged::{Staged, Staging};
use crate::filesystem::{
    Backend, DoneFirst, Filesystem, Properties, Put, PutOptions, Recursion, Removed, Replaced,
    Replacement,
};
use crate::hash::ContentHash;
use crate::host_options::HostOptions;
use crate::oplog::{BeforeImage, KeptEntries, KeptEntry, Recorded};
use crate::path::TreePath;
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::scope::{Exclusions, Scope};
use crate::tree::{Entry, FileMode, Stat, Tree};

/// Keeps files in a directory of the host, on Linux; unsupported on this system.
#[derive(Debug)]
pub struct HostBackend(Infallible);

impl HostBackend {
    /// Unsupported on this system.
    pub fn open_ambient(_root: impl AsRef<Path>) -> Result<Self> {
        Err(unsupported())
    }

    /// Unsupported on this system.
    pub fn open_ambient_with(_root: impl AsRef<Path>, _options: &HostOptions) -> Result<Self> {
        Err(unsupported())
    }

    /// Unsupported on this system.
    pub fn temporary_with(_options: &HostOptions) -> Result<Self> {
        Err(unsupported())
    }

    /// Unsupported on this system.
    pub fn temporary() -> Result<Self> {
        Err(unsupported())
    }

    pub(crate) fn recovery_events(&self) -> &[Event] {
        match self.0 {}
    }
}

/// Pre-images of operations, on Linux.
pub(crate) struct Preimages;

impl Preimages {
    pub(crate) fn open(_: PathBuf, _: Vec<(usize, TreePath)>) -> Self {
        Self
    }

    pub(crate) fn of_replacement(_: &Path) -> Result<Option<Recorded>> {
        Ok(None)
    }
}

impl KeptEntries for Preimages {
    fn entry(&self, _: usize) -> Result<Option<KeptEntry>> {
        Err(unsupported())
    }
}

/// Finds nothing, because no pre-images are kept on this system.
pub(crate) fn first_written_since(_: &Path, _: &Path) -> Result<Option<TreePath>> {
    Ok(None)
}

/// Returns false, because no pre-images are kept on this system.
pub(crate) fn may_be_written(_: &Path) -> Result<bool> {
    Ok(false)
}

fn unsupported() -> Error {
    Error::new(Operation::Open, ErrorKind::Unsupported)
        .with_detail("directories of the host need Linux 5.6 or later; use memory here")
}

impl Tree for HostBackend {
    fn stat(&self, _: &TreePath) -> Result<Stat> {
        match self.0 {}
    }

    fn list(&self, _: &TreePath) -> Result<Vec<Entry>> {
        match self.0 {}
    }

    fn open(&self, _: &TreePath) -> Result<Content> {
        match self.0 {}
    }

    fn read_link(&self, _: &TreePath) -> Result<Vec<u8>> {
        match self.0 {}
    }

    fn known_hash(&self, _: &TreePath) -> Option<ContentHash> {
        match self.0 {}
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        match self.0 {}
    }
}

impl Filesystem for HostBackend {
    fn properties(&self) -> &Properties {
        match self.0 {}
    }

    fn stage(&self) -> Result<Staging> {
        match self.0 {}
    }

    fn put(&mut self, _: &TreePath, _: &mut Staged, _: &PutOptions) -> Result<Put> {
        match self.0 {}
    }

    fn create_dir(&mut self, _: &TreePath) -> Result<()> {
        match self.0 {}
    }

    fn symlink(&mut self, _: &TreePath, _: &[u8]) -> Result<()> {
        match self.0 {}
    }

    fn set_mode(&mut self, _: &TreePath, _: FileMode) -> Result<()> {
        match self.0 {}
    }

    fn remove(&mut self, _: &TreePath, _: Recursion) -> Result<Removed> {
        match self.0 {}
    }

    fn rename(&mut self, _: &TreePath, _: &TreePath, _: Replacement) -> Result<()> {
        match self.0 {}
    }
}

impl Backend for HostBackend {
    fn check_replace(&self, _: &ReplacePlan<'_>) -> Result<()> {
        match self.0 {}
    }

    fn replace_by(&mut self, _: &ReplacePlan<'_>, _: DoneFirst<'_>) -> Result<Replaced> {
        match self.0 {}
    }

    fn capture(&self, _: &Exclusions) -> Result<Capture> {
        match self.0 {}
    }

    fn install(&mut self, _: &TreePath, _: Source<'_>) -> Result<()> {
        match self.0 {}
    }

    fn learn(&mut self, _: &dyn Tree, _: &dyn Tree) {
        match self.0 {}
    }

    fn before_image(&self, _: &Path) -> Result<Box<dyn BeforeImage>> {
        match self.0 {}
    }

    fn replace(&mut self, _: &dyn Tree, _: &Scope) -> Result<Replaced> {
        match self.0 {}
    }

    fn live(&self) -> Arc<dyn Tree> {
        match self.0 {}
    }
}
