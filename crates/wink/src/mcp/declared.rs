//! Tools as clients are told of them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as McpTool};
use serde_json::{Value, json};
use wink_agent::Tool;

use super::annotations::annotations;
use super::outputs;

/// An argument that the server itself takes, beside those of a tool.
#[derive(Clone, Copy)]
pub(super) struct OwnArgument {
    pub(super) name: &'static str,
    about: &'static str,
}

/// Says which session a call belongs to, over HTTP.
pub(super) const SESSION: OwnArgument = OwnArgument {
    name: "session",
    about: "Any name of your own for this conversation, the same with each call: the server then \
            remembers what you read, and overwriting a file you have read needs no expected_hash.",
};

/// Says in which fork a tool for files works.
pub(super) const FORK: OwnArgument = OwnArgument {
    name: "fork",
    about: "Work in the fork of this name, which the tool fork made, and leave the other files alone.",
};

/// Declares a tool with its title, its schemas and what it may do.
pub(super) fn declared(tool: &Tool, own: impl Iterator<Item = OwnArgument>) -> McpTool {
    let mut input = tool.input_schema().clone();
    own.for_each(|argument| add(&mut input, argument));
    let declared = McpTool::new(tool.name, tool.description, input)
        .with_title(tool.title)
        .with_annotations(annotations(tool));
    match outputs::schema(tool.name) {
        Some(output) => declared.with_raw_output_schema(Arc::new(output)),
        None => declared,
    }
}

fn add(input: &mut JsonObject, argument: OwnArgument) {
    if let Some(Value::Object(fields)) = input.get_mut("properties") {
        let field = json!({"type": "string", "description": argument.about});
        fields.insert(argument.name.into(), field);
    }
}
