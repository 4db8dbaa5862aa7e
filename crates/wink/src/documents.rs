//! What `--json` prints: one document for each command, with the version of its form.
//!
//! Those of some commands are in files of their own.
//!
//! `docs/json-schemas.json` has the JSON Schemas of all.
//! A field may be added to a form; one that goes or changes its meaning makes a new version.

mod files;
mod history;
mod serving;
mod sessions;
mod setup;
mod tools;

use serde::Serialize;
use wink_fs::{Diff, MergeConflict, OperationChange, Skipped, Snapshot, SnapshotCause};

pub(crate) use self::files::{
    FileContent, FileEdited, FileEntry, FileMoved, FileRemoved, FileStat, FileWritten, FoundFiles,
    FoundLine, FoundLines, Listing, MadeDirectory,
};
pub(crate) use self::history::{
    HistoryLine, OperationLog, OperationLogEntry, SearchedHistory, SnapshotName,
};
pub(crate) use self::serving::{DemoCall, DemoPlayed, ServedUntilNow, ServedWorkspace, Serving};
pub(crate) use self::sessions::{
    SessionChecked, SessionDumped, SessionEntry, SessionFile, SessionList, SessionLoaded,
    SessionShown, SliceEntry, ToolCallEntry,
};
pub(crate) use self::setup::{
    Check, CompletionScript, ConfigList, ConfigSet, ConfigValue, Examined, Health, ManualPage,
    ManualPages,
};
pub(crate) use self::tools::{ToolCalled, ToolEntry, ToolList, ToolSchema};
use crate::words;

/// A form that is printed as JSON.
pub(crate) trait Document: Serialize {
    /// The name and version of the form.
    const SCHEMA: &'static str;
}

macro_rules! documents {
    ($($document:ident: $schema:literal;)*) => {
        $(impl Document for $document {
            const SCHEMA: &'static str = $schema;
        })*

        /// All forms, each with how its JSON Schema is made.
        #[cfg(test)]
        const FORMS: &[(&str, fn() -> schemars::Schema)] =
            &[$(($schema, || schemars::schema_for!($document))),*];
    };
}

