//! `rm`: delete an entry and everything below it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wink_fs::{ErrorKind, Recursion, Removed};

use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "rm",
    title: "Delete",
    description: "Delete a file, a symlink (never its target) or a directory with everything \
                  in it. The workspace root cannot be deleted.",
    effect: Effect::Writes,
    family: Family::Files,
    destructive: true,
    idempotent: true,
    works_in_forks: true,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// File, symlink or directory.
    path: String,
    /// Succeed if the path does not exist.
    #[serde(default)]
    allow_missing: bool,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    path: String,
    files: u64,
    directories: u64,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    let (removed, message) = match call.change(|fs| fs.remove(&path, Recursion::Recursive)) {
        Err(error) if error.kind() == ErrorKind::NotFound && params.allow_missing => {
            (Removed::default(), format!("{path} does not exist; nothing was removed."))
        }
        result => {
            let removed = result?;
            let files = counted(removed.files, "file");
            let message = match removed.directories {
                0 => format!("Removed {path}: {files}."),
                count => format!("Removed {path}: {} with {files}.", counted(count, "directory")),
            };
            (removed, message)
        }
    };
    let Removed { files, directories, .. } = removed;
    Ok(ToolResult::success(message, Answer { path: path.to_string(), files, directories }))
}
