//! What `wink fs` prints as JSON.

use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Listing {
    pub(crate) path: String,
    pub(crate) entries: Vec<FileEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileEntry {
    pub(crate) name: String,
    /// `file`, `directory`, `symlink` or `other`.
    pub(crate) kind: String,
    pub(crate) bytes: u64,
    pub(crate) executable: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileContent {
    pub(crate) path: String,
    /// Of a file; null for a link.
    pub(crate) hash: Option<String>,
    /// Null where it is no text.
    pub(crate) text: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileStat {
    pub(crate) path: String,
    /// `file`, `directory`, `symlink` or `other`.
    pub(crate) kind: String,
    pub(crate) bytes: u64,
    pub(crate) executable: bool,
    /// Whether only its owner has access.
    pub(crate) private: bool,
    /// Of a file.
    pub(crate) hash: Option<String>,
    /// Of a link.
    pub(crate) target: Option<String>,
    /// Where it is known.
    pub(crate) modified_at: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FoundFiles {
    /// In the order of paths.
    pub(crate) paths: Vec<String>,
    /// How many entries could not be looked at.
    pub(crate) unreadable: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FoundLines {
    /// In the order of paths and lines.
    pub(crate) lines: Vec<FoundLine>,
    pub(crate) total_lines: u64,
    pub(crate) total_files: u64,
    /// Whether not all lines are listed.
    pub(crate) truncated: bool,
    /// How many entries could not be looked at.
    pub(crate) unreadable: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FoundLine {
    pub(crate) path: String,
    /// Counted from 1.
    pub(crate) line: u64,
    pub(crate) text: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileWritten {
    pub(crate) path: String,
    /// Whether it was not there before.
    pub(crate) created: bool,
    pub(crate) bytes: u64,
    pub(crate) hash: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileEdited {
    pub(crate) path: String,
    /// What the tool says.
    pub(crate) text: String,
    /// What it says to programs.
    pub(crate) value: Value,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MadeDirectory {
    pub(crate) path: String,
    /// Whether it was not there before.
    pub(crate) created: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileMoved {
    pub(crate) from: String,
    pub(crate) to: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileRemoved {
    pub(crate) paths: Vec<String>,
    pub(crate) files: u64,
    pub(crate) directories: u64,
}
