//! `rm`: an entry removed, with all that is below it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_fs::{ErrorKind, Recursion, Removed, TreePath};

use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "rm",
    title: "Remove",
    description: "Removes a file, a link (never what it points to) or a directory with everything \
                  in it, and says how many went. The workspace root cannot be removed.",
    effect: Effect::Writes,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// What to remove, relative to the workspace root.
    path: String,
    /// Do not fail when nothing is there.
    #[serde(default)]
    allow_missing: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    match call.change(|fs| fs.remove(&path, Recursion::Recursive)) {
        Err(error) if error.kind() == ErrorKind::NotFound && params.allow_missing => {
            let message = format!("Nothing is at {path}, so nothing was removed.");
            Ok(ToolResult::success(message, value(&path, Removed::default())))
        }
        result => {
            let removed = result?;
            Ok(ToolResult::success(message(&path, removed), value(&path, removed)))
        }
    }
}

fn message(path: &TreePath, removed: Removed) -> String {
    let files = counted(removed.files, "file");
    match removed.directories {
        0 => format!("Removed {path}: {files}."),
        count => format!("Removed {path}: {} with {files}.", counted(count, "directory")),
    }
}

fn value(path: &TreePath, removed: Removed) -> serde_json::Value {
    json!({
        "path": path.to_string(),
        "files": removed.files,
        "directories": removed.directories,
    })
}
