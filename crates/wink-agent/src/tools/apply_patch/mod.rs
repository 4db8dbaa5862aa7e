//! `apply_patch`: several files changed at once.

mod commit;
mod plan;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use self::plan::{Named, Step};
use crate::edit::patch;
use crate::edit::retry::retried;
use crate::edit::rewrite::check_supplied;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "apply_patch",
    title: "Apply patch",
    description: "Applies a patch to one or more files: all of it or nothing. The patch is a \
                  unified diff (--- a/path, +++ b/path, @@ hunks; /dev/null makes or deletes a \
                  file; git's rename from and rename to move one) or the format between *** Begin \
                  Patch and *** End Patch. Context lines and removed lines must be in the file \
                  exactly; wrong line numbers do no harm where the lines are there only once. With \
                  `dry_run` it says what would change and changes nothing.",
    effect: Effect::Writes,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The whole patch as text.
    patch: String,
    /// Only say what would change.
    #[serde(default)]
    dry_run: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let limits = call.limits();
    check_supplied(limits, "the patch", std::iter::once(params.patch.as_str()))?;
    let files = patch::parse(&params.patch)
        .map_err(|why| ToolError::invalid_argument(format!("Nothing was changed: {why}")))?;
    let named = plan::named(call, files)?;
    let steps = if params.dry_run {
        plan::plan(&*call.tree(), limits, &named)?
    } else {
        call.change(|fs| {
            retried(|| {
                let steps = plan::plan(&*fs, limits, &named)?;
                commit::commit(fs, &steps)?;
                Ok(steps)
            })
        })?
    };
    steps.iter().filter_map(Step::content_hash).for_each(|hash| call.saw(hash));
    Ok(answer(&named, &steps, params.dry_run))
}

fn answer(named: &[Named], steps: &[Step], dry_run: bool) -> ToolResult {
    let files = counted(steps.len() as u64, "file");
    let mut message = if dry_run {
        format!("The patch fits. Nothing was changed (dry_run); it would change {files}:")
    } else {
        format!("Applied the patch to {files}:")
    };
    for (named, step) in named.iter().zip(steps) {
        // Writing into a string cannot fail.
        let _ = write!(message, "\n{}{}", described(step), counts(named));
        for (hunk, line, found) in &step.moved {
            let _ = write!(message, "\n  hunk {hunk} was found at line {found}, not {line}");
        }
    }
    let values = named.iter().zip(steps).map(|(named, step)| value(named, step));
    let value = json!({"dry_run": dry_run, "files": values.collect::<Vec<_>>()});
    ToolResult::success(message, value)
}

fn counts(named: &Named) -> String {
    match named.patch.counts() {
        (0, 0) => String::new(),
        (added, removed) => format!(" (+{added} -{removed})"),
    }
}

fn described(step: &Step) -> String {
    match (&step.from, &step.to) {
        (None, Some(to)) => format!("A {to}"),
        (Some(from), None) => format!("D {from}"),
        (Some(from), Some(to)) if from == to => format!("M {to}"),
        (Some(from), Some(to)) => format!("R {from} -> {to}"),
        (None, None) => String::new(),
    }
}

fn value(named: &Named, step: &Step) -> Value {
    let (added, removed) = named.patch.counts();
    let text = |path: &Option<wink_fs::TreePath>| path.as_ref().map(ToString::to_string);
    json!({
        "from": text(&step.from),
        "path": text(&step.to),
        "added": added,
        "removed": removed,
        "content_hash": step.content_hash().map(|hash| hash.to_string()),
    })
}
