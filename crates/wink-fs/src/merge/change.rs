//! What one side changed, entry by entry.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::error::Result;
use crate::path::TreePath;
use crate::tree::compare::{Difference, compare};
use crate::tree::descend;
use crate::tree::scope::Scope;
use crate::tree::{Kind, Tree};

/// The change of one entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Change {
    pub(super) before: Option<Kind>,
    pub(super) after: Option<Kind>,
}

/// Every entry that one side changed, including those in a new or deleted directory.
#[derive(Default)]
pub(super) struct Changes(BTreeMap<TreePath, Change>);

impl Changes {
    pub(super) fn find(base: &dyn Tree, side: &dyn Tree, scope: &Scope) -> Result<Self> {
        let mut changes = Self::default();
        let differences = compare(base, side, scope)?.into_iter();
        // A patch stands for whole directories, so the mode of one that stays is not merged: ours is kept.
        let merged = differences.filter(|it| it.directory_mode().is_none());
        for Difference { path, before, after, .. } in merged {
            changes.add_below(base, &path, before, |kind| (Some(kind), None))?;
            changes.add_below(side, &path, after, |kind| (None, Some(kind)))?;
            changes.0.insert(path, Change { before, after });
        }
        Ok(changes)
    }

    /// Adds everything in a directory.
    fn add_below(
        &mut self,
        tree: &dyn Tree,
        path: &TreePath,
        kind: Option<Kind>,
        change: fn(Kind) -> (Option<Kind>, Option<Kind>),
    ) -> Result<()> {
        if kind != Some(Kind::Directory) {
            return Ok(());
        }
        for entry in tree.list(path)? {
            let path = path.join(&entry.name)?;
            descend(|| self.add_below(tree, &path, Some(entry.kind), change))?;
            let (before, after) = change(entry.kind);
            self.0.insert(path, Change { before, after });
        }
        Ok(())
    }

    pub(super) fn get(&self, path: &TreePath) -> Option<Change> {
        self.0.get(path).copied()
    }

    /// Returns the changes in the order of paths.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&TreePath, Change)> {
        self.0.iter().map(|(path, change)| (path, *change))
    }

    /// Returns the changes below a path.
    pub(super) fn below<'a>(
        &'a self,
        path: &'a TreePath,
    ) -> impl Iterator<Item = (&'a TreePath, Change)> {
        let all = self.0.range((Bound::Excluded(path), Bound::Unbounded));
        all.take_while(move |(below, _)| below.starts_with(path)).map(|(path, it)| (path, *it))
    }

    /// Returns the file or link that is in the way of a path.
    pub(super) fn in_the_way(&self, path: &TreePath) -> Option<TreePath> {
        let is_none = |change: Change| !matches!(change.after, None | Some(Kind::Directory));
        path.ancestors().find(|above| self.get(above).is_some_and(is_none))
    }
}
