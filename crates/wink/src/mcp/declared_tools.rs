//! Tools as clients are told of them: schemas, annotations, and the arguments that no tool has by itself.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as McpTool, ToolAnnotations};
use serde_json::{Value, json};
use wink_agent::{Effect, Tool};

use crate::mcp::call::answer::Results;

/// The argument by which a client of the HTTP door says which session a call belongs to.
pub(crate) const SESSION: &str = "session";

const ABOUT_SESSION: &str = "Name of your choice for this conversation, the same in every call; then a file \
    that you have read can be overwritten without expected_hash.";

/// The argument by which a client works in a fork.
pub(crate) const FORK: &str = "fork";

/// The largest integer that every JSON parser reads exactly.
const LARGEST: u64 = (1 << 53) - 1;

const ABOUT_FORK: &str = "Fork to work in.";

/// The arguments that tools take besides their own, and how they answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    pub(crate) session: bool,
    pub(crate) fork: bool,
    pub(crate) results: Results,
}

/// Declares a tool with its title, its schemas and its annotations.
pub(crate) fn declared(tool: &Tool, common: Common) -> McpTool {
    let mut input = tool.input_schema().clone();
    shorten(&mut input);
    if common.session {
        add_property(&mut input, SESSION, json!({"type": "string", "description": ABOUT_SESSION}));
    }
    if common.fork && tool.works_in_forks {
        add_property(&mut input, FORK, json!({"type": "string", "description": ABOUT_FORK}));
    }
    let annotations = ToolAnnotations::default()
        .read_only(tool.effect == Effect::Reads)
        .destructive(tool.destructive)
        .idempotent(tool.idempotent)
        .open_world(tool.effect == Effect::Executes);
    let declared = McpTool::new(tool.name, tool.description, input)
        .with_title(tool.title)
        .with_annotations(annotations);
    match tool.output_schema().cloned() {
        Some(mut output) if common.results == Results::Structured => {
            // The server puts the text beside the data; see `call::answer`.
            add_property(&mut output, "message", json!({"type": "string"}));
            output.insert("required".into(), json!(["message"]));
            declared.with_raw_output_schema(Arc::new(output))
        }
        _ => declared,
    }
}

/// Drops what tells a model nothing: that a flag is off and a count is 0 by default, that a count is not negative, and
/// the largest number that JSON has. Clients send the list with each request.
fn shorten(schema: &mut JsonObject) {
    let Some(Value::Object(fields)) = schema.get_mut("properties") else { return };
    for field in fields.values_mut().filter_map(Value::as_object_mut) {
        field.retain(|word, value| match word.as_str() {
            "default" => *value != false && *value != 0,
            "minimum" => *value != 0,
            "maximum" => value.as_u64() != Some(LARGEST),
            _ => true,
        });
    }
}

fn add_property(schema: &mut JsonObject, name: &str, field: Value) {
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.insert(name.into(), field);
    }
}
