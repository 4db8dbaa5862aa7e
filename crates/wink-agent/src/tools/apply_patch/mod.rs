//! `apply_patch`: apply a patch to several files.

mod commit;
mod plan;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::plan::{Named, Step};
use crate::edit::patch;
use crate::edit::rewrite::{check_supplied, retried};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "apply_patch",
    title: "Apply patch",
    description: "Apply a patch to one or more files, all or nothing. Accepts a unified diff \
                  (--- a/path, +++ b/path, @@ hunks; /dev/null to create or delete a file; \
                  git's rename from and rename to) or the format between *** Begin Patch and \
                  *** End Patch. Context and removed lines must match exactly; wrong line \
                  numbers are fine where the lines occur only once.",
    effect: Effect::Writes,
    family: Family::Files,
    destructive: true,
    idempotent: false,
    works_in_forks: true,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The patch text.
    patch: String,
    /// Only show what would change.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    dry_run: bool,
    files: Vec<PatchedFile>,
}

#[derive(Serialize, JsonSchema)]
struct PatchedFile {
    from: Option<String>,
    path: Option<String>,
    added: usize,
    removed: usize,
    content_hash: Option<String>,
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
        format!("Dry run, nothing was changed. The patch applies and would change {files}:")
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
    let files = named.iter().zip(steps).map(|(named, step)| patched_file(named, step)).collect();
    ToolResult::success(message, Answer { dry_run, files })
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

fn patched_file(named: &Named, step: &Step) -> PatchedFile {
    let (added, removed) = named.patch.counts();
    let text = |path: &Option<wink_fs::TreePath>| path.as_ref().map(ToString::to_string);
    PatchedFile {
        from: text(&step.from),
        path: text(&step.to),
        added,
        removed,
        content_hash: step.content_hash().map(|hash| hash.to_string()),
    }
}
