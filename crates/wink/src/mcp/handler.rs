//! The requests of clients, each with who answers it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, Tool as McpTool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use wink_agent::{Refusal, Tool, ToolContext, ToolResult};
use wink_fs::ErrorKind;

use super::answer::{answered, linked};
use super::endpoint::{Endpoint, Found, only_reads};
use super::recent::RecentCall;
use super::{fixtures, resources, running};

/// Methods of the protocol that this server knows.
const KNOWN: [&str; 6] = [
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
];

impl ServerHandler for Endpoint {
    fn get_info(&self) -> ServerConfig {
        let offered = ServerCapabilities::builder().enable_tools().enable_resources();
        let capabilities = match self.has_fixtures() {
            true => offered.enable_prompts().enable_completions().build(),
            false => offered.build(),
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("wink", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.declared().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<McpTool> {
        self.declared().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.find(&request.name) {
            Found::Tool(tool) => Ok(call(self, tool, request, &context).await?.into()),
            Found::Refused(tool) => Ok(answered(only_reads(tool)).into()),
            Found::Unknown => unknown(self, &request.name, &context).await.map(Into::into),
        }
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (files, cursor) = (self.context().clone(), page.and_then(|page| page.cursor));
        let list = move || resources::list(&files, cursor.as_deref());
        running::run("resources/list", &context, Arc::default(), list).await?
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut templates = resources::templates();
        templates.extend(self.has_fixtures().then(fixtures::template));
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(fixture) =
            self.has_fixtures().then(|| fixtures::resource(&request.uri)).flatten()
        {
            return Ok(fixture?.into());
        }
        let files = self.context().clone();
        let read = move || resources::read(&files, &request.uri);
        Ok(running::run("resources/read", &context, Arc::default(), read).await??.into())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        match self.has_fixtures() {
            true => Ok(ListPromptsResult::with_all_items(fixtures::prompts()?)),
            false => Err(ErrorData::method_not_found::<ListPromptsRequestMethod>()),
        }
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match self.has_fixtures() {
            true => Ok(fixtures::prompt(&request)?.into()),
            false => Err(ErrorData::method_not_found::<GetPromptRequestMethod>()),
        }
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        match self.has_fixtures() {
            true => Ok(CompleteResult::default()),
            false => Err(ErrorData::method_not_found::<CompleteRequestMethod>()),
        }
    }

    /// Gets what is no request of the protocol: another method, or one whose parameters do not fit.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let shown: String = request.method.chars().take(100).collect();
        Err(match KNOWN.contains(&&*request.method) {
            true => ErrorData::invalid_params(
                format!("The parameters of `{shown}` do not fit; see the protocol's schema."),
                None,
            ),
            false => ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("There is no method `{shown}`."),
                None,
            ),
        })
    }
}

/// Refuses a tool that wink does not have, unless it is one of the conformance runner.
async fn unknown(
    endpoint: &Endpoint,
    name: &str,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    if endpoint.has_fixtures()
        && let Some(answer) = fixtures::call(name, context).await
    {
        return answer;
    }
    Err(ErrorData::invalid_params(endpoint.unknown_tool_message(name), None))
}

/// Calls a tool when a slot is free.
async fn call(
    endpoint: &Endpoint,
    tool: &'static Tool,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let Some(slot) = slot(endpoint, context).await? else { return Ok(answered(cancelled())) };
    let mut arguments = request.arguments.unwrap_or_default();
    let files = match endpoint.context_of(tool, &mut arguments) {
        Ok(files) => files,
        Err(refusal) => return Ok(answered(refusal.into())),
    };
    let given_up = Arc::new(AtomicBool::new(false));
    let (files, endpoint) = (files.cancelled(given_up.clone()), endpoint.clone());
    running::run(tool.name, context, given_up, move || {
        let result = told(&endpoint, tool, &files, Value::Object(arguments));
        let answer = linked(answered(result), tool, &files);
        drop(slot);
        answer
    })
    .await
}

/// Waits for a slot; whoever gives up meanwhile gets none.
async fn slot(
    endpoint: &Endpoint,
    context: &RequestContext<RoleServer>,
) -> Result<Option<OwnedSemaphorePermit>, ErrorData> {
    let ending = |_| ErrorData::internal_error("The server is ending.", None);
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Ok(None),
        slot = endpoint.slots.clone().acquire_owned() => slot.map(Some).map_err(ending),
    }
}

fn cancelled() -> ToolResult {
    Refusal::new(ErrorKind::Cancelled, "The call was cancelled before its turn came.").into()
}

/// Calls a tool, and tells of it whoever watches.
fn told(endpoint: &Endpoint, tool: &Tool, files: &ToolContext, arguments: Value) -> ToolResult {
    let (at, began) = (SystemTime::now(), Instant::now());
    let mut names = ["path", "file_path", "filePath", "from"].into_iter();
    let path = names.find_map(|name| arguments.get(name)?.as_str()).unwrap_or_default().to_owned();
    let result = tool.call(files, arguments);
    let (error, took) = (result.code(), began.elapsed());
    endpoint.recent().add(RecentCall { at, tool: tool.name, path, error, took });
    result
}

#[cfg(test)]
mod tests {
    use rmcp::ServiceExt as _;
    use serde_json::json;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
    use wink_agent::Toolset;
    use wink_fs::Workspace;

    use super::super::endpoint::MOST_CALLS;
    use super::*;

    /// Sends a message; waits for the answer where it has an id that is waited for.
    async fn send(client: &mut BufReader<DuplexStream>, message: Value, answer: Option<u64>) {
        client.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
        while let Some(id) = answer {
            let mut line = String::new();
            client.read_line(&mut line).await.expect("the server answers");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == id {
                return;
            }
        }
    }

    fn request(id: u64, method: &str, params: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    async fn client_of(endpoint: Endpoint) -> BufReader<DuplexStream> {
        let (client, server) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            let server = endpoint.serve(server).await.expect("begins");
            let _ = server.waiting().await;
        });
        let mut client = BufReader::new(client);
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                           "clientInfo": {"name": "test", "version": "1"}});
        send(&mut client, request(1, "initialize", hello), Some(1)).await;
        client
    }

    #[tokio::test]
    async fn a_call_that_is_cancelled_while_it_waits_for_its_turn_never_runs() {
        let files = Workspace::memory();
        let endpoint = Endpoint::of_session(&files, Toolset::ALL);
        let slots = endpoint.slots.clone();
        let client = &mut client_of(endpoint).await;
        let all = slots.clone().acquire_many_owned(MOST_CALLS).await.expect("slots");
        let write = json!({"name": "write_file", "arguments": {"path": "a", "content": "x"}});
        send(client, request(2, "tools/call", write), None).await;
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                            "params": {"requestId": 2}});
        send(client, cancel, None).await;
        // Messages are taken in order: when this is answered, the call was cancelled.
        send(client, request(3, "tools/list", json!({})), Some(3)).await;
        drop(all);
        let look = json!({"name": "ls", "arguments": {}});
        send(client, request(4, "tools/call", look), Some(4)).await;
        let _none_runs = slots.acquire_many(MOST_CALLS).await.expect("slots");
        assert!(!files.exists("a"));
    }
}
