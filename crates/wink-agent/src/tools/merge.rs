//! `merge`: merge the changes of a fork.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::history::changes;
use crate::history::changes::{Conflicts, MergedAnswer};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "merge",
    title: "Merge fork",
    description: "Merge the changes of a fork into these files, line by line. On conflicts \
                  nothing is changed, unless `on_conflict` is ours (keep the lines here), \
                  theirs (take the fork's) or markers (write both). undo reverses the merge.",
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
    /// Fork to merge.
    name: String,
    /// What to do on conflicts.
    #[serde(default)]
    on_conflict: Conflicts,
    /// Only show what would change.
    #[serde(default)]
    dry_run: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    let name = &params.name;
    let options = params.on_conflict.options(params.dry_run);
    let merged = call.context().forks.merge(files, name, &options)?;
    let message = changes::merged(
        &merged,
        params.dry_run,
        &format!("Merged fork {name}, changing"),
        &format!("Merging fork {name} would change"),
    )?;
    let message = message + &changes::excluded(files, files.excluded().patterns());
    Ok(ToolResult::success(message, MergedAnswer::of(&merged)))
}
