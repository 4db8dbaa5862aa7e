//! `history`: list snapshots or operations.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wink_fs::{OperationCause, OperationRecord, Snapshot, SnapshotCause};

use crate::history::changes;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "history",
    title: "Show history",
    description: "List the snapshots (checkpoints), newest first, with the id and tag that \
                  restore, revert, diff and fork accept. With `of` operations, list the last \
                  changes to files, newest first; undo reverses the newest that is not undone \
                  yet.",
    effect: Effect::Reads,
    family: Family::History,
    destructive: false,
    idempotent: true,
    works_in_forks: false,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// What to list.
    #[serde(default)]
    of: Of,
    /// Most entries to list.
    #[serde(default = "usual")]
    #[schemars(range(min = 1, max = 200))]
    limit: u64,
    /// Newest entries to skip.
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

#[derive(Serialize, JsonSchema)]
struct Answer {
    entries: Vec<Entry>,
    total: usize,
    offset: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Entry {
    Snapshot {
        id: String,
        short_id: String,
        at: String,
        tag: Option<String>,
        message: Option<String>,
        file_count: u64,
        /// The paths that it should hold and does not.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<String>,
    },
    Operation {
        number: u64,
        at: String,
        name: String,
        what: String,
    },
}

/// A line for the model, and the same as data.
type Row = (String, Entry);

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
        ToolResult::success(none.to_owned(), Answer { entries: Vec::new(), total: 0, offset: 0 })
    } else {
        answer(rows, params, noun)
    })
}

fn answer(mut rows: Vec<Row>, params: &Params, noun: &str) -> ToolResult {
    let total = rows.len();
    let offset = usize::try_from(params.offset).unwrap_or(usize::MAX);
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
        message += &format!("\n{} older ones left. Next call: history {next}", total - end);
    }
    let entries = shown.into_iter().map(|(_, entry)| entry).collect();
    ToolResult::success(message, Answer { entries, total, offset })
}

fn snapshot(it: &Snapshot) -> Row {
    let files = counted(it.file_count, "file");
    let mut line = format!("{}  {}  {files}", it.id.short(), moment(it.created_at));
    let missing = it.missing().count() as u64;
    if missing > 0 {
        line += &format!("  (incomplete: {} missing)", counted(missing, "path"));
    }
    line.extend(it.tag.iter().map(|tag| format!("  {tag}")));
    if it.cause == SnapshotCause::Safety {
        line.push_str("  (saved before files were replaced)");
    }
    line.extend(it.message.iter().map(|message| format!("  {}", first_line(message))));
    let entry = Entry::Snapshot {
        id: it.id.to_string(),
        short_id: it.id.short(),
        at: moment(it.created_at),
        tag: it.tag.clone(),
        message: it.message.clone(),
        file_count: it.file_count,
        missing: it.missing().map(|it| it.path.clone()).collect(),
    };
    (line, entry)
}

fn operation(it: &OperationRecord) -> Row {
    let changes = counted(it.changes.len() as u64, "path");
    let what = match it.cause {
        OperationCause::Undo { of } => format!("undo of {of}, {}", it.name),
        OperationCause::Redo { of } => format!("redo of {of}, {}", it.name),
        _ => it.name.clone(),
    };
    let line = format!("{}  {}  {what}  {changes}", it.sequence, moment(it.at));
    let at = moment(it.at);
    (line, Entry::Operation { number: it.sequence, at, name: it.name.clone(), what })
}

fn moment(at: SystemTime) -> String {
    let at = jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(120).collect()
}
