//! Directories that a replacement made only for what it put in them.
//!
//! Where it was about some paths, what it wrote down is these and not the directories above them.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::path::TreePath;
use crate::tree::compare::kind_at;
use crate::tree::descend::descend;
use crate::tree::{Kind, Tree};

/// Returns the paths to make as they were before, so that no directory stays that was not there: where nothing but
/// such paths is in one, it stands for them.
pub(crate) fn with_made_parents(
    before: &dyn Tree,
    live: &dyn Tree,
    paths: &[TreePath],
) -> Result<Vec<TreePath>> {
    let mut made = Made { before, live, paths: paths.iter().collect(), known: BTreeMap::new() };
    let mut with: Vec<TreePath> = Vec::new();
    for path in made.paths.clone() {
        if !with.last().is_some_and(|directory| path.starts_with(directory)) {
            with.push(made.highest(path)?);
        }
    }
    Ok(with)
}

struct Made<'a> {
    before: &'a dyn Tree,
    live: &'a dyn Tree,
    paths: BTreeSet<&'a TreePath>,
    /// Of directories that were looked at, whether they were made only for the paths.
    known: BTreeMap<TreePath, bool>,
}

impl Made<'_> {
    /// Returns the highest directory above a path that was made only for such, or the path itself.
    fn highest(&mut self, path: &TreePath) -> Result<TreePath> {
        let mut highest = path.clone();
        while let Some(directory) = highest.parent().filter(|it| !it.is_root()) {
            if !self.is_made(&directory)? {
                break;
            }
            highest = directory;
        }
        Ok(highest)
    }

    fn is_made(&mut self, directory: &TreePath) -> Result<bool> {
        if let Some(known) = self.known.get(directory) {
            return Ok(*known);
        }
        let is_made = kind_at(self.before, directory)?.is_none()
            && holds_only(self.live, directory, &self.paths)?;
        self.known.insert(directory.clone(), is_made);
        Ok(is_made)
    }
}

/// Tells whether all that is in a directory is at some paths, or above them.
fn holds_only(tree: &dyn Tree, directory: &TreePath, paths: &BTreeSet<&TreePath>) -> Result<bool> {
    for entry in tree.list(directory)? {
        let path = directory.join(&entry.name)?;
        if paths.contains(&path) {
            continue;
        }
        let mut from_there = paths.range::<TreePath, _>(&path..);
        let is_above = from_there.next().is_some_and(|it| it.starts_with(&path));
        let holds = entry.kind == Kind::Directory && is_above;
        if !holds || !descend(|| holds_only(tree, &path, paths))? {
            return Ok(false);
        }
    }
    Ok(true)
}
