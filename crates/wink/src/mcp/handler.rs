//! The requests of clients, each with who answers it.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    Tool as McpTool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::call::running;
use super::call::{call, turn};
use super::endpoint::{Endpoint, Found};
use super::{completion, prompts, resources};

/// Methods of the protocol that this server knows.
const KNOWN: [&str; 9] = [
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
];

impl ServerHandler for Endpoint {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("wink", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // The agent's first act may be to delete a file by tools of its own.
        self.keeping.first().await;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.keeping.first().await;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
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
            Found::Refused(why) => Ok(self.results.answered(why.into()).into()),
            Found::Unknown => {
                let message = self.unknown_tool_message(&request.name);
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let files = self.context().clone();
        let cursor = page.and_then(|page| page.cursor);
        let slot = turn(self, &context).await?;
        let list = move || {
            let _slot = slot;
            resources::list(&files, cursor.as_deref())
        };
        running::run("resources/list", &context, Arc::default(), None, list).await?
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let files = self.context().clone();
        let slot = turn(self, &context).await?;
        let read = move || {
            let _slot = slot;
            resources::read(&files, &request.uri)
        };
        Ok(running::run("resources/read", &context, Arc::default(), None, read).await??.into())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list(self)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(self, &request)?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let files = self.context().clone();
        let slot = turn(self, &context).await?;
        let complete = move || {
            let _slot = slot;
            completion::complete(&files, &request)
        };
        let found =
            running::run("completion/complete", &context, Arc::default(), None, complete).await??;
        Ok(CompleteResult::new(found))
    }

    /// Gets what is no request of the protocol: another method, or one whose parameters do not fit.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let shown: String = request.method.chars().take(100).collect();
        Err(if KNOWN.contains(&&*request.method) {
            ErrorData::invalid_params(
                format!("The parameters of `{shown}` do not fit; see the protocol's schema."),
                None,
            )
        } else {
            ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("There is no method `{shown}`."),
                None,
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::Request;
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;
    use serde_json::json;
    use wink_agent::Toolset;
    use wink_fs::Workspace;

    use super::*;

    #[tokio::test]
    async fn resources_need_a_slot_as_calls_do() {
        let endpoint = Endpoint::of_clients(&Workspace::memory(), Toolset::named("all").unwrap());
        let app = Router::new().route("/", crate::mcp::service(endpoint.clone()).route());
        let app = TowerToHyperService::new(app);
        let ask = async |method: &str| {
            let params = json!({"uri": "wink://workspace/", "name": "ls"});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let request = Request::post("/").header("host", "localhost");
            let request = request.header("content-type", "application/json");
            let request = request.header("accept", "application/json, text/event-stream");
            let answer = app.call(request.body(Body::from(body.to_string())).unwrap()).await;
            let answer = axum::body::to_bytes(answer.unwrap().into_body(), usize::MAX).await;
            String::from_utf8(answer.unwrap().into()).unwrap()
        };
        let methods = ["resources/list", "resources/read", "tools/call"];
        for method in methods {
            let answer = ask(method).await;
            assert!(answer.contains("\"result\""), "{method}: {answer}");
        }
        endpoint.slots.close();
        for method in methods {
            let answer = ask(method).await;
            assert!(answer.contains("The server is ending."), "{method}: {answer}");
        }
    }
}
