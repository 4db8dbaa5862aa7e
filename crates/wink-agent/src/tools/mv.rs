//! `mv`: move or rename an entry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wink_fs::ops::{self, MoveOptions};
use wink_fs::{ContentHash, Error, ErrorKind, Filesystem, Kind, Operation, TreePath};

use crate::policy::expected_hash;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "mv",
    title: "Move",
    description: "Move or rename a file, symlink or directory. `to` is the new path, not a \
                  directory to move into; missing parents are created. Fails if `to` exists, \
                  unless `overwrite` is true; to replace a file, read it first and pass its \
                  content_hash as `expected_hash`.",
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
    /// Current path.
    from: String,
    /// New path.
    to: String,
    /// Replace the file, symlink or empty directory at `to`.
    #[serde(default)]
    overwrite: bool,
    /// The content_hash of the file to replace; the move fails if it has changed since.
    expected_hash: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    from: String,
    to: String,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let from = call.path(&params.from)?;
    let to = call.path(&params.to)?;
    let expected = expected_hash::parse(params.expected_hash.as_deref())?;
    call.change(|fs| match ops::rename(fs, &from, &to, &MoveOptions::default()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && params.overwrite => {
            check_read(call, fs, [&from, &to], expected)?;
            ops::rename(fs, &from, &to, &MoveOptions::default().replace(true))
        }
        result => result,
    })
    .map_err(|error| refusal(error, call, [&from, &to], expected))?;
    let answer = Answer { from: from.to_string(), to: to.to_string() };
    Ok(ToolResult::success(format!("Moved {from} to {to}."), answer))
}

/// Refuses to replace a file that the caller has not shown to have read; nothing else has a content to lose.
fn check_read(
    call: &ToolCall<'_>,
    fs: &dyn Filesystem,
    [from, to]: [&TreePath; 2],
    expected: Option<ContentHash>,
) -> wink_fs::Result<()> {
    let is_replaced = from != to && fs.stat(to)?.kind == Kind::File;
    // A directory cannot take the place of a file, and that is the better answer.
    if !is_replaced || fs.stat(from)?.kind == Kind::Directory {
        return Ok(());
    }
    let current = ops::content_hash(fs, to)?;
    if expected.map_or_else(|| call.has_seen(&current), |expected| expected == current) {
        Ok(())
    } else {
        Err(Error::new(Operation::Rename, ErrorKind::Conflict)
            .with_path(to)
            .with_current_hash(current))
    }
}

fn refusal(
    refusal: ToolError,
    call: &ToolCall<'_>,
    [from, to]: [&TreePath; 2],
    expected: Option<ContentHash>,
) -> ToolError {
    match (refusal.kind(), expected) {
        (ErrorKind::AlreadyExists, _) => refusal.reworded(format!(
            "{to} already exists, so {from} was not moved: choose another path, or one in {to} if \
             that is a directory, or set overwrite to true."
        )),
        (ErrorKind::Conflict, None) if call.remembers() => refusal.reworded(format!(
            "{to} already exists with content that you have not read, so {from} was not moved: \
             read {to} with read_file first, then repeat this call."
        )),
        (ErrorKind::Conflict, None) => refusal.reworded(format!(
            "{to} already exists, so {from} was not moved: read {to} with read_file first, then \
             repeat this call with expected_hash set to the content_hash it gives."
        )),
        (ErrorKind::Conflict, Some(_)) => expected_hash::stale(refusal, to),
        _ => refusal,
    }
}
