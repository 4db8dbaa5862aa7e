//! `edit_file`: one text of a file replaced by another.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_fs::TreePath;

use crate::edit::rewrite::{Rewritten, check_supplied, rewrite};
use crate::edit::{self, Edit, EditError};
use crate::policy::expected_hash;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "edit_file",
    title: "Edit file",
    description: "Replaces a text in a file by another and leaves every other byte as it is. \
                  `old_string` must be in the file exactly once, character for character as \
                  read_file shows it but without the line numbers; with `replace_all` it may be \
                  there more often. Line endings need no care: \\n matches \\r\\n too, and \
                  inserted lines end as those around them do. Nothing is changed when the text is \
                  not there; the answer then shows what comes nearest.",
    effect: Effect::Writes,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// File to edit, relative to the workspace root.
    path: String,
    /// The text to replace, exactly as it is in the file.
    old_string: String,
    /// The text to put in its place; may be empty.
    new_string: String,
    /// Replace every occurrence, not just the only one.
    #[serde(default)]
    replace_all: bool,
    /// The content_hash read_file gave; the edit is refused if the file has changed since.
    expected_hash: Option<String>,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    let expected = expected_hash::parse(params.expected_hash.as_deref())?;
    let new_string = std::iter::once(params.new_string.as_str());
    check_supplied(call.limits(), "new_string", new_string)?;
    let Params { old_string: old, new_string: new, replace_all, .. } = params;
    let edit = Edit { old, new, replace_all: *replace_all };
    let most = call.limits().max_edit_bytes;
    let make = |bytes| edit::apply(bytes, &edit, most).map_err(|why| refusal(&path, &why));
    let rewritten = rewrite(call, &path, expected, make)?;
    call.saw(rewritten.content_hash);
    Ok(answer(&path, &rewritten))
}

fn refusal(path: &TreePath, why: &EditError) -> ToolError {
    ToolError::new(why.kind(), format!("Nothing was changed in {path}: {why}"))
        .with_path(path)
        .with_lines(why.lines())
}

fn answer(path: &TreePath, rewritten: &Rewritten) -> ToolResult {
    let edited = &rewritten.edited;
    let (path, hash) = (path.to_string(), rewritten.content_hash.to_string());
    let (lines, count) = (edited.lines(), edited.replaced);
    let message = |done: fmt::Arguments<'_>| edit::answer(done, edited, &hash);
    let message = match lines.as_slice() {
        [line] => message(format_args!("Edited {path} at line {line}")),
        _ => message(format_args!("Edited {path} in {count} places")),
    };
    let value = json!({
        "path": path,
        "replacements": count,
        "lines": lines,
        "content_hash": hash,
    });
    ToolResult::success(message, value)
}
