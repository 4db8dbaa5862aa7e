//! `multi_edit`: several replacements in one file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wink_fs::TreePath;

use crate::edit::rewrite::{Rewritten, check_supplied, rewrite};
use crate::edit::{self, Edit, NumberedError};
use crate::policy::expected_hash;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "multi_edit",
    title: "Edit file in several places",
    description: "Make several edits in one file, in order, each like edit_file. All or \
                  nothing: if one fails, the answer says which and why.",
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
    /// File to edit.
    path: String,
    /// The edits, in order.
    edits: Vec<OneEdit>,
    /// The content_hash from read_file; the edits fail if the file has changed since.
    expected_hash: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct OneEdit {
    /// Exact text to replace.
    old_string: String,
    /// Replacement; may be empty.
    new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
}

impl OneEdit {
    fn as_edit(&self) -> Edit<'_> {
        let Self { old_string: old, new_string: new, replace_all } = self;
        Edit { old, new, replace_all: *replace_all }
    }
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    path: String,
    edits: usize,
    lines: Vec<usize>,
    content_hash: String,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    let expected = expected_hash::parse(params.expected_hash.as_deref())?;
    let new_strings = params.edits.iter().map(|edit| edit.new_string.as_str());
    check_supplied(call.limits(), "new_string of all edits", new_strings)?;
    let edits = edits(params)?;
    let most = call.limits().max_edit_bytes;
    let make = |bytes| edit::apply_all(bytes, &edits, most).map_err(|why| refusal(&path, &why));
    let rewritten = rewrite(call, &path, expected, make)?;
    call.saw(rewritten.content_hash);
    Ok(answer(&path, edits.len(), &rewritten))
}

fn edits(params: &Params) -> Result<Vec<Edit<'_>>, ToolError> {
    if params.edits.is_empty() {
        return Err(ToolError::invalid_argument("`edits` is empty; give at least one edit."));
    }
    Ok(params.edits.iter().map(OneEdit::as_edit).collect())
}

fn refusal(path: &TreePath, why: &NumberedError) -> ToolError {
    ToolError::new(why.refusal.kind(), format!("Nothing was changed in {path}: {why}"))
        .with_path(path)
        .with_lines(why.refusal.lines())
}

fn answer(path: &TreePath, count: usize, rewritten: &Rewritten) -> ToolResult {
    let Rewritten { edited, content_hash } = rewritten;
    let made = counted(count as u64, "edit");
    let hash = content_hash.to_string();
    let message = edit::answer(format_args!("Made {made} in {path}"), edited, &hash);
    let path = path.to_string();
    ToolResult::success(
        message,
        Answer { path, edits: count, lines: edited.lines(), content_hash: hash },
    )
}
