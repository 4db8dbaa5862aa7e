//! What `wink search` and `wink op` print as JSON.

use serde::Serialize;
use wink_fs::Snapshot;

use super::{ChangedEntry, Changes};
use crate::project::prune_log::PruneRecord;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SearchedHistory {
    /// In the order of paths and lines, each once for a file.
    pub(crate) lines: Vec<HistoryLine>,
    /// How many snapshots were looked at.
    pub(crate) snapshots: u64,
    /// How many times a file was searched.
    pub(crate) searched: u64,
    /// Whether not all lines are listed.
    pub(crate) truncated: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HistoryLine {
    pub(crate) path: String,
    /// In the last snapshot that has it, counted from 1.
    pub(crate) line: u64,
    pub(crate) text: String,
    pub(crate) first: Option<SnapshotName>,
    pub(crate) last: Option<SnapshotName>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SnapshotName {
    pub(crate) id: String,
    pub(crate) short: String,
    pub(crate) tag: Option<String>,
}

impl SnapshotName {
    /// Returns it as people read it.
    pub(crate) fn shown(&self) -> String {
        match &self.tag {
            Some(tag) => format!("{} ({tag})", self.short),
            None => self.short.clone(),
        }
    }
}

impl From<&Snapshot> for SnapshotName {
    fn from(snapshot: &Snapshot) -> Self {
        let (id, short) = (snapshot.id.to_string(), snapshot.id.short());
        Self { id, short, tag: snapshot.tag.clone() }
    }
}

/// Both lists are newest first.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OperationLog {
    pub(crate) operations: Vec<OperationLogEntry>,
    /// The numbers of operations whose record is damaged; an undo passes over them.
    pub(crate) damaged: Vec<u64>,
    pub(crate) pruned: Vec<PruneRecord>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OperationShown {
    pub(crate) operation: OperationLogEntry,
    /// How many files it changed, as far as that is known.
    pub(crate) changes: Changes,
    /// The paths of which it is not known any more what it left there.
    pub(crate) unknown: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OperationLogEntry {
    pub(crate) sequence: u64,
    pub(crate) name: String,
    pub(crate) at: String,
    /// Who did it; null where that is not known.
    pub(crate) by: Option<String>,
    /// `call`, `replacement`, `recovery`, `undo`, `redo` or `skip`.
    pub(crate) cause: &'static str,
    /// The operation that was undone or redone.
    pub(crate) of: Option<u64>,
    /// The id of the snapshot that holds what a replacement replaced.
    pub(crate) saved: Option<String>,
    /// Whether it is undone, all of it.
    pub(crate) undone: bool,
    /// Where it is undone in part: the paths that were left alone.
    pub(crate) left_alone: Vec<String>,
    /// What it changed, in the order of paths.
    pub(crate) entries: Vec<ChangedEntry>,
    /// The files in directories that it made; at most the first 1,000 of each.
    pub(crate) files_inside: Vec<String>,
    /// Whether there may be more of them.
    pub(crate) files_inside_truncated: bool,
    #[serde(skip)]
    pub(crate) shown: Vec<String>,
    #[serde(skip)]
    pub(crate) shown_at: String,
}
