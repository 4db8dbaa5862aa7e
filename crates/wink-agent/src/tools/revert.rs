//! `revert`: undo the changes between two states.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::history::changes::{Conflicts, MergedAnswer};
use crate::history::{changes, state};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "revert",
    title: "Revert changes",
    description: "Undo the changes from one state to another, keeping everything before and \
                  after, line by line. A state is a snapshot's tag or id, @- for the last \
                  snapshot, @ for the current files, or the name of a fork. On conflicts \
                  nothing is changed, unless `on_conflict` is ours (keep the current lines), \
                  theirs (undo anyway) or markers (write both).",
    effect: Effect::Writes,
    family: Family::History,
    destructive: true,
    idempotent: false,
    works_in_forks: false,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<MergedAnswer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// State before the changes.
    from: String,
    /// State after the changes.
    to: String,
    /// What to do on conflicts.
    #[serde(default)]
    on_conflict: Conflicts,
    /// Only show what would change.
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
        let from = from.at(files)?;
        let to = to.at(files)?;
        // From here on it is finished: files are replaced as a whole.
        call.context().check_cancelled()?;
        files.revert_with(from, to, &options)
    };
    let merged = merged.map_err(changes::refusal)?;
    let message =
        changes::merged(&merged, params.dry_run, "Reverted, changing", "The revert would change")?;
    let message = message + &changes::excluded(files, files.excluded().patterns());
    Ok(ToolResult::success(message, MergedAnswer::of(&merged)))
}
