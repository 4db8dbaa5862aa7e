//! Plans: what a replacement will change, computed before it begins.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::Capture;
use crate::filesystem::{Backend as _, Replaced};
use crate::memory::MemoryBackend;
use crate::path::TreePath;
use crate::tree::compare::{Difference, compare};
use crate::tree::descend;
use crate::tree::scope::Scope;
use crate::tree::{Kind, Tree};

/// The differences between captured files and those that replace them.
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
    /// The current files.
    pub(crate) before: Capture,
    /// The new files.
    pub(crate) target: &'a dyn Tree,
    /// What may change.
    pub(crate) scope: &'a Scope,
    /// Sorted by path.
    pub(crate) differences: Vec<Difference>,
    /// Shared by clones, so that each tree is counted once.
    counts: Arc<Counts>,
}

/// How many files and links each difference removes and adds, once they were counted.
#[derive(Default)]
struct Counts {
    removed: OnceLock<Vec<u64>>,
    added: OnceLock<Vec<u64>>,
}

impl<'a> ReplacePlan<'a> {
    /// Computes the differences in scope.
    pub fn new(before: Capture, target: &'a dyn Tree, scope: &'a Scope) -> Result<Self> {
        let differences = compare(&*before.tree, target, scope)?;
        Ok(Self { differences, ..Self::of_nothing(before, target, scope) })
    }

    /// Makes a plan without differences.
    pub(crate) fn of_nothing(before: Capture, target: &'a dyn Tree, scope: &'a Scope) -> Self {
        Self { before, target, scope, differences: Vec::new(), counts: Arc::default() }
    }

    /// Returns the plan with further differences: directories that get another mode.
    pub(crate) fn with_directory_modes(mut self, modes: Vec<Difference>) -> Self {
        self.differences.extend(modes);
        self.differences.sort_by(|a, b| a.path.cmp(&b.path));
        self.differences.dedup_by(|a, b| a.path == b.path);
        self
    }

    /// Returns the plan for a target with the same files.
    pub(crate) fn with_target(&self, target: &'a dyn Tree) -> Self {
        Self { target, ..self.clone() }
    }

    /// Returns how many files and links each difference removes, replaced ones included.
    pub(crate) fn removed(&self) -> Result<&[u64]> {
        counted(&self.counts.removed, &self.differences, |it| it.count_before(&*self.before.tree))
    }

    /// Returns how many files and links each difference adds, replaced ones included.
    pub(crate) fn added(&self) -> Result<&[u64]> {
        counted(&self.counts.added, &self.differences, |it| it.count_after(self.target))
    }

    /// Returns the new files.
    pub fn target(&self) -> &'a dyn Tree {
        self.target
    }

    /// Returns what may change.
    pub fn scope(&self) -> &'a Scope {
        self.scope
    }

    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }

    /// Returns the new files with the counts of what changes, given the current files with everything that is excluded.
    ///
    /// Everything that changes is read from the target.
    pub fn apply(&self, live: &Arc<dyn Tree>) -> Result<(Arc<dyn Tree>, Replaced)> {
        let mut after = MemoryBackend::over(live)?;
        let replaced = after.replace_by(self, &mut || Ok(None))?;
        Ok((after.live(), replaced))
    }

    /// Refuses a FIFO, socket or device in the target.
    pub(crate) fn check_kinds(&self) -> Result<()> {
        let made = self.differences.iter().filter(|it| it.directory_mode().is_none());
        let mut made = made.filter_map(|it| Some((&it.path, it.after?)));
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

fn counted<'c>(
    cell: &'c OnceLock<Vec<u64>>,
    differences: &[Difference],
    count: impl FnMut(&Difference) -> Result<u64>,
) -> Result<&'c [u64]> {
    if let Some(counts) = cell.get() {
        return Ok(counts);
    }
    let counts = differences.iter().map(count).collect::<Result<_>>()?;
    Ok(cell.get_or_init(|| counts))
}

impl fmt::Debug for ReplacePlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplacePlan")
            .field("scope", &self.scope)
            .field("differences", &self.differences)
            .finish_non_exhaustive()
    }
}
