//! `revert`: one step taken out, and what was done since kept.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::history::changes::Conflicts;
use crate::history::{changes, state};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "revert",
    title: "Revert step",
    description: "Takes out what changed from one state to another and leaves what was done before \
                  and since, line by line. A state is a snapshot's tag or id, @- for the last one, @ for the files \
                  as they are now, or the name of a fork for the files in it. Where the same lines changed since, nothing is changed and the \
                  conflicts are named, unless `on_conflict` says what to do: ours keeps those \
                  lines as they are, theirs takes the step out all the same, markers writes both.",
    effect: Effect::Writes,
    family: Family::History,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The state before the step.
    from: String,
    /// The state after the step.
    to: String,
    /// What to do where both sides changed the same.
    #[serde(default)]
    on_conflict: Conflicts,
    /// Only say what would change.
    #[serde(default)]
    dry_run: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    let from = state::find(call, &params.from)?;
    let to = state::find(call, &params.to)?;
    let options = params.on_conflict.options(params.dry_run);
    let merged = if params.dry_run && (from.is_fork() || to.is_fork()) {
        // A snapshot of a fork would be a change.
        files.rehearse_revert(&*from.tree(files)?, &*to.tree(files)?, &options)
    } else {
        let (from, to) = (from.at(files)?, to.at(files)?);
        // From here on it is finished: files are replaced as a whole.
        call.context().check_cancelled()?;
        files.revert_with(from, to, &options)
    };
    let merged = merged.map_err(changes::refusal)?;
    let message = changes::merged(
        &merged,
        params.dry_run,
        "Took the step out, which changed",
        "taking the step out would change",
    )?;
    let message = message + &changes::excluded(files.excluded().patterns());
    Ok(ToolResult::success(message, changes::merged_value(&merged)))
}
