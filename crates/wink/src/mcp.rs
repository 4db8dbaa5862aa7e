//! The tool table as an MCP server over streamable HTTP.
//!
//! Every request stands for itself: the server hands out no MCP session, so there is none to guess
//! or to leak. Protocol revision 2026-07-28 works that way by design; clients of the revisions
//! before it still send `initialize` first, get their answer, and go on without a session id.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as McpTool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::task::spawn_blocking;
use wink_agent::{Effect, TOOLS, Tool, ToolContext, ToolResult, find, unknown_tool_message};
use wink_fs::Workspace;

use crate::http_guard::MAX_BODY_BYTES;

const INSTRUCTIONS: &str = "A workspace of files. List with ls, find with glob and grep, read with \
    read_file, write with write_file, change parts of a file with edit_file. Paths are relative to \
    the workspace root. Read a file before you overwrite it and give its content_hash as \
    expected_hash.";

/// Makes the HTTP service that answers MCP requests on `workspace`.
pub(crate) fn service(workspace: Workspace) -> StreamableHttpService<Server, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES);
    let server = Server { workspace };
    StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config)
}

/// Answers MCP requests from the tool table.
#[derive(Clone)]
pub(crate) struct Server {
    workspace: Workspace,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("wink", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(declared).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<McpTool> {
        find(name).map(declared)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = find(&request.name)
            .ok_or_else(|| ErrorData::invalid_params(unknown_tool_message(&request.name), None))?;
        let context = ToolContext::over(&self.workspace);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = spawn_blocking(move || tool.call(&context, arguments))
            .await
            .map_err(|_| ErrorData::internal_error("The tool failed unexpectedly.", None))?;
        Ok(answered(result).into())
    }
}

fn declared(tool: &Tool) -> McpTool {
    McpTool::new(tool.name, tool.description, tool.input_schema().clone())
        .with_title(tool.title)
        .with_annotations(annotations(tool.effect))
}

fn annotations(effect: Effect) -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(effect == Effect::Reads)
        .destructive(effect != Effect::Reads)
        .open_world(effect == Effect::Executes)
}

fn answered(result: ToolResult) -> CallToolResult {
    let content = vec![ContentBlock::text(result.message.clone())];
    let mut answer = match result.ok() {
        true => CallToolResult::success(content),
        false => CallToolResult::error(content),
    };
    answer.structured_content = Some(structured(result));
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
