//! `diff`: compare two states.

mod compared;
mod lines;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wink_fs::{Diff, DiffOptions, ErrorKind, Scope, Workspace};

use self::compared::Compared;
use crate::history::changes::{ChangeAnswer, Changes};
use crate::history::{changes, missing_path};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "diff",
    title: "Compare states",
    description: "Compare two states of all files: A added, M modified, D deleted, R renamed, \
                  with the changed lines. A state is a snapshot's tag, id or start of an id, \
                  @- for the last snapshot, @ for the current files, or the name of a fork. \
                  With `fork`, show what changed in a fork since it was created.",
    effect: Effect::Reads,
    family: Family::History,
    destructive: false,
    idempotent: true,
    works_in_forks: false,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Older state; default: the snapshot taken or restored last.
    from: Option<String>,
    /// Newer state; default: the current files.
    to: Option<String>,
    /// Only this file or directory.
    path: Option<String>,
    /// Show changed lines, not just paths.
    #[serde(default = "yes")]
    lines: bool,
    /// Fork whose changes to show, instead of from and to.
    fork: Option<String>,
    /// Paths to skip.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    changes: Vec<ChangeAnswer>,
    change_count: u64,
    offset: u64,
    unchanged_count: u64,
    /// The lines that changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hunks: Vec<HunkAnswer>,
}

#[derive(Serialize, JsonSchema)]
struct HunkAnswer {
    path: String,
    old_start: usize,
    old_lines: usize,
    new_start: usize,
    new_lines: usize,
    /// Each with ` `, `+` or `-` before it.
    lines: Vec<String>,
}

fn yes() -> bool {
    true
}

fn run(call: &ToolCall<'_>, mut params: Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    if params.fork.is_none() && params.from.is_none() {
        params.from = Some(last(files)?);
    }
    let offset = usize::try_from(params.offset).unwrap_or(usize::MAX);
    let mut options = DiffOptions::default().renames(true);
    let (compared, title) = Compared::find(call, &params)?;
    let path = params.path.as_deref().map(|path| call.path(path)).transpose()?;
    options.scope = path.clone().map_or_else(Scope::everything, |path| Scope::paths([path]));
    let one_sided = match path {
        Some(path) => compared.only_in_one(files, path)?,
        None => None,
    };
    let (diff, lines) = compared.diff(files, &options, |diff| {
        if params.lines {
            lines::places(diff, Changes::of_diff(diff).page(offset))
        } else {
            Vec::new()
        }
    })?;
    if let Some(path) = one_sided.filter(|_| diff.is_empty()) {
        return Err(missing_path::excluded(&path));
    }
    let changes = Changes::of_diff(&diff);
    let mut result = answer(&params, &diff, &changes, &title, offset);
    let head = "Not compared, because a state lacks it";
    result.message += &changes::missing(head, diff.missing.iter());
    result.message += &changes::excluded(files, files.excluded().patterns());
    if call.context().wants_data {
        let hunks = lines::hunks_of_page(&lines, changes.page(offset), &mut result.message);
        result.value["hunks"] = serde_json::to_value(hunks).unwrap_or_default();
    } else {
        lines::add(&mut result.message, &lines::of_page(&lines, changes.page(offset)));
    }
    Ok(result)
}

fn answer(
    params: &Params,
    diff: &Diff,
    changes: &Changes,
    title: &str,
    offset: usize,
) -> ToolResult {
    let message = if params.offset > 0 && params.offset >= changes.len() {
        let count = counted(changes.len(), "path");
        format!("Nothing to show: offset {offset} is past the end of {count}.")
    } else {
        let listed = changes.listed_from(offset, |end| Some(next(params, end)));
        message(diff, changes, title, &listed)
    };
    let answer = Answer {
        changes: changes.answer_from(offset),
        change_count: changes.len(),
        offset: params.offset,
        unchanged_count: diff.unchanged_count,
        hunks: Vec::new(),
    };
    ToolResult::success(message, answer)
}

/// Returns the arguments that show the paths after so many.
fn next(params: &Params, offset: usize) -> Value {
    let mut next = json!({"lines": params.lines, "offset": offset});
    let Params { from, to, path, fork, .. } = params;
    for (name, given) in [("from", from), ("to", to), ("path", path), ("fork", fork)] {
        if let Some(given) = given {
            next[name] = given.as_str().into();
        }
    }
    next
}

fn last(files: &Workspace) -> Result<String, ToolError> {
    let id = files.current_snapshot_id().map_err(changes::refusal)?;
    id.map(|id| id.short()).ok_or_else(|| {
        ToolError::new(
            ErrorKind::SnapshotNotFound,
            "There is no snapshot to compare with; take one with snapshot first.",
        )
    })
}

fn message(diff: &Diff, changes: &Changes, title: &str, listed: &str) -> String {
    if diff.is_empty() {
        let same = counted(diff.unchanged_count, "file");
        return format!("Nothing changed {title}; the same in both: {same}.");
    }
    format!("{} changed {title}:{listed}", counted(changes.len(), "path"))
}
