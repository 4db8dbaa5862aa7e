//! What a replacement will change, found out before it is done.

use std::fmt;

use crate::capture::Capture;
use crate::compare::{Difference, compare};
use crate::error::Result;
use crate::scope::Scope;
use crate::tree::Tree;

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
/// files.replace_by(&plan, &mut || Ok(()))?;
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
}

impl fmt::Debug for ReplacePlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplacePlan")
            .field("scope", &self.scope)
            .field("differences", &self.differences)
            .finish_non_exhaustive()
    }
}
