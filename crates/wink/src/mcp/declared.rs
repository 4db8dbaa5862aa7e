//! Tools as clients are told of them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as McpTool};
use serde_json::{Value, json};
use wink_agent::Tool;

use super::annotations::annotations;
use super::outputs;

/// The argument by which a client of the HTTP door says which session a call belongs to.
pub(super) const SESSION: &str = "session";

const ABOUT_SESSION: &str = "Any name of your own for this conversation, the same with each call: \
    the server then remembers what you read, and overwriting a file you have read needs no \
    expected_hash.";

/// Declares a tool with its title, its schemas and what it may do.
pub(super) fn declared(tool: &Tool, takes_session: bool) -> McpTool {
    let mut input = tool.input_schema().clone();
    if takes_session {
        add_session(&mut input);
    }
    let declared = McpTool::new(tool.name, tool.description, input)
        .with_title(tool.title)
        .with_annotations(annotations(tool));
    match outputs::schema(tool.name) {
        Some(output) => declared.with_raw_output_schema(Arc::new(output)),
        None => declared,
    }
}

fn add_session(input: &mut JsonObject) {
    if let Some(Value::Object(fields)) = input.get_mut("properties") {
        fields.insert(SESSION.into(), json!({"type": "string", "description": ABOUT_SESSION}));
    }
}
