//! `undo`: the last call that changed something, taken back.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_fs::{Error, ErrorKind, Undone};

use crate::history::changes;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "undo",
    title: "Undo",
    description: "Takes back the last call that changed files and is not undone yet, whole; called \
                  again, the one before it. What has changed since is left alone and named. \
                  See what there is to undo with history and `of` operations.",
    effect: Effect::Writes,
    family: Family::History,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Leaves the last call as it is instead, so that the next undo takes back the one before it.
    #[serde(default)]
    skip: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    let undone = if params.skip { files.pass_over() } else { files.undo() }.map_err(refusal)?;
    let value = json!({
        "operation": undone.operation.sequence,
        "name": undone.operation.name,
        "paths": changes::paths(&undone.paths),
        "conflicts": changes::paths(&undone.conflicts),
    });
    Ok(ToolResult::success(message(&undone), value))
}

fn message(undone: &Undone) -> String {
    let Undone { operation, paths, conflicts, .. } = undone;
    let (name, number) = (&operation.name, operation.sequence);
    if paths.is_empty() && conflicts.is_empty() {
        return format!("Left {name} (operation {number}) as it is.");
    }
    let count = counted(paths.len() as u64, "path");
    let listed = changes::listed(paths);
    let mut message = format!("Undid {name} (operation {number}), {count} as before:{listed}");
    if !conflicts.is_empty() {
        let left = changes::listed(conflicts);
        message += &format!("\nLeft alone, because changed since:{left}");
    }
    message
}

fn refusal(error: Error) -> ToolError {
    if error.kind() == ErrorKind::SnapshotNotFound {
        let words = error.to_string();
        let why = words.strip_prefix("undo: ").unwrap_or(&words);
        let message = format!("Nothing was undone: {why}; call history to see which there are.");
        return ToolError::from(error).reworded(message);
    }
    let path = error.path().map(ToOwned::to_owned);
    let refusal = changes::refusal(error);
    match (refusal.kind(), path) {
        (ErrorKind::NotFound, None) => refusal.reworded(
            "There is nothing to undo; see what was done with history and `of` operations.",
        ),
        (ErrorKind::Conflict, Some(path)) => refusal.reworded(format!(
            "Nothing was undone: {path} has changed since that call; call undo with `skip` to \
             leave it as it is and undo what came before, or bring back the version you want with \
             restore and `path`."
        )),
        _ => refusal,
    }
}
