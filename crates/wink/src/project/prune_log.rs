//! What was pruned and when, in a file beside the settings: snapshots never go silently.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use wink_fs::Event;

use crate::sys::disk;
use crate::ui::format;

const FILE: &str = "pruned";

/// Only the newest lines that fit are read, and kept.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Says what went at one time.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PruneRecord {
    pub(crate) at: String,
    pub(crate) by: String,
    /// The ids of the snapshots that are gone, or from which paths were taken out.
    pub(crate) snapshots: Vec<String>,
    /// What was taken out of them; nothing where they are gone as a whole.
    #[serde(default)]
    pub(crate) paths: Vec<String>,
}

/// Writes down what an event tells is gone; a note that fails to be kept harms nothing.
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

/// Returns what was written down, oldest first; a line that is damaged is passed over.
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
