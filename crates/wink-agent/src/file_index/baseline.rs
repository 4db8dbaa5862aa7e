//! The files at the last update of the session.

use std::collections::BTreeMap;

use wink_fs::{Tree, TreePath};

use super::rollback::TakenBack;
use super::scan::{Found, encoding};
use crate::session::{FileChange, VirtualFileSystem};

/// The files at the last scan.
#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<TreePath, Found>);

impl Known {
    /// Applies changes that events reported.
    pub(super) fn learn(&mut self, heard: Vec<(FileChange, Option<Found>)>) -> Vec<FileChange> {
        let learnt = heard.into_iter().map(|(change, found)| {
            self.apply(&change, found);
            change
        });
        learnt.collect()
    }

    fn apply(&mut self, change: &FileChange, found: Option<Found>) {
        match change {
            FileChange::Written { path, .. } => {
                self.0.extend(found.map(|found| (path.clone(), found)));
            }
            FileChange::Removed { path } => drop(self.take(path)),
            FileChange::Renamed { from, to } => {
                let moved = self.take(from);
                self.take(to);
                let moved = moved
                    .into_iter()
                    .filter_map(|(path, found)| Some((path.rebase(from, to)?.ok()?, found)));
                self.0.extend(moved);
            }
        }
    }

    /// Removes a file, or all below a directory.
    fn take(&mut self, path: &TreePath) -> Vec<(TreePath, Found)> {
        let below = self.0.range(path..).map(|(other, _)| other);
        let below: Vec<_> = below.take_while(|other| other.starts_with(path)).cloned().collect();
        below.into_iter().filter_map(|path| self.0.remove_entry(&path)).collect()
    }

    /// Records the files that exist at the beginning.
    pub(super) fn begin(&mut self, found: BTreeMap<TreePath, Found>) {
        self.0 = found;
    }

    /// Returns the paths at which the files certainly differ from a listing, which does not know their content.
    pub(super) fn differences(&self, listing: &VirtualFileSystem) -> Vec<FileChange> {
        let gone = listing.files().filter(|file| !self.0.contains_key(&file.path));
        let gone = gone.map(|file| FileChange::removed(file.path.clone()));
        let is_listed = |(path, found): &(&TreePath, &Found)| {
            listing.get(path).is_some_and(|file| found.has_size(file.size_bytes))
        };
        let others = self.0.iter().filter(|file| !is_listed(file));
        gone.chain(others.map(|(path, found)| found.written(path.clone(), None))).collect()
    }

    /// Applies a scan of some paths, and below them, and returns the differences.
    pub(super) fn compare(
        &mut self,
        mut found: BTreeMap<TreePath, Found>,
        paths: &[TreePath],
        tree: &dyn Tree,
        taken_back: &TakenBack,
    ) -> Vec<FileChange> {
        let known: BTreeMap<_, _> = paths.iter().flat_map(|path| self.take(path)).collect();
        let gone = known.keys().filter(|path| !found.contains_key(*path));
        let mut changes: Vec<_> = gone.cloned().map(FileChange::removed).collect();
        for (path, file) in &mut found {
            let known = known.get(path);
            if let Some(known) = known.filter(|known| known.is_untouched(file)) {
                *file = *known;
                continue;
            }
            *file = file.hashed(tree, path);
            let same = known.map(|known| known.has_content_of(file));
            if !same.is_some_and(|same| same.unwrap_or_else(|| taken_back.has(path))) {
                changes.push(file.written(path.clone(), encoding(tree, path)));
            }
        }
        self.0.extend(found);
        changes
    }
}
