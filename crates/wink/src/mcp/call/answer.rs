//! What a tool says, as a client gets it.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use wink_agent::{Tool, ToolContext, ToolResult};

use crate::mcp::resources;

/// Makes the answer of a result: complete text beside small structured data.
pub(crate) fn answered(result: ToolResult) -> CallToolResult {
    let content = vec![ContentBlock::text(result.message.clone())];
    let mut answer =
        if result.ok() { CallToolResult::success(content) } else { CallToolResult::error(content) };
    answer.structured_content = Some(structured(result));
    answer
}

/// Adds a link to a file of which only a part was shown, because it is larger than a page.
pub(crate) fn linked(
    mut answer: CallToolResult,
    tool: &Tool,
    context: &ToolContext,
) -> CallToolResult {
    if tool.name != "read_file" {
        return answer;
    }
    let value = answer.structured_content.as_ref();
    let part = value.filter(|value| value["truncated"] == true);
    let link = part.and_then(|value| resources::link_to_large(context, value["path"].as_str()?));
    answer.content.extend(link.map(ContentBlock::resource_link));
    answer
}

/// Puts the message beside the structured values.
///
/// Some clients show a model only the structured content when there is one, and others only the
/// text; a model must get the whole answer from either.
fn structured(result: ToolResult) -> Value {
    let mut value = result.value;
    if let Value::Object(fields) = &mut value {
        fields.insert("message".into(), result.message.into());
    }
    value
}
