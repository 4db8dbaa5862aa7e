//! What the commands print as JSON that are about archives.

use serde::Serialize;

use super::SkippedEntry;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ArchiveShown {
    pub(crate) file: String,
    pub(crate) created_at: String,
    pub(crate) files: u64,
    /// The sizes of all files added up.
    pub(crate) bytes: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ExportedTo {
    pub(crate) file: String,
    pub(crate) files: u64,
    /// The sizes of all files added up.
    pub(crate) bytes: u64,
    pub(crate) archive_bytes: u64,
    /// What is not in the archive, and why.
    pub(crate) skipped: Vec<SkippedEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ImportedFrom {
    pub(crate) file: String,
    pub(crate) files: u64,
    pub(crate) written: u64,
    pub(crate) removed: u64,
    pub(crate) unchanged: u64,
}
