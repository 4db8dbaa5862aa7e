//! `snapshot`: the files as they are now, kept.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wink_fs::{Error, ErrorKind, Snapshot, SnapshotOptions, SnapshotOrigin};

use crate::history::{changes, state};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "snapshot",
    title: "Take snapshot",
    description: "Keeps all files as they are now, so that restore can bring them back later. Take \
                  one before risky changes. A `tag` is a name that no other snapshot and no fork has.",
    effect: Effect::Writes,
    family: Family::History,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// A name for it, for example before-refactor.
    tag: Option<String>,
    /// What there is to say about it.
    message: Option<String>,
}

/// Characters of a message that are kept.
const LONGEST_MESSAGE: usize = 1_000;

/// How many entries that could not be captured are named.
const NAMED: usize = 5;

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    let mut options = SnapshotOptions::default().asked_by(SnapshotOrigin::Agent);
    options.tag = params.tag.clone();
    let said = params.message.as_deref();
    options.message = said.map(|text| text.chars().take(LONGEST_MESSAGE).collect());
    let tag = params.tag.as_deref();
    let _free = tag.map(|tag| state::keep_free(call, tag)).transpose()?;
    let taken = files.snapshot_making_room(&options);
    let (snapshot, gone) = taken.map_err(|error| refusal(error, params))?;
    let message = message(&snapshot) + &went(gone.len() as u64);
    Ok(ToolResult::success(message, value(&snapshot, gone.len())))
}

fn refusal(error: Error, params: &Params) -> ToolError {
    let refusal = changes::refusal(error);
    match (refusal.kind(), &params.tag) {
        (ErrorKind::AlreadyExists, Some(tag)) => refusal.reworded(format!(
            "Nothing was kept: another snapshot has the tag `{tag}` already; choose another tag."
        )),
        _ => refusal,
    }
}

fn message(snapshot: &Snapshot) -> String {
    let (files, bytes) = (snapshot.file_count, snapshot.total_bytes);
    let id = snapshot.id.short();
    let mut message = format!(
        "Kept the files as snapshot {}: {}, {}. Go back with restore {}.",
        changes::named(snapshot),
        counted(files, "file"),
        counted(bytes, "byte"),
        json!({"snapshot": snapshot.tag.as_ref().unwrap_or(&id)})
    );
    if !snapshot.skipped.is_empty() {
        let paths: Vec<_> = snapshot.skipped.iter().take(NAMED).map(|it| &*it.path).collect();
        let count = counted(snapshot.skipped.len() as u64, "entry");
        message += &format!("\nNot captured: {count}, such as {}.", paths.join(", "));
    }
    message + &changes::excluded(snapshot.excluded.iter().map(String::as_str))
}

/// Says that old ones went, which an agent may have meant to go back to.
fn went(gone: u64) -> String {
    match gone {
        0 => String::new(),
        gone => format!(
            "\nTo make room, {} without a tag went; one with a tag stays.",
            counted(gone, "old snapshot")
        ),
    }
}

fn value(snapshot: &Snapshot, gone: usize) -> Value {
    json!({
        "id": snapshot.id.to_string(),
        "short_id": snapshot.id.short(),
        "tag": snapshot.tag,
        "file_count": snapshot.file_count,
        "total_bytes": snapshot.total_bytes,
        "skipped": snapshot.skipped.len(),
        "pruned": gone,
    })
}
