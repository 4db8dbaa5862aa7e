//! `mv`: an entry under another path.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_fs::ops::{self, MoveOptions};
use wink_fs::{ErrorKind, TreePath};

use crate::refusal::Refusal;
use crate::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::tool_call::ToolCall;
use crate::{arguments, schema};

pub(crate) const TOOL: Tool = Tool {
    name: "mv",
    title: "Move",
    description: "Moves or renames a file, a link or a directory with everything in it. `to` is \
                  the new path itself, not a directory to move into; missing parent directories \
                  are made. Nothing may be at `to`, unless `overwrite` is true.",
    effect: Effect::Writes,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// What to move, relative to the workspace root.
    from: String,
    /// Its new path, relative to the workspace root.
    to: String,
    /// Replace the file, link or empty directory that is at the new path.
    #[serde(default)]
    overwrite: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, Refusal> {
    let (from, to) = (call.path(&params.from)?, call.path(&params.to)?);
    let options = MoveOptions::default().replace(params.overwrite);
    call.change(|fs| ops::rename(fs, &from, &to, &options))
        .map_err(|error| refusal(error, &from, &to))?;
    let value = json!({"from": from.to_string(), "to": to.to_string()});
    Ok(ToolResult::success(format!("Moved {from} to {to}."), value))
}

fn refusal(refusal: Refusal, from: &TreePath, to: &TreePath) -> Refusal {
    match refusal.kind() {
        ErrorKind::AlreadyExists => refusal.reworded(format!(
            "{to} exists already and {from} was not moved: choose another path, or one in {to} if \
             that is a directory, or set overwrite to true."
        )),
        _ => refusal,
    }
}
