//! What a tool is.

use std::fmt;

use serde_json::{Map, Value};
use wink_fs::Workspace;

use crate::refusal::Refusal;
use crate::result::ToolResult;

/// Says what a tool may do to the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The tool only looks.
    Reads,
    /// The tool changes files.
    Writes,
    /// The tool runs a program.
    Executes,
}

/// Holds the declaration of one tool and the function behind it.
pub struct Tool {
    /// The name a model calls it by.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// The text that tells a model when and how to use it.
    pub description: &'static str,
    /// What it may do to the workspace.
    pub effect: Effect,
    pub(crate) schema: fn() -> Map<String, Value>,
    pub(crate) run: fn(&Workspace, Value) -> Result<ToolResult, Refusal>,
}

impl Tool {
    /// Returns the JSON Schema of the arguments: one `type` a field, no references.
    pub fn input_schema(&self) -> Map<String, Value> {
        (self.schema)()
    }

    /// Runs the tool; a failure is a result too, worded for the model.
    pub fn call(&self, workspace: &Workspace, arguments: Value) -> ToolResult {
        (self.run)(workspace, arguments).unwrap_or_else(ToolResult::from)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}
