//! What a replacement will change, found out before it is done.

use std::fmt;

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::Capture;
use crate::path::TreePath;
use crate::tree::compare::{Difference, compare};
use crate::tree::descend::descend;
use crate::tree::scope::Scope;
use crate::tree::{Kind, Tree};

/// Holds how captured files differ from those that are to take their place.
///
/// ```
/// use wink_fs::{Backend, Filesystem, MemoryBackend, ReplacePlan, Scope, TreePath};
///
/// let (mut files, mut other) = (MemoryBackend::new(), MemoryBackend::new());
/// other.create_dir(&TreePath::parse("src")?)?;
/// let (before, everything) = (files.capture(&Default::default())?, Scope::everything());
/// let plan = ReplacePlan::new(before, &other, &everything)?;
/// assert!(!plan.is_empty());
/// files.replace_by(&plan, &mut || Ok(None))?;
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone)]
pub struct ReplacePlan<'a> {
    /// The files as they are.
    pub(crate) before: Capture,
    /// The files as they are to be.
    pub(crate) target: &'a dyn Tree,
    /// What may change.
    pub(crate) scope: &'a Scope,
    /// In the order of their paths.
    pub(crate) differences: Vec<Difference>,
}

impl<'a> ReplacePlan<'a> {
    /// Finds the differences within a scope.
    pub fn new(before: Capture, target: &'a dyn Tree, scope: &'a Scope) -> Result<Self> {
        let differences = compare(&*before.tree, target, scope)?;
        Ok(Self { before, target, scope, differences })
    }

    /// Returns the files as they are to be.
    pub fn target(&self) -> &'a dyn Tree {
        self.target
    }

    /// Returns what may change.
    pub fn scope(&self) -> &'a Scope {
        self.scope
    }

    /// Tells whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }

    /// Refuses a FIFO, socket or device among what is to be made.
    pub(crate) fn check_kinds(&self) -> Result<()> {
        let mut made = self.differences.iter().filter_map(|it| Some((&it.path, it.after?)));
        made.try_for_each(|(path, kind)| self.check_kind(path, kind))
    }

    fn check_kind(&self, path: &TreePath, kind: Kind) -> Result<()> {
        match kind {
            Kind::Directory => descend(|| self.check_directory(path)),
            Kind::Other => {
                Err(Error::new(Operation::Replace, ErrorKind::SpecialFile).with_path(path))
            }
            Kind::File | Kind::Symlink => Ok(()),
        }
    }

    fn check_directory(&self, path: &TreePath) -> Result<()> {
        for entry in self.target.list(path)? {
            let path = path.join(&entry.name)?;
            if !self.scope.excluded().matches_entry(&path) {
                self.check_kind(&path, entry.kind)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ReplacePlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplacePlan")
            .field("scope", &self.scope)
            .field("differences", &self.differences)
            .finish_non_exhaustive()
    }
}
