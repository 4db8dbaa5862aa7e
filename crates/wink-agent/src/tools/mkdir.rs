//! `mkdir`: a new directory.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_fs::ops::{self, MkdirOptions};

use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "mkdir",
    title: "Make directory",
    description: "Makes a directory and its missing parents; one that is there already will do. \
                  Not needed before write_file, which makes parents itself.",
    effect: Effect::Writes,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Directory to make, relative to the workspace root.
    path: String,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    let created = call.change(|fs| ops::mkdir(fs, &path, &MkdirOptions::default()))?;
    let message = if created {
        format!("Made the directory {path}.")
    } else {
        format!("The directory {path} is there already.")
    };
    Ok(ToolResult::success(message, json!({"path": path.to_string(), "created": created})))
}
