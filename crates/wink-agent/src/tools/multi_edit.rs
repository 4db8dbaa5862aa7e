//! `multi_edit`: several texts of a file replaced, in order.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_fs::TreePath;

use crate::edit::rewrite::{Rewritten, check_supplied, rewrite};
use crate::edit::{self, Edit, NumberedError};
use crate::policy::expected_hash;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "multi_edit",
    title: "Edit file in several places",
    description: "Makes several edits in one file, in order, each as edit_file does and on what \
                  the one before left. All are made or none: if one cannot be, the answer says \
                  which and why.",
    effect: Effect::Writes,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// File to edit, relative to the workspace root.
    path: String,
    /// The edits, in the order they are made.
    edits: Vec<OneEdit>,
    /// The content_hash read_file gave; the edits are refused if the file has changed since.
    expected_hash: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct OneEdit {
    /// The text to replace, exactly as it is in the file.
    old_string: String,
    /// The text to put in its place; may be empty.
    new_string: String,
    /// Replace every occurrence, not just the only one.
    #[serde(default)]
    replace_all: bool,
}

impl OneEdit {
    fn as_edit(&self) -> Edit<'_> {
        let Self { old_string: old, new_string: new, replace_all } = self;
        Edit { old, new, replace_all: *replace_all }
    }
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
    let (made, hash) = (counted(count as u64, "edit"), content_hash.to_string());
    let message = edit::answer(format_args!("Made {made} in {path}"), edited, &hash);
    let value = json!({
        "path": path.to_string(),
        "edits": count,
        "lines": edited.lines(),
        "content_hash": hash,
    });
    ToolResult::success(message, value)
}
