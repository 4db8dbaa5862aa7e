//! A tool's result as the client gets it.

use clap::ValueEnum;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use wink_agent::{Tool, ToolContext, ToolResult};

use crate::mcp::resources;

/// How results are sent. Only once: clients that get both show a model the same text twice, or escaped in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Results {
    // Doc comments here would become long help of the option.
    #[default]
    Text,
    Structured,
}

impl Results {
    /// Makes the answer of a result.
    pub(crate) fn answered(self, mut result: ToolResult) -> CallToolResult {
        let is_ok = result.ok();
        let image = result.image.take();
        let (mut content, structured) = match self {
            Self::Text => (vec![ContentBlock::text(result.message)], None),
            Self::Structured => (Vec::new(), Some(structured(result))),
        };
        content.extend(image.map(|it| ContentBlock::image(it.base64, it.mime_type)));
        let mut answer =
            if is_ok { CallToolResult::success(content) } else { CallToolResult::error(content) };
        answer.structured_content = structured;
        answer
    }
}

/// Returns a link to a file of which only a part was shown, because it is larger than a page.
pub(crate) fn link(
    result: &ToolResult,
    tool: &Tool,
    context: &ToolContext,
) -> Option<ContentBlock> {
    if tool.name != "read_file" || result.value["truncated"] != true {
        return None;
    }
    let link = resources::link_to_large(context, result.value["path"].as_str()?);
    link.map(ContentBlock::resource_link)
}

fn structured(result: ToolResult) -> Value {
    let mut value = result.value;
    if let Value::Object(fields) = &mut value {
        fields.insert("message".into(), result.message.into());
    }
    value
}
