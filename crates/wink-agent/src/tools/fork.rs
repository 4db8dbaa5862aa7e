//! `fork`: an independent copy of all files, under a name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_fs::Workspace;

use crate::history::{changes, state};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "fork",
    title: "Fork files",
    description: "Makes an independent copy of all files under a name, for another attempt that \
                  leaves these files alone. A tool for files that has a parameter `fork` works in the \
                  copy whose name it is given there; one that has none works on the files here. See \
                  what was done in the copy with diff and `fork`, bring it in with merge. Without a \
                  name it lists the forks; with `remove` it removes one.",
    effect: Effect::Writes,
    family: Family::History,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The fork's name, which no other fork and no snapshot has: letters, digits, - and _.
    name: Option<String>,
    /// The state to copy: a snapshot's tag or id, or a fork's name; the files as they are now, where it is left out.
    at: Option<String>,
    /// Remove the fork of this name with all that was done in it.
    #[serde(default)]
    remove: bool,
}

/// Characters of a name.
const LONGEST: usize = 60;

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    match (params.name.as_deref(), params.remove) {
        (Some(name), false) => make(call, files, checked(name)?, params.at.as_deref()),
        (Some(name), true) => {
            call.context().forks.remove(name)?;
            let message = format!("Removed the fork {name}.");
            Ok(ToolResult::success(message, json!({"removed": name})))
        }
        (None, false) if params.at.is_none() => Ok(list(call)),
        (None, _) => Err(ToolError::invalid_argument("The parameter `name` is missing; give it.")),
    }
}

fn checked(name: &str) -> Result<&str, ToolError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=LONGEST).contains(&name.len()) && name.chars().all(is_plain) {
        Ok(name)
    } else {
        Err(ToolError::invalid_argument(format!(
            "`name` must be 1 to {LONGEST} letters, digits, - or _; choose another one."
        )))
    }
}

fn make(
    call: &ToolCall<'_>,
    files: &Workspace,
    name: &str,
    at: Option<&str>,
) -> Result<ToolResult, ToolError> {
    let at = state::find(call, at.unwrap_or(changes::LIVE))?;
    let fork = || {
        state::check_fork_name(call, name)?;
        files.fork(at.at(files)?).map_err(changes::refusal)
    };
    let from = call.context().forks.add(name, fork)?.forked_from();
    let message = format!(
        "Made the fork {name} of snapshot {}; bring what is done in it here with merge {}.",
        from.map(|id| id.short()).unwrap_or_default(),
        json!({"name": name})
    );
    let message =
        message + where_nobody_enters(call) + &changes::excluded(files.excluded().patterns());
    Ok(ToolResult::success(message, json!({"name": name, "from": from.map(|id| id.to_string())})))
}

/// Says that a model cannot work in a fork by itself, where that is so.
fn where_nobody_enters(call: &ToolCall<'_>) -> &'static str {
    if call.takes_fork() {
        ""
    } else {
        "\nNo tool has a parameter `fork` here: only the program that offers the tools can work in \
         the fork."
    }
}

fn list(call: &ToolCall<'_>) -> ToolResult {
    let names = call.context().forks.names();
    let message = match names.len() {
        0 => "There is no fork; make one by giving a name.".to_owned(),
        count => format!("{}: {}", counted(count as u64, "fork"), names.join(", ")),
    };
    ToolResult::success(message, json!({"forks": names}))
}
