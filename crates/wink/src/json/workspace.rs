//! What `wink init` and `wink status` print as JSON.

use serde::Serialize;

use super::{Changes, SkippedEntry, SnapshotEntry};

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Initialised {
    pub(crate) root: String,
    /// The directory of the settings and the store.
    pub(crate) home: String,
    pub(crate) excluded: Vec<String>,
    /// Whether the exclusion of `.git` was added because it is a git repository.
    pub(crate) git: bool,
    /// The directory that is gone and whose history this is.
    pub(crate) moved_from: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Status {
    /// Whether there is a snapshot to go back to, it can be read, and nothing keeps the next one from being taken.
    pub(crate) protected: bool,
    /// What cannot be read, and so keeps the next snapshot from being taken; the first of it.
    pub(crate) unreadable: Option<String>,
    /// Whether the history takes all the space that it may, so that the next snapshot is refused.
    pub(crate) full: bool,
    pub(crate) root: String,
    pub(crate) last_snapshot: Option<SnapshotEntry>,
    pub(crate) age_seconds: Option<u64>,
    /// Whether the directory is empty although the last snapshot is not.
    pub(crate) emptied: bool,
    /// What changed since the last snapshot; null where there is none, or it is damaged.
    pub(crate) changes: Option<Changes>,
    pub(crate) git_head: Option<GitHead>,
    pub(crate) excluded: Vec<String>,
    /// What the last snapshot could not hold.
    pub(crate) skipped: Vec<SkippedEntry>,
    /// What is there now and the next snapshot cannot hold; not looked for where no snapshot can be compared with.
    pub(crate) not_captured: Vec<SkippedEntry>,
    /// What no snapshot holds.
    pub(crate) never_captured: &'static [&'static str],
    pub(crate) store: StoreEntry,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StoreEntry {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// How many it may take at most; null where no bound is set.
    pub(crate) max_bytes: Option<u64>,
    pub(crate) snapshots: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct GitHead {
    pub(crate) moved: bool,
    pub(crate) then: String,
    pub(crate) now: String,
}

impl GitHead {
    /// Returns where it was and where it is, with commits as short as git shows them.
    pub(crate) fn shown(&self) -> (String, String) {
        (short_commit(&self.then), short_commit(&self.now))
    }
}

fn short_commit(head: &str) -> String {
    const SHOWN: usize = 10;
    let (branch, commit) = head.rsplit_once(' ').map_or(("", head), |(branch, it)| (branch, it));
    let is_commit = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let commit = if is_commit { &commit[..SHOWN] } else { commit };
    format!("{branch} {commit}").trim_start().to_owned()
}
