//! Snapshots, and what they omit, as JSON.

use serde::Serialize;
use wink_agent::WithoutSpecial;
use wink_fs::{NotCaptured, Skipped, Snapshot, SnapshotCause, TreePath};

use crate::ui::format;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SnapshotEntry {
    pub(crate) id: String,
    pub(crate) short: String,
    pub(crate) parent: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) message: Option<String>,
    /// `requested`, or `safety` for the state before a restore.
    pub(crate) cause: &'static str,
    pub(crate) created_at: String,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) excluded: Vec<String>,
    pub(crate) skipped: Vec<SkippedEntry>,
    /// What it should hold and does not; a snapshot with such paths is incomplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) missing: Vec<SkippedEntry>,
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
            excluded: snapshot.excluded_by_setting().map(str::to_owned).collect(),
            skipped: snapshot.skipped.iter().map(SkippedEntry::from).collect(),
            missing: snapshot.missing().map(SkippedEntry::from).collect(),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SkippedEntry {
    pub(crate) path: String,
    pub(crate) why: String,
}

impl SkippedEntry {
    /// Lists special files, which archives omit.
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
