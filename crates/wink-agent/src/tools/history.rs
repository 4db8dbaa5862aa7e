//! `history`: the snapshots there are, or the calls that changed something.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wink_fs::{OperationCause, OperationRecord, Snapshot, SnapshotCause};

use crate::history::changes;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "history",
    title: "Show history",
    description: "Lists the snapshots, newest first, each with the id and the tag by which \
                  restore, revert, diff and fork take it. With `of` operations it lists the last \
                  calls that changed files, newest first; undo takes back the newest that is not \
                  undone.",
    effect: Effect::Reads,
    family: Family::History,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// What to list.
    #[serde(default)]
    of: Of,
    /// How many to list at most.
    #[serde(default = "usual")]
    #[schemars(range(min = 1, max = 200))]
    limit: u64,
    /// How many of the newest to skip.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
}

fn usual() -> u64 {
    20
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Of {
    #[default]
    Snapshots,
    Operations,
}

/// A line for the model, and the same as data.
type Row = (String, Value);

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    let (rows, none, noun) = match params.of {
        Of::Snapshots => {
            let all = files.snapshots().map_err(changes::refusal)?;
            let rows: Vec<Row> = all.iter().map(snapshot).collect();
            (rows, "There is no snapshot yet; take one with snapshot.", "snapshot")
        }
        Of::Operations => {
            let all = files.operations().map_err(changes::refusal)?;
            let rows = all.iter().map(operation).collect();
            (rows, "No call has changed a file yet.", "operation")
        }
    };
    Ok(if rows.is_empty() {
        ToolResult::success(none.to_owned(), json!({"entries": [], "total": 0, "offset": 0}))
    } else {
        answer(rows, params, noun)
    })
}

fn answer(mut rows: Vec<Row>, params: &Params, noun: &str) -> ToolResult {
    let (total, offset) = (rows.len(), usize::try_from(params.offset).unwrap_or(usize::MAX));
    let limit = usize::try_from(params.limit).unwrap_or(usize::MAX);
    rows.reverse();
    let shown: Vec<Row> = rows.into_iter().skip(offset).take(limit).collect();
    let count = counted(total as u64, noun);
    let mut message = if shown.is_empty() {
        format!("Nothing to show: offset {offset} is past the end of {count}.")
    } else {
        format!("{count}, newest first:")
    };
    shown.iter().for_each(|(line, _)| message.extend(["\n", line]));
    let end = offset.saturating_add(shown.len());
    if end < total {
        let next = json!({"of": params.of, "limit": params.limit, "offset": end});
        message += &format!("\n{} older ones to go. Next call: history {next}", total - end);
    }
    let entries: Vec<Value> = shown.into_iter().map(|(_, value)| value).collect();
    ToolResult::success(message, json!({"entries": entries, "total": total, "offset": offset}))
}

fn snapshot(it: &Snapshot) -> Row {
    let files = counted(it.file_count, "file");
    let mut line = format!("{}  {}  {files}", it.id.short(), moment(it.created_at));
    line.extend(it.tag.iter().map(|tag| format!("  {tag}")));
    if it.cause == SnapshotCause::Safety {
        line.push_str("  (saved before files were replaced)");
    }
    line.extend(it.message.iter().map(|message| format!("  {}", first_line(message))));
    let value = json!({
        "id": it.id.to_string(),
        "short_id": it.id.short(),
        "at": moment(it.created_at),
        "tag": it.tag,
        "message": it.message,
        "file_count": it.file_count,
    });
    (line, value)
}

fn operation(it: &OperationRecord) -> Row {
    let changes = counted(it.changes.len() as u64, "path");
    let what = match it.cause {
        OperationCause::Undo { of } => format!("undo of {of}, {}", it.name),
        OperationCause::Redo { of } => format!("redo of {of}, {}", it.name),
        _ => it.name.clone(),
    };
    let line = format!("{}  {}  {what}  {changes}", it.sequence, moment(it.at));
    let value = json!({"number": it.sequence, "at": moment(it.at), "name": it.name, "what": what});
    (line, value)
}

fn moment(at: SystemTime) -> String {
    let at = jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(120).collect()
}
