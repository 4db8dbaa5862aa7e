//! What `--json` prints: one document for each command, with the version of its form.
//!
//! `docs/json-schemas.json` has the JSON Schemas of all of them.
//! A field may be added to a form; removing one or changing its meaning makes a new version.

mod archives;
mod changes;
mod files;
mod forks;
mod history;
mod operations;
mod serve;
mod sessions;
mod setup;
mod snapshots;
mod space;
mod tools;
mod workspace;

use serde::Serialize;

pub(crate) use self::archives::{ArchiveShown, ExportedTo, ImportedFrom};
pub(crate) use self::changes::{ChangedEntry, Changes, Compared};
pub(crate) use self::files::{
    FileContent, FileEdited, FileEntry, FileMoved, FileRemoved, FileStat, FileWritten, FoundFiles,
    FoundLine, FoundLines, Listing, MadeDirectory,
};
pub(crate) use self::forks::{
    BranchDeleted, BranchEntry, BranchRenamed, ConflictEntry, DamagedEntry, Forked, Forks,
    MergeOutcome, MergedIn, Reverted,
};
pub(crate) use self::history::{
    HistoryLine, OperationLog, OperationLogEntry, OperationShown, SearchedHistory, SnapshotName,
};
pub(crate) use self::operations::{OperationEntry, Stepped};
pub(crate) use self::serve::{DemoCall, DemoPlayed, ServedUntilNow, ServedWorkspace, Serving};
pub(crate) use self::sessions::{
    SessionChecked, SessionDumped, SessionEntry, SessionFile, SessionList, SessionLoaded,
    SessionShown, SliceEntry, ToolCallEntry,
};
pub(crate) use self::setup::{
    Check, CompletionScript, ConfigList, ConfigSet, ConfigValue, Examined, Health, ManualPage,
    ManualPages,
};
pub(crate) use self::snapshots::{
    Log, Restored, Shown, SkippedEntry, SnapshotEntry, Tagged, Taken,
};
pub(crate) use self::space::{ProblemEntry, PrunedEntry, RedactedEntry, RepairedEntry, Verified};
pub(crate) use self::tools::{ToolCalled, ToolEntry, ToolList, ToolSchema};
pub(crate) use self::workspace::{GitHead, Initialised, Status, StoreEntry};

/// A form that is printed as JSON.
pub(crate) trait Document: Serialize {
    /// The name and version of the form.
    const SCHEMA: &'static str;
    /// Whether it is the answer, `summary`, or goes before it, `item`.
    const KIND: &'static str;
}

macro_rules! documents {
    ($($document:ident: $schema:literal $($kind:literal)?;)*) => {
        $(impl Document for $document {
            const SCHEMA: &'static str = $schema;
            const KIND: &'static str = [$($kind,)? "summary"][0];
        })*

        /// All forms, each with what it is and how its JSON Schema is made.
        #[cfg(test)]
        const FORMS: &[(&str, &str, fn() -> schemars::Schema)] =
            &[$(($schema, $document::KIND, || schemars::schema_for!($document))),*];
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
    Forks: "wink/branch.list@1";
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
    OperationShown: "wink/op.show@1";
    Tagged: "wink/tag@1";
    SearchedHistory: "wink/search@1";
    PrunedEntry: "wink/prune@1";
    RedactedEntry: "wink/prune.path@1";
    RepairedEntry: "wink/repair@1";
    Verified: "wink/verify@1";
    Serving: "wink/serve.ready@1" "item";
    ServedUntilNow: "wink/serve@1";
    DemoCall: "wink/demo.call@1" "item";
    DemoPlayed: "wink/demo@1";
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the schemas are a file of the repository")]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::FORMS;
    use crate::ui::progress::ProgressLine;

    /// What people and programs read of the forms; a change shows in a review.
    #[test]
    fn the_schemas_that_are_shipped_are_those_of_the_forms() {
        let schema = |kind: &str, make: fn() -> schemars::Schema| {
            let mut schema = make().to_value();
            schema["properties"]["schema"] = json!({"type": "string"});
            schema["properties"]["type"] = json!({ "const": kind });
            schema
        };
        let mut all: BTreeMap<&str, Value> =
            FORMS.iter().map(|(name, kind, it)| (*name, schema(kind, *it))).collect();
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
