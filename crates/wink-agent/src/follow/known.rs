//! What is known of the files since the session was last told.

use std::collections::BTreeMap;

use wink_fs::TreePath;

use super::look::Found;
use crate::session::{Encoding, FileChange};

/// The files as they were at the last look.
#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<TreePath, Found>);

impl Known {
    /// Takes over changes that were heard of.
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

    /// Takes out a file, or all below a directory.
    fn take(&mut self, path: &TreePath) -> Vec<(TreePath, Found)> {
        let below = self.0.range(path..).map(|(other, _)| other);
        let below: Vec<_> = below.take_while(|other| other.starts_with(path)).cloned().collect();
        below.into_iter().filter_map(|path| self.0.remove_entry(&path)).collect()
    }

    /// Takes over what a look at all files found, and says where that is something else.
    pub(super) fn compare(
        &mut self,
        found: BTreeMap<TreePath, Found>,
        encoding: impl Fn(&TreePath) -> Option<Encoding>,
    ) -> Vec<FileChange> {
        let gone = self.0.keys().filter(|path| !found.contains_key(*path));
        let mut changes: Vec<_> = gone.cloned().map(FileChange::removed).collect();
        let other = found.iter().filter(|(path, file)| self.0.get(*path) != Some(*file));
        changes.extend(other.map(|(path, file)| file.written(path.clone(), encoding(path))));
        self.0 = found;
        changes
    }
}
