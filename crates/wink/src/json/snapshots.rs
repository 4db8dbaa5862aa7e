//! What the commands print as JSON that take, list and bring back snapshots.

use serde::Serialize;
use wink_agent::WithoutSpecial;
use wink_fs::{NotCaptured, Skipped, Snapshot, SnapshotCause, TreePath};

use super::{ChangedEntry, Changes};
use crate::ui::format;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Taken {
    pub(crate) snapshot: SnapshotEntry,
    /// What is different from the snapshot's parent; null where that is gone or damaged.
    pub(crate) changes: Option<Changes>,
    /// The size of what it was the first to hold, packed; null where that was merged with what others hold.
    pub(crate) stored_bytes: Option<u64>,
    /// How many old snapshots went to make room for it.
    pub(crate) pruned: u64,
    pub(crate) duration_ms: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Log {
    /// What changed since the last snapshot; null where there is none, or it is damaged.
    pub(crate) live: Option<Changes>,
    /// The snapshot that the files of now grew from.
    pub(crate) current: Option<String>,
    /// Newest first.
    pub(crate) snapshots: Vec<SnapshotEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Restored {
    pub(crate) snapshot: SnapshotEntry,
    pub(crate) dry_run: bool,
    /// The id of the snapshot that holds what was replaced.
    pub(crate) saved: Option<String>,
    pub(crate) reverted: u64,
    pub(crate) brought_back: u64,
    pub(crate) removed: u64,
    pub(crate) unchanged: u64,
    pub(crate) entries: Vec<ChangedEntry>,
    /// What was replaced although others than calls of wink had changed it since the last snapshot.
    pub(crate) changed_outside: Vec<String>,
    pub(crate) duration_ms: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Shown {
    pub(crate) snapshot: SnapshotEntry,
    /// What is different from the snapshot's parent; null where there is none.
    pub(crate) changes: Option<Changes>,
    /// In the order of paths.
    pub(crate) entries: Vec<ChangedEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Tagged {
    pub(crate) snapshot: SnapshotEntry,
    /// The tag it had before.
    pub(crate) was: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SnapshotEntry {
    pub(crate) id: String,
    pub(crate) short: String,
    pub(crate) parent: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) message: Option<String>,
    /// `requested`, or `safety` where it keeps what a restore replaced.
    pub(crate) cause: &'static str,
    pub(crate) created_at: String,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) excluded: Vec<String>,
    pub(crate) skipped: Vec<SkippedEntry>,
}

impl From<&Snapshot> for SnapshotEntry {
    fn from(snapshot: &Snapshot) -> Self {
        Self {
            id: snapshot.id.to_string(),
            short: snapshot.id.short(),
            parent: snapshot.parent.map(|id| id.to_string()),
            tag: snapshot.tag.clone(),
            message: snapshot.message.clone(),
            cause: match snapshot.cause {
                SnapshotCause::Safety => "safety",
                _ => "requested",
            },
            created_at: format::utc(snapshot.created_at),
            files: snapshot.file_count,
            bytes: snapshot.total_bytes,
            excluded: snapshot.excluded.clone(),
            skipped: snapshot.skipped.iter().map(SkippedEntry::from).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SkippedEntry {
    pub(crate) path: String,
    pub(crate) why: String,
}

impl SkippedEntry {
    /// Lists what no archive holds.
    pub(crate) fn special(paths: &[TreePath]) -> Vec<Self> {
        let entry =
            |path: &TreePath| Self { path: path.to_string(), why: WithoutSpecial::WHY.to_owned() };
        paths.iter().map(entry).collect()
    }
}

impl From<&NotCaptured> for SkippedEntry {
    fn from(entry: &NotCaptured) -> Self {
        Self { path: entry.path.to_string(), why: entry.why.to_owned() }
    }
}

impl From<&Skipped> for SkippedEntry {
    fn from(skipped: &Skipped) -> Self {
        Self { path: skipped.path.clone(), why: skipped.why.clone() }
    }
}
