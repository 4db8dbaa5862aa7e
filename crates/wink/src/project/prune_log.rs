//! The prune log, a file beside the settings: snapshots are never deleted silently.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use wink_fs::Event;

use crate::sys::disk;
use crate::ui::format;

const FILE: &str = "pruned";

/// Only the newest lines within this size are kept.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What was pruned at one time.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PruneRecord {
    pub(crate) at: String,
    pub(crate) by: String,
    /// The ids of the deleted snapshots, or of those from which paths were deleted.
    pub(crate) snapshots: Vec<String>,
    /// The paths that were deleted from them; empty if the snapshots were deleted.
    #[serde(default)]
    pub(crate) paths: Vec<String>,
}

/// Records the pruned snapshots of an event; errors are ignored.
pub(crate) fn remember(directory: &Path, by: &str, event: &Event) {
    let (ids, paths) = match event {
        Event::SnapshotsPruned { ids } => (ids, Vec::new()),
        Event::PathsPruned { snapshots, paths } => (snapshots, paths.iter().cloned().collect()),
        _ => return,
    };
    let snapshots: Vec<_> = ids.iter().map(ToString::to_string).collect();
    let (at, by) = (format::utc(SystemTime::now()), by.to_owned());
    if let Ok(line) = serde_json::to_string(&PruneRecord { at, by, snapshots, paths }) {
        let _ = disk::append_line(&place(directory), &line, MAX_BYTES);
    }
}

/// Returns the records, oldest first; damaged lines are skipped.
pub(crate) fn all(directory: &Path) -> Vec<PruneRecord> {
    let bytes = disk::read_end(&place(directory), MAX_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn place(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_is_read_back_and_damage_is_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        let id: wink_fs::SnapshotId = "00000000-0000-4000-8000-000000000000".parse().unwrap();
        let event = Event::SnapshotsPruned { ids: vec![id] };
        remember(directory.path(), "me", &event);
        disk::append_line(&place(directory.path()), "{", MAX_BYTES).unwrap();
        remember(directory.path(), "you", &event);
        remember(directory.path(), "you", &Event::Replaced { paths: Vec::new() });
        let all = all(directory.path());
        let by: Vec<_> = all.iter().map(|it| it.by.as_str()).collect();
        assert_eq!(by, ["me", "you"]);
        assert_eq!(all[0].snapshots, [id.to_string()]);
    }
}
