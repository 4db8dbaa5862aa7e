//! `merge`: what was done in a fork, brought in.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::history::changes;
use crate::history::changes::Conflicts;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "merge",
    title: "Merge fork",
    description: "Brings in what was changed in a fork since it was made, beside what was changed \
                  here; files that both changed are merged line by line. Where both changed the \
                  same lines, nothing is changed and the conflicts are named, unless `on_conflict` \
                  says what to do: ours keeps the lines here, theirs takes the fork's, markers \
                  writes both. undo takes the merge back.",
    effect: Effect::Writes,
    family: Family::History,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The fork's name.
    name: String,
    /// What to do where both sides changed the same.
    #[serde(default)]
    on_conflict: Conflicts,
    /// Only say what would change.
    #[serde(default)]
    dry_run: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let (files, name) = (call.everything()?, &params.name);
    let options = params.on_conflict.options(params.dry_run);
    let merged = call.context().forks.merge(files, name, &options)?;
    let message = changes::merged(
        &merged,
        params.dry_run,
        &format!("Merged the fork {name}, which changed"),
        &format!("merging the fork {name} would change"),
    )?;
    let message = message + &changes::excluded(files.excluded().patterns());
    Ok(ToolResult::success(message, changes::merged_value(&merged)))
}
