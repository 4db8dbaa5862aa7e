//! `fork`: create, list and delete forks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wink_fs::{Snapshot, SnapshotId, Workspace};

use crate::history::{changes, state};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "fork",
    title: "Fork files",
    description: "Create an independent copy of all files, to try something without changing \
                  these. Pass its name as `fork` to the file tools to work in it, see its \
                  changes with diff and `fork`, and merge them. Without a name, list the \
                  forks; with `remove`, delete one.",
    effect: Effect::Writes,
    family: Family::History,
    destructive: true,
    idempotent: false,
    works_in_forks: false,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Name that no other fork or snapshot has: letters, digits, - and _.
    name: Option<String>,
    /// State to copy: a snapshot's tag or id, or a fork's name; default: the current files.
    at: Option<String>,
    /// Delete the fork and its changes.
    #[serde(default)]
    remove: bool,
}

/// A new fork has `name` and `from`, a removed one `removed`, and a list `forks`.
#[derive(Default, Serialize, JsonSchema)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forks: Option<Vec<String>>,
}

/// Characters of a name.
const LONGEST: usize = 60;

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    match (params.name.as_deref(), params.remove) {
        (Some(name), false) => make(call, files, checked(name)?, params.at.as_deref()),
        (Some(name), true) => {
            call.context().forks.remove(name)?;
            let message = format!("Deleted fork {name}.");
            let answer = Answer { removed: Some(name.to_owned()), ..Answer::default() };
            Ok(ToolResult::success(message, answer))
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
        "Created fork {name} from snapshot {}; merge its changes with merge {}.",
        from.map(|id| id.short()).unwrap_or_default(),
        json!({"name": name})
    );
    let message = message
        + &incomplete(files, from)?
        + unreachable_note(call)
        + &changes::excluded(files, files.excluded().patterns());
    let name = Some(name.to_owned());
    let from = Some(from.map(|id| id.to_string()));
    Ok(ToolResult::success(message, Answer { name, from, ..Answer::default() }))
}

/// Names what the snapshot that a fork starts from lacks.
fn incomplete(files: &Workspace, from: Option<SnapshotId>) -> Result<String, ToolError> {
    let snapshot =
        from.map(|from| files.find_snapshot(from).map_err(changes::refusal)).transpose()?;
    let missing = snapshot.iter().flat_map(Snapshot::missing);
    Ok(changes::missing("The snapshot is incomplete, so the fork lacks", missing))
}

/// Warns a model whose tools cannot work in a fork.
fn unreachable_note(call: &ToolCall<'_>) -> &'static str {
    if call.context().are_forks_reachable {
        ""
    } else {
        "\nNo tool has a `fork` parameter here: only the program that offers the tools can work in the fork."
    }
}

fn list(call: &ToolCall<'_>) -> ToolResult {
    let names = call.context().forks.names();
    let message = match names.len() {
        0 => "There are no forks; pass a name to create one.".to_owned(),
        count => format!("{}: {}", counted(count as u64, "fork"), names.join(", ")),
    };
    ToolResult::success(message, Answer { forks: Some(names), ..Answer::default() })
}
