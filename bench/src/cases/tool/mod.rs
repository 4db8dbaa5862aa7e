//! Calls through the engine, from the arguments of a model to the answer.

mod edit_10mb;
mod host;
mod memory;

pub(super) use self::edit_10mb::CASE as EDIT_10MB;
pub(super) use self::host::{OVERWRITE as OVERWRITE_HOST, READ as READ_HOST, WRITE as WRITE_HOST};
pub(super) use self::memory::{EDIT as EDIT_MEMORY, READ as READ_MEMORY, WRITE as WRITE_MEMORY};

use anyhow::{Result, ensure};
use serde_json::Value;
use wink_agent::{Tool, ToolContext, find};

/// Finds a tool, so that looking it up by its name is not what is measured.
fn tool(name: &str) -> Result<&'static Tool> {
    find(name).ok_or_else(|| anyhow::anyhow!("there is no tool {name}"))
}

/// Calls a tool that must succeed.
fn call(tool: &Tool, context: &ToolContext, arguments: Value) -> Result<usize> {
    let result = tool.call(context, arguments);
    ensure!(result.ok(), "{}", result.message);
    Ok(result.message.len())
}
