//! What `wink session` prints as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::SkippedEntry;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SessionList {
    pub(crate) directory: String,
    /// In the order of their files' names.
    pub(crate) sessions: Vec<SessionFile>,
}

#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SessionFile {
    pub(crate) file: String,
    pub(crate) id: Option<String>,
    pub(crate) created_at: Option<String>,
    /// How many there are, those below it included.
    pub(crate) sessions: u64,
    pub(crate) tool_calls: u64,
    /// Whether its files are in an archive beside it.
    pub(crate) has_archive: bool,
    /// Why it cannot be read.
    pub(crate) error: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SessionShown {
    pub(crate) file: String,
    /// The archive of its files.
    pub(crate) archive: Option<String>,
    /// Each after the one above it.
    pub(crate) sessions: Vec<SessionEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SessionEntry {
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    /// How many sessions are above it.
    pub(crate) depth: u64,
    pub(crate) created_at: String,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) slices: Vec<SliceEntry>,
    /// Oldest first.
    pub(crate) tool_calls: Vec<ToolCallEntry>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SliceEntry {
    pub(crate) name: String,
    /// `state` or `log`.
    pub(crate) kind: String,
    pub(crate) items: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ToolCallEntry {
    pub(crate) tool: String,
    pub(crate) turn: u64,
    pub(crate) at: String,
    pub(crate) path: Option<String>,
    pub(crate) success: bool,
    pub(crate) duration_us: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SessionChecked {
    pub(crate) file: String,
    pub(crate) ok: bool,
    pub(crate) sessions: u64,
    /// How many files the archive beside it has; null where there is none.
    pub(crate) archive_files: Option<u64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SessionLoaded {
    pub(crate) file: String,
    pub(crate) id: String,
    pub(crate) files: u64,
    pub(crate) written: u64,
    pub(crate) removed: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SessionDumped {
    pub(crate) id: String,
    pub(crate) session: String,
    pub(crate) archive: String,
    /// What is not in the archive, and why.
    pub(crate) skipped: Vec<SkippedEntry>,
}
