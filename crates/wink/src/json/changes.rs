//! Differences between two states, as JSON.

use serde::Serialize;
use wink_fs::{Diff, OperationChange};

/// Counts of changed paths.
#[derive(Debug, Default, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Changes {
    pub(crate) added: u64,
    pub(crate) modified: u64,
    pub(crate) deleted: u64,
}

impl Changes {
    pub(crate) fn total(self) -> u64 {
        self.added + self.modified + self.deleted
    }
}

impl From<&Diff> for Changes {
    fn from(diff: &Diff) -> Self {
        let [added, modified, deleted] =
            [&diff.added, &diff.modified, &diff.deleted].map(|list| list.len() as u64);
        Self { added, modified, deleted }
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ChangedEntry {
    pub(crate) path: String,
    /// `added`, `modified` or `deleted`.
    pub(crate) change: &'static str,
    /// `file`, `directory` or `symlink` before the change; null if it did not exist.
    pub(crate) before: Option<String>,
    /// The same after the change.
    pub(crate) after: Option<String>,
}

impl From<&OperationChange> for ChangedEntry {
    fn from(change: &OperationChange) -> Self {
        let kinds = [change.before, change.after];
        let [before, after] = kinds.map(|kind| kind.map(|kind| kind.to_string()));
        let path = change.path.to_string();
        Self { path, change: change_of(before.is_some(), after.is_some()), before, after }
    }
}

impl From<&wink_fs::Changed> for ChangedEntry {
    fn from(changed: &wink_fs::Changed) -> Self {
        let kinds = [changed.before, changed.after];
        let [before, after] = kinds.map(|kind| kind.map(|kind| kind.to_string()));
        let path = changed.path.to_string();
        Self { path, change: change_of(before.is_some(), after.is_some()), before, after }
    }
}

impl ChangedEntry {
    /// Returns git's letter for the change.
    pub(crate) fn letter(&self) -> char {
        match self.change {
            "added" => 'A',
            "deleted" => 'D',
            _ => 'M',
        }
    }

    /// Returns the path as shown to people; a directory ends in `/`.
    pub(crate) fn shown(&self) -> String {
        let is_directory = |kind: &Option<String>| kind.as_deref() == Some("directory");
        if is_directory(&self.after) || (self.after.is_none() && is_directory(&self.before)) {
            format!("{}/", self.path)
        } else {
            self.path.clone()
        }
    }
}

fn change_of(before: bool, after: bool) -> &'static str {
    match (before, after) {
        (false, _) => "added",
        (_, false) => "deleted",
        _ => "modified",
    }
}
