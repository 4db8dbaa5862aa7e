//! `undo`: undo the last change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wink_fs::{Error, ErrorKind, Undone, Workspace};

use crate::history::changes;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "undo",
    title: "Undo",
    description: "Undo your last change to files; call again for the one before. Changes by others \
                  stay, unless named by `operation`. Files changed since stay.",
    effect: Effect::Writes,
    family: Family::History,
    destructive: true,
    idempotent: false,
    works_in_forks: true,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Skip the last change: the next undo reverses the one before.
    #[serde(default)]
    skip: bool,
    /// Number of any operation.
    #[serde(default)]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    operation: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    operation: u64,
    name: String,
    paths: Vec<String>,
    conflicts: Vec<String>,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    let undone = match params.operation {
        Some(number) => files.undo_operation(number),
        None if params.skip => files.pass_over_own(),
        None => files.undo_own(),
    };
    let undone = undone.map_err(|error| refusal(files, params, error))?;
    let message = message(&undone);
    let answer = Answer {
        operation: undone.operation.sequence,
        name: undone.operation.name,
        paths: changes::paths(&undone.paths),
        conflicts: changes::paths(&undone.conflicts),
    };
    Ok(ToolResult::success(message, answer))
}

fn message(undone: &Undone) -> String {
    let Undone { operation, paths, conflicts, .. } = undone;
    let name = &operation.name;
    let number = operation.sequence;
    if paths.is_empty() && conflicts.is_empty() {
        return format!("Skipped {name} (operation {number}).");
    }
    let count = counted(paths.len() as u64, "path");
    let listed = changes::listed(paths);
    let mut message = format!("Undid {name} (operation {number}), {count} restored:{listed}");
    if !conflicts.is_empty() {
        let left = changes::listed(conflicts);
        message += &format!("\nKept, because changed since:{left}");
    }
    message
}

fn refusal(files: &Workspace, params: &Params, error: Error) -> ToolError {
    if error.kind() == ErrorKind::SnapshotNotFound {
        let words = error.to_string();
        let why = words.strip_prefix("undo: ").unwrap_or(&words);
        let message = format!("Nothing was undone: {why}; call history to see which there are.");
        return ToolError::from(error).reworded(message);
    }
    let path = error.path().map(ToOwned::to_owned);
    let refusal = changes::refusal(error);
    match (refusal.kind(), path) {
        (ErrorKind::NotFound, None) => refusal.reworded(match (params.operation, others(files)) {
            (Some(number), _) => format!(
                "Operation {number} is not kept, or is undone already; call history with `of` operations to \
                 see past changes."
            ),
            (None, Some(others)) => others,
            (None, None) => "There is nothing to undo; call history with `of` operations to see past \
                             changes."
                .to_owned(),
        }),
        (ErrorKind::Conflict, Some(path)) => refusal.reworded(format!(
            "Nothing was undone: {path} has changed since that call; call undo with `skip` to \
             keep that change and undo the one before, or restore the version you want with restore and \
             `path`."
        )),
        _ => refusal,
    }
}

/// Names the last change, if others made it.
fn others(files: &Workspace) -> Option<String> {
    let last = files.next_to_undo().ok().flatten()?;
    let by = last.by.map_or(String::new(), |by| format!(" by {by}"));
    Some(format!(
        "You have changed nothing that is not undone. The last change is operation {number} ({name}){by}; undo \
         it only if you were asked to, with `operation` {number}.",
        number = last.sequence,
        name = last.name,
    ))
}
