//! `mkdir`: create a directory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wink_fs::ops::{self, MkdirOptions};

use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "mkdir",
    title: "Create directory",
    description: "Create a directory, including missing parents. Succeeds if it already \
                  exists. Not needed before write_file.",
    effect: Effect::Writes,
    family: Family::Files,
    destructive: false,
    idempotent: true,
    works_in_forks: true,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Directory to create.
    path: String,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    path: String,
    created: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    let created = call.change(|fs| ops::mkdir(fs, &path, &MkdirOptions::default()))?;
    let message = if created {
        format!("Created directory {path}.")
    } else {
        format!("Directory {path} already exists.")
    };
    Ok(ToolResult::success(message, Answer { path: path.to_string(), created }))
}
