//! What `wink tool` prints as JSON.

use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ToolList {
    pub(crate) tools: Vec<ToolEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ToolEntry {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// `files`, `history` or `execution`.
    pub(crate) family: &'static str,
    /// `reads`, `writes` or `executes`.
    pub(crate) effect: &'static str,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ToolSchema {
    pub(crate) tool: &'static str,
    pub(crate) input_schema: &'static Map<String, Value>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ToolCalled {
    pub(crate) tool: &'static str,
    /// What a model reads.
    pub(crate) text: String,
    /// What a program reads.
    pub(crate) value: Value,
}
