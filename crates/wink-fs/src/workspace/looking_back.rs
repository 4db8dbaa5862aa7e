//! Files as they were before operations that came later.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use crate::content::Content;
use crate::error::Result;
use crate::hash::ContentHash;
use crate::operation::OperationRecord;
use crate::path::{Name, TreePath};
use crate::tree::{Entry, Stat, Tree};
use crate::tree_hash::TreeHash;

/// Shows the files of now, but for what operations changed: that is what the first of them kept.
pub(super) struct LookingBack {
    live: Arc<dyn Tree>,
    /// What is kept of a path and all that is below it, but for what was kept of that before.
    kept: BTreeMap<TreePath, Arc<dyn Tree>>,
}

impl LookingBack {
    pub(super) fn new(live: Arc<dyn Tree>) -> Self {
        Self { live, kept: BTreeMap::new() }
    }

    /// Looks back to before the next operation, at what it changed of some paths; what it kept is opened by
    /// `before`. What cannot be looked at any more is as good as not there.
    pub(super) fn add(
        &mut self,
        next: &OperationRecord,
        paths: &BTreeSet<&TreePath>,
        before: impl FnOnce() -> Result<Arc<dyn Tree>>,
    ) {
        let changed = next.changes.iter().map(|it| &it.path);
        let is_new = |path: &&TreePath| self.nearest(path).is_none() && overlaps(paths, path);
        let new: Vec<_> = changed.filter(is_new).collect();
        if let (false, Ok(tree)) = (new.is_empty(), before()) {
            self.kept.extend(new.into_iter().map(|path| (path.clone(), tree.clone())));
        }
    }

    fn nearest(&self, path: &TreePath) -> Option<&Arc<dyn Tree>> {
        let above: Vec<_> = [TreePath::root()].into_iter().chain(path.ancestors()).collect();
        let above = || above.iter().rev().find_map(|it| self.kept.get(it));
        self.kept.get(path).or_else(above)
    }

    fn at(&self, path: &TreePath) -> &dyn Tree {
        &**self.nearest(path).unwrap_or(&self.live)
    }

    /// Returns the paths below another of which something is kept.
    fn below(&self, path: &TreePath) -> impl Iterator<Item = &TreePath> {
        let after = self.kept.range((Bound::Excluded(path), Bound::Unbounded));
        after.map(|(kept, _)| kept).take_while(|kept| kept.starts_with(path))
    }

    /// Returns an entry, if it was there.
    fn entry(&self, directory: &TreePath, name: Name) -> Result<Option<Entry>> {
        match self.stat(&directory.join(&name)?) {
            Err(error) if error.is_absence() => Ok(None),
            stat => Ok(Some(Entry::new(name, stat?.kind))),
        }
    }
}

/// Tells whether a path is one of some, or in or around one.
fn overlaps(paths: &BTreeSet<&TreePath>, path: &TreePath) -> bool {
    let mut above = path.ancestors().chain([TreePath::root()]);
    paths.range::<TreePath, _>(path..).next().is_some_and(|it| it.starts_with(path))
        || above.any(|it| paths.contains(&it))
}

impl Tree for LookingBack {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.at(path).stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let entries = self.at(path).list(path)?;
        let depth = path.depth();
        let below = self.below(path).filter_map(|it| it.segments().nth(depth));
        let below: BTreeSet<Name> = below.map(Name::from_segment).collect();
        if below.is_empty() {
            return Ok(entries);
        }
        let names: BTreeSet<Name> = entries.into_iter().map(|it| it.name).chain(below).collect();
        names.into_iter().filter_map(|name| self.entry(path, name).transpose()).collect()
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.at(path).open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.at(path).read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.at(path).known_hash(path)
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        let is_whole = self.below(path).next().is_none();
        is_whole.then(|| self.at(path).known_tree_hash(path)).flatten()
    }
}