documents! {
    Initialised: "wink/init@1";
    Status: "wink/status@1";
    Taken: "wink/snapshot.create@1";
    Log: "wink/log@1";
    Compared: "wink/diff@1";
    Restored: "wink/restore@1";
    Shown: "wink/show@1";
    ArchiveShown: "wink/show.archive@1";
    Reverted: "wink/revert@1";
    Forked: "wink/fork@1";
    Branches: "wink/branch.list@1";
    BranchDeleted: "wink/branch.delete@1";
    BranchRenamed: "wink/branch.rename@1";
    MergedIn: "wink/merge@1";
    ExportedTo: "wink/export@1";
    ImportedFrom: "wink/import@1";
    Listing: "wink/fs.ls@1";
    FileContent: "wink/fs.cat@1";
    FileStat: "wink/fs.stat@1";
    FoundFiles: "wink/fs.glob@1";
    FoundLines: "wink/fs.grep@1";
    FileWritten: "wink/fs.write@1";
    FileEdited: "wink/fs.edit@1";
    MadeDirectory: "wink/fs.mkdir@1";
    FileMoved: "wink/fs.mv@1";
    FileRemoved: "wink/fs.rm@1";
    SessionList: "wink/session.list@1";
    SessionShown: "wink/session.show@1";
    SessionChecked: "wink/session.check@1";
    SessionLoaded: "wink/session.load@1";
    SessionDumped: "wink/session.dump@1";
    Examined: "wink/doctor@1";
    CompletionScript: "wink/completions@1";
    ManualPage: "wink/man@1";
    ManualPages: "wink/man.write@1";
    ConfigValue: "wink/config.get@1";
    ConfigSet: "wink/config.set@1";
    ConfigList: "wink/config.list@1";
    ToolList: "wink/tool.list@1";
    ToolSchema: "wink/tool.schema@1";
    ToolCalled: "wink/tool@1";
    Stepped: "wink/undo@1";
    OperationLog: "wink/op.log@1";
    Tagged: "wink/tag@1";
    SearchedHistory: "wink/search@1";
    PrunedEntry: "wink/prune@1";
    RedactedEntry: "wink/prune.path@1";
    RepairedEntry: "wink/repair@1";
    Verified: "wink/verify@1";
    Serving: "wink/serve.ready@1";
    ServedUntilNow: "wink/serve@1";
    DemoCall: "wink/demo.call@1";
    DemoPlayed: "wink/demo@1";
}

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
    /// Whether there is a snapshot to go back to, and it can be read.
    pub(crate) protected: bool,
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
    /// What no snapshot holds.
    pub(crate) never_captured: &'static [&'static str],
    pub(crate) store: StoreEntry,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StoreEntry {
    pub(crate) path: String,
    pub(crate) bytes: u64,
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

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Taken {
    pub(crate) snapshot: SnapshotEntry,
    /// What is different from the snapshot's parent; null where that is gone or damaged.
    pub(crate) changes: Option<Changes>,
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
pub(crate) struct Compared {
    /// The first state's id; null for the files of now, and for an archive.
    pub(crate) base: Option<String>,
    /// The second state's id; null for the files of now, and for an archive.
    pub(crate) target: Option<String>,
    pub(crate) changes: Changes,
    pub(crate) unchanged: u64,
    /// In the order of paths.
    pub(crate) entries: Vec<ChangedEntry>,
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
pub(crate) struct ArchiveShown {
    pub(crate) file: String,
    pub(crate) created_at: String,
    pub(crate) files: u64,
    /// The sizes of all files added up.
    pub(crate) bytes: u64,
}

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
pub(crate) struct Branches {
    pub(crate) branches: Vec<BranchEntry>,
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

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ExportedTo {
    pub(crate) file: String,
    pub(crate) files: u64,
    /// The sizes of all files added up.
    pub(crate) bytes: u64,
    pub(crate) archive_bytes: u64,
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

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Stepped {
    /// `undo`, `redo` or `skip`.
    pub(crate) action: &'static str,
    /// The operation that was taken back or done again; of several the last.
    pub(crate) operation: OperationEntry,
    /// All of them, in the order in which it was done.
    pub(crate) operations: Vec<OperationEntry>,
    /// How many were asked for.
    pub(crate) asked: u64,
    /// What is as it was.
    pub(crate) paths: Vec<String>,
    /// What somebody changed since, and was left alone.
    pub(crate) conflicts: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OperationEntry {
    pub(crate) sequence: u64,
    pub(crate) name: String,
    pub(crate) at: String,
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
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RepairedEntry {
    /// Files of the store that were moved into its directory `quarantine`.
    pub(crate) quarantined: Vec<String>,
    pub(crate) objects_saved: u64,
    /// The ids of snapshots that cannot be restored as a whole any more.
    pub(crate) lost: Vec<String>,
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
            created_at: words::utc(snapshot.created_at),
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

impl From<&Skipped> for SkippedEntry {
    fn from(skipped: &Skipped) -> Self {
        Self { path: skipped.path.clone(), why: skipped.why.clone() }
    }
}

/// Counts what is different.
#[derive(Debug, Default, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Changes {
    pub(crate) added: u64,
    pub(crate) modified: u64,
    pub(crate) deleted: u64,
}

impl Changes {
    pub(crate) fn total(self) -> u64 {
        self.added + self.modified + self.deleted
    }
}

impl From<&Diff> for Changes {
    fn from(diff: &Diff) -> Self {
        let [added, modified, deleted] =
            [&diff.added, &diff.modified, &diff.deleted].map(|list| list.len() as u64);
        Self { added, modified, deleted }
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ChangedEntry {
    pub(crate) path: String,
    /// `added`, `modified` or `deleted`.
    pub(crate) change: &'static str,
    /// What it was: `file`, `directory` or `symlink`.
    pub(crate) before: Option<String>,
    /// What it is.
    pub(crate) after: Option<String>,
}

impl From<&OperationChange> for ChangedEntry {
    fn from(change: &OperationChange) -> Self {
        let kinds = [change.before, change.after];
        let [before, after] = kinds.map(|kind| kind.map(|kind| kind.to_string()));
        let path = change.path.to_string();
        Self { path, change: change_of(before.is_some(), after.is_some()), before, after }
    }
}

impl From<&wink_fs::Changed> for ChangedEntry {
    fn from(changed: &wink_fs::Changed) -> Self {
        let kinds = [changed.before, changed.after];
        let [before, after] = kinds.map(|kind| kind.map(|kind| kind.to_string()));
        let path = changed.path.to_string();
        Self { path, change: change_of(before.is_some(), after.is_some()), before, after }
    }
}

impl ChangedEntry {
    /// Returns the letter that git shows.
    pub(crate) fn letter(&self) -> char {
        match self.change {
            "added" => 'A',
            "deleted" => 'D',
            _ => 'M',
        }
    }

    /// Returns the path as people read it; a directory ends in `/`.
    pub(crate) fn shown(&self) -> String {
        let is_directory = |kind: &Option<String>| kind.as_deref() == Some("directory");
        match is_directory(&self.after) || (self.after.is_none() && is_directory(&self.before)) {
            true => format!("{}/", self.path),
            false => self.path.clone(),
        }
    }
}

fn change_of(before: bool, after: bool) -> &'static str {
    match (before, after) {
        (false, _) => "added",
        (_, false) => "deleted",
        _ => "modified",
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the schemas are a file of the repository")]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::FORMS;
    use crate::progress::ProgressLine;

    /// What people and programs read of the forms; a change shows in a review.
    #[test]
    fn the_schemas_that_are_shipped_are_those_of_the_forms() {
        let schema = |make: fn() -> schemars::Schema| {
            let mut schema = make().to_value();
            schema["properties"]["schema"] = json!({"type": "string"});
            schema["properties"]["type"] = json!({"const": "summary"});
            schema
        };
        let mut all: BTreeMap<&str, Value> =
            FORMS.iter().map(|(name, it)| (*name, schema(*it))).collect();
        assert_eq!(all.len(), FORMS.len(), "no name is there twice");
        let mut progress = schemars::schema_for!(ProgressLine).to_value();
        progress["properties"]["type"] = json!({"const": "progress"});
        all.insert(ProgressLine::SCHEMA, progress);
        let mut all = json!(all);
        // Another crate in the build may switch serde_json to insertion order.
        all.sort_all_objects();
        let text = serde_json::to_string_pretty(&all).unwrap() + "\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json-schemas.json");
        if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
            std::fs::write(path, &text).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            text,
            "INSTA_UPDATE=always writes it anew"
        );
    }
}
