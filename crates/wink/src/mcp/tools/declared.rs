//! Tools as clients are told of them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as McpTool};
use serde_json::{Value, json};
use wink_agent::{Family, Tool};

use super::annotations::annotations;
use super::outputs;

/// The argument by which a client of the HTTP door says which session a call belongs to.
pub(crate) const SESSION: &str = "session";

const ABOUT_SESSION: &str = "Any name of your own for this conversation, the same with each call: \
    the server then remembers what you read, and overwriting a file you have read needs no \
    expected_hash.";

/// The argument by which a client works in a fork.
pub(crate) const FORK: &str = "fork";

const ABOUT_FORK: &str =
    "The name of a fork to work in, made by the tool fork, instead of the files here.";

/// Says which arguments tools take besides their own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    pub(crate) session: bool,
    pub(crate) fork: bool,
}

/// Tells whether a tool can be called on the files of a fork.
pub(crate) fn works_in_forks(tool: &Tool) -> bool {
    tool.family == Family::Files || tool.name == "undo"
}

/// Declares a tool with its title, its schemas and what it may do.
pub(crate) fn declared(tool: &Tool, common: Common) -> McpTool {
    let mut input = tool.input_schema().clone();
    if common.session {
        add(&mut input, SESSION, ABOUT_SESSION);
    }
    if common.fork && works_in_forks(tool) {
        add(&mut input, FORK, ABOUT_FORK);
    }
    let declared = McpTool::new(tool.name, tool.description, input)
        .with_title(tool.title)
        .with_annotations(annotations(tool));
    match outputs::schema(tool.name) {
        Some(output) => declared.with_raw_output_schema(Arc::new(output)),
        None => declared,
    }
}

fn add(input: &mut JsonObject, name: &str, about: &str) {
    if let Some(Value::Object(fields)) = input.get_mut("properties") {
        fields.insert(name.into(), json!({"type": "string", "description": about}));
    }
}
