//! Fixtures for the public conformance runner, beside what wink itself offers. Only in test builds.
//!
//! The runner calls tools, reads resources and gets prompts by names that it knows, to see how a server
//! puts each kind of content on the wire. A hidden option of `wink serve` adds them.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, Prompt, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceTemplate, ServerConfig, Tool as McpTool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::endpoint::Endpoint;

type Page = Option<PaginatedRequestParams>;
type Request = RequestContext<RoleServer>;

/// An endpoint, with the fixtures where the option asks for them.
#[derive(Clone)]
pub(super) struct WithFixtures(Endpoint);

impl WithFixtures {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self(endpoint)
    }

    fn is_on(&self) -> bool {
        self.0.has_fixtures
    }
}

impl ServerHandler for WithFixtures {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    async fn initialize(
        &self,
        params: InitializeRequestParams,
        request: Request,
    ) -> Result<InitializeResult, ErrorData> {
        self.0.keeping.first().await;
        request.peer.set_peer_info(params.clone());
        self.negotiate_initialize(&params)
    }

    async fn discover(&self, _request: Request) -> Result<DiscoverResult, ErrorData> {
        self.0.keeping.first().await;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn list_tools(&self, page: Page, request: Request) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.0.list_tools(page, request).await?;
        if self.is_on() {
            list.tools.extend(tools());
        }
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<McpTool> {
        let fixture = || tools().find(|tool| self.is_on() && tool.name == name);
        self.0.get_tool(name).or_else(fixture)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        request: Request,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.is_on()
            && let Some(answer) = call(&params.name, &request).await
        {
            return answer.map(Into::into);
        }
        self.0.call_tool(params, request).await
    }

    async fn list_resources(
        &self,
        page: Page,
        request: Request,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.0.list_resources(page, request).await
    }

    async fn list_resource_templates(
        &self,
        page: Page,
        request: Request,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.0.list_resource_templates(page, request).await?;
        list.resource_templates.extend(self.is_on().then(template));
        Ok(list)
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        request: Request,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(fixture) = self.is_on().then(|| resource(&params.uri)).flatten() {
            return Ok(fixture?.into());
        }
        self.0.read_resource(params, request).await
    }

    async fn list_prompts(
        &self,
        page: Page,
        request: Request,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.0.list_prompts(page, request).await?;
        if self.is_on() {
            list.prompts.extend(prompts()?);
        }
        Ok(list)
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        request: Request,
    ) -> Result<GetPromptResponse, ErrorData> {
        if self.is_on() && params.name.starts_with("test_") {
            Ok(prompt(&params)?.into())
        } else {
            self.0.get_prompt(params, request).await
        }
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        request: Request,
    ) -> Result<CompleteResult, ErrorData> {
        self.0.complete(params, request).await
    }

    async fn on_custom_request(
        &self,
        custom: CustomRequest,
        request: Request,
    ) -> Result<CustomResult, ErrorData> {
        self.0.on_custom_request(custom, request).await
    }
}

/// A picture of one point.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJ\
                   RU5ErkJggg==";
/// A sound of no length.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

const ABOUT: &str = "A fixture of the conformance runner.";

const PROGRESS: &str = "test_tool_with_progress";
const CAPABILITY: &str = "test_missing_capability";
const TEMPLATE: (&str, &str) = ("test://template/", "/data");

/// Returns what a tool of the runner answers.
fn content(name: &str) -> Option<Value> {
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let text = |text: &str| json!({"type": "text", "text": text});
    let resource = |uri: &str, mime: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}});
    Some(match name {
        "test_simple_text" => json!([text("This is a simple text response for testing.")]),
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => json!([resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content."
        )]),
        "test_multiple_content_types" => json!([
            text("Multiple content types test:"),
            image,
            resource(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#
            ),
        ]),
        "test_error_handling" => {
            json!([text("This tool intentionally returns an error for testing")])
        }
        PROGRESS | CAPABILITY | "test_logging_tool" | "test_streaming_elicitation" => {
            json!([text("Done.")])
        }
        _ => return None,
    })
}

/// Names of the runner's tools.
const TOOLS: [&str; 10] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    PROGRESS,
    CAPABILITY,
    "test_logging_tool",
    "test_streaming_elicitation",
];

/// Declares the runner's tools.
fn tools() -> impl Iterator<Item = McpTool> {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let schema: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
    TOOLS.into_iter().map(move |name| McpTool::new(name, ABOUT, schema.clone()))
}

/// Calls a tool of the runner.
async fn call(
    name: &str,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResult, ErrorData>> {
    let content = content(name)?;
    match name {
        PROGRESS => progress(context).await,
        CAPABILITY if !can_ask(context) => {
            let needed = made(json!({"sampling": {}}));
            return Some(
                needed
                    .and_then(|needed| Err(ErrorData::missing_required_client_capability(needed))),
            );
        }
        _ => {}
    }
    let is_error = name == "test_error_handling";
    Some(made(json!({"content": content, "isError": is_error, "resultType": "complete"})))
}

fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|it| it.sampling.is_some())
}

async fn progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return };
    for progress in [0.0, 50.0, 100.0] {
        let told = ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
        // A client that does not listen any more is no reason to stop.
        let _ = context.peer.notify_progress(told).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns how resources of the runner are named.
fn template() -> ResourceTemplate {
    let (before, after) = TEMPLATE;
    ResourceTemplate::new(format!("{before}{{id}}{after}"), "fixture")
}

/// Reads a resource of the runner.
fn resource(uri: &str) -> Option<Result<ReadResourceResult, ErrorData>> {
    let content = match uri {
        "test://static-text" => json!({
            "uri": uri, "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        }),
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        _ => {
            let id = uri.strip_prefix(TEMPLATE.0)?.strip_suffix(TEMPLATE.1)?;
            let text =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": text.to_string()})
        }
    };
    Some(made(json!({"contents": [content], "resultType": "complete"})))
}

/// Lists the prompts of the runner.
fn prompts() -> Result<Vec<Prompt>, ErrorData> {
    let prompt = |name: &str, required: &[&str]| {
        let arguments = required.iter().map(|it| json!({"name": it, "required": true}));
        let arguments: Vec<Value> = arguments.collect();
        json!({"name": name, "description": ABOUT, "arguments": arguments})
    };
    made(json!([
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
    ]))
}

/// Gets a prompt of the runner.
fn prompt(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let given = |name: &str| {
        let value = request.arguments.as_ref().and_then(|all| all.get(name));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let text = |text: String| json!({"type": "text", "text": text});
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => vec![text(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            given("arg1"),
            given("arg2")
        ))],
        "test_prompt_with_embedded_resource" => vec![
            json!({"type": "resource", "resource": {
                "uri": given("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            }}),
            text("Please process the embedded resource above.".to_owned()),
        ],
        "test_prompt_with_image" => vec![
            json!({"type": "image", "data": PNG, "mimeType": "image/png"}),
            text("Please analyze the image above.".to_owned()),
        ],
        _ => return Err(ErrorData::invalid_params("There is no such prompt.", None)),
    };
    let said = |content: Value| json!({"role": "user", "content": content});
    let messages: Vec<Value> = contents.into_iter().map(said).collect();
    made(json!({"messages": messages, "resultType": "complete"}))
}

/// Makes a value of the protocol from its form on the wire.
fn made<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
