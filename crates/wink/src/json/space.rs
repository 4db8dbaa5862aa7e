//! What the commands print as JSON that look after what is kept.

use serde::Serialize;

use super::{DamagedEntry, SnapshotEntry};

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PrunedEntry {
    pub(crate) dry_run: bool,
    /// What is gone, or would be, oldest first.
    pub(crate) snapshots: Vec<SnapshotEntry>,
    pub(crate) bytes_freed: u64,
    pub(crate) packs_removed: u64,
    pub(crate) packs_written: u64,
    pub(crate) duration_ms: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RedactedEntry {
    pub(crate) pattern: String,
    pub(crate) dry_run: bool,
    /// The ids of the snapshots that held something that matches, oldest first.
    pub(crate) snapshots: Vec<String>,
    pub(crate) paths: Vec<String>,
    /// The numbers of operations that were forgotten because they kept some of it.
    pub(crate) operations: Vec<u64>,
    /// Whether the pattern was added to what is excluded, here and in all forks.
    pub(crate) excluded: bool,
    pub(crate) bytes_freed: u64,
    /// The directory of what `wink repair` put aside, which may still hold some of it.
    pub(crate) quarantine: Option<String>,
    /// Forks whose settings cannot be read, so that it is not excluded there.
    pub(crate) damaged_forks: Vec<DamagedEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RepairedEntry {
    /// Small files of the history that were missing or damaged, and were written again.
    pub(crate) written_again: Vec<String>,
    /// Files of the store that were moved into its directory `quarantine`.
    pub(crate) quarantined: Vec<String>,
    pub(crate) objects_saved: u64,
    /// The ids of snapshots whose record was missing and was written again.
    pub(crate) found: Vec<String>,
    /// The ids of snapshots that cannot be restored as a whole any more.
    pub(crate) lost: Vec<String>,
    /// Those of them of which some files are whole: these can still be read and restored.
    pub(crate) salvaged: Vec<String>,
    /// The id of the snapshot that was taken of the files, which has again what others missed.
    pub(crate) taken: Option<String>,
    /// The files and directories that could not be read, of which that snapshot has nothing.
    pub(crate) unreadable: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Verified {
    pub(crate) ok: bool,
    pub(crate) snapshots: u64,
    pub(crate) packs: u64,
    pub(crate) objects: u64,
    pub(crate) bytes_checked: u64,
    pub(crate) problems: Vec<ProblemEntry>,
    pub(crate) duration_ms: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProblemEntry {
    pub(crate) what: String,
    /// The ids of the snapshots that cannot be restored as a whole.
    pub(crate) snapshots: Vec<String>,
}
