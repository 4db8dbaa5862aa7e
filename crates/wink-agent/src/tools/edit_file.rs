//! `edit_file`: replace text in a file.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
    description: "Replace text in a file, leaving every other byte unchanged. `old_string` \
                  must match exactly once, as read_file shows it but without line numbers; \
                  with `replace_all` it may match more often. \\n also matches \\r\\n, and \
                  inserted lines get the line ending of their neighbours. If nothing matches, \
                  the file is unchanged and the answer shows the nearest text.",
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
    /// Exact text to replace.
    old_string: String,
    /// Replacement; may be empty.
    new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
    /// The content_hash from read_file; the edit fails if the file has changed since.
    expected_hash: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    path: String,
    replacements: usize,
    lines: Vec<usize>,
    content_hash: String,
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
    let path = path.to_string();
    let hash = rewritten.content_hash.to_string();
    let lines = edited.lines();
    let count = edited.replaced;
    let message = |done: fmt::Arguments<'_>| edit::answer(done, edited, &hash);
    let message = match lines.as_slice() {
        [line] => message(format_args!("Edited {path} at line {line}")),
        _ => message(format_args!("Edited {path} in {count} places")),
    };
    ToolResult::success(message, Answer { path, replacements: count, lines, content_hash: hash })
}
