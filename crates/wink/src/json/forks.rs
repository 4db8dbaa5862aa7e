//! What the commands print as JSON that are about forks, or join states.

use serde::Serialize;
use wink_fs::MergeConflict;

use super::ChangedEntry;
use crate::project::DamagedFork;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Reverted {
    /// The beginning of the step that was taken out; null for the files of now.
    pub(crate) from: Option<String>,
    /// Its end.
    pub(crate) to: Option<String>,
    #[serde(flatten)]
    pub(crate) outcome: MergeOutcome,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MergedIn {
    pub(crate) branch: String,
    /// The id of the snapshot that the fork began with, or was last brought in as.
    pub(crate) base: String,
    /// The id of the snapshot of what was brought in; none where nothing was.
    pub(crate) theirs: Option<String>,
    #[serde(flatten)]
    pub(crate) outcome: MergeOutcome,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Forked {
    pub(crate) branch: BranchEntry,
    pub(crate) files: u64,
    pub(crate) duration_ms: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Forks {
    pub(crate) branches: Vec<BranchEntry>,
    /// Those whose settings cannot be read.
    pub(crate) damaged: Vec<DamagedEntry>,
    /// The name of the one that this workspace is, where it is one of them.
    pub(crate) fork: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DamagedEntry {
    /// The name that it was made with.
    pub(crate) key: String,
    pub(crate) why: String,
}

impl From<&DamagedFork> for DamagedEntry {
    fn from(damaged: &DamagedFork) -> Self {
        Self { key: damaged.key.clone(), why: damaged.why.message().to_owned() }
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BranchDeleted {
    pub(crate) branch: BranchEntry,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BranchRenamed {
    pub(crate) branch: BranchEntry,
    /// The name it had before.
    pub(crate) was: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BranchEntry {
    pub(crate) name: String,
    /// The id of the snapshot that the fork began with.
    pub(crate) base: String,
    /// Its directory; empty where it has none.
    pub(crate) directory: String,
    /// The id of the snapshot that it was kept as, where it has no directory: an agent made it in a server.
    pub(crate) kept: Option<String>,
}

/// What a merge or a revert did, or would do.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MergeOutcome {
    pub(crate) applied: bool,
    pub(crate) dry_run: bool,
    /// The id of the snapshot that holds what was replaced.
    pub(crate) saved: Option<String>,
    pub(crate) entries: Vec<ChangedEntry>,
    pub(crate) conflicts: Vec<ConflictEntry>,
    pub(crate) duration_ms: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ConflictEntry {
    pub(crate) path: String,
    /// What the matter is, in words.
    pub(crate) why: String,
}

impl From<&MergeConflict> for ConflictEntry {
    fn from(conflict: &MergeConflict) -> Self {
        Self { path: conflict.path.to_string(), why: conflict.kind.to_string() }
    }
}
