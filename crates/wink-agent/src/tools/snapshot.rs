//! `snapshot`: take a snapshot of all files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wink_fs::{Error, ErrorKind, Snapshot, SnapshotOptions, SnapshotOrigin, Workspace};

use crate::history::{changes, state};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "snapshot",
    title: "Take snapshot",
    description: "Take a snapshot (checkpoint) of all files, which restore can bring back. \
                  Take one before risky changes.",
    effect: Effect::Writes,
    family: Family::History,
    destructive: false,
    idempotent: false,
    works_in_forks: false,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Name that no other snapshot or fork has, for example before-refactor.
    tag: Option<String>,
    /// Description for the history.
    message: Option<String>,
}

/// Characters of a message that are kept.
const LONGEST_MESSAGE: usize = 1_000;

/// How many entries that could not be captured are named.
const NAMED: usize = 5;

#[derive(Serialize, JsonSchema)]
struct Answer {
    id: String,
    short_id: String,
    tag: Option<String>,
    file_count: u64,
    total_bytes: u64,
    skipped: usize,
    /// The paths that should be in it and are not; a restore leaves them alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    pruned: usize,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    let mut options = SnapshotOptions::default().asked_by(SnapshotOrigin::Agent);
    options.tag = params.tag.clone();
    let said = params.message.as_deref();
    options.message = said.map(|text| text.chars().take(LONGEST_MESSAGE).collect());
    let tag = params.tag.as_deref();
    let _free = tag.map(|tag| state::keep_free(call, tag)).transpose()?;
    let taken = files.take_snapshot(&options).map_err(|error| refusal(error, params))?;
    let snapshot = taken.snapshot;
    let pruned = taken.pruned.len();
    let message = message(files, &snapshot) + &went(pruned as u64);
    let answer = Answer {
        id: snapshot.id.to_string(),
        short_id: snapshot.id.short(),
        tag: snapshot.tag.clone(),
        file_count: snapshot.file_count,
        total_bytes: snapshot.total_bytes,
        skipped: snapshot.skipped.len(),
        missing: snapshot.missing().map(|it| it.path.clone()).collect(),
        pruned,
    };
    Ok(ToolResult::success(message, answer))
}

fn refusal(error: Error, params: &Params) -> ToolError {
    let refusal = changes::refusal(error);
    match (refusal.kind(), &params.tag) {
        (ErrorKind::AlreadyExists, Some(tag)) => refusal.reworded(format!(
            "No snapshot was taken: another one has the tag `{tag}`; choose another tag."
        )),
        _ => refusal,
    }
}

fn message(workspace: &Workspace, snapshot: &Snapshot) -> String {
    let files = snapshot.file_count;
    let bytes = snapshot.total_bytes;
    let id = snapshot.id.short();
    let mut message = format!(
        "Took snapshot {}: {}, {}. Go back to it with restore {}.",
        changes::named(snapshot),
        counted(files, "file"),
        counted(bytes, "byte"),
        json!({"snapshot": snapshot.tag.as_ref().unwrap_or(&id)})
    );
    let special: Vec<_> = snapshot.skipped.iter().filter(|it| !it.is_missing).collect();
    if !special.is_empty() {
        let paths: Vec<_> = special.iter().take(NAMED).map(|it| &*it.path).collect();
        let count = counted(special.len() as u64, "entry");
        message += &format!("\nNot captured: {count}, such as {}.", paths.join(", "));
    }
    message
        + &changes::missing("The snapshot is incomplete, without", snapshot.missing())
        + &changes::excluded(workspace, snapshot.excluded_by_setting())
}

/// Tells the agent of pruned snapshots, which it may have meant to restore.
fn went(gone: u64) -> String {
    match gone {
        0 => String::new(),
        gone => format!(
            "\nPruned {} without a tag to free space; one with a tag stays.",
            counted(gone, "old snapshot")
        ),
    }
}
