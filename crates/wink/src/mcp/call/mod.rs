//! One call of a tool, from its turn to its record.

pub(crate) mod answer;
pub(crate) mod caller;
pub(crate) mod records;
pub(crate) mod running;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime};

use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wink_agent::{Effect, Tool, ToolContext, ToolError, ToolResult};
use wink_fs::{ErrorKind, Workspace};

use super::call::answer::link;
use super::call::running::LastLine;
use super::endpoint::Endpoint;
use crate::window::calls::EndedCall;

/// Ends every answer to a change that no history keeps.
const NO_UNDO: &str = "\nNo history is kept (--no-history): this cannot be undone.";

/// Calls a tool when a slot is free.
pub(super) async fn call(
    endpoint: &Endpoint,
    tool: &'static Tool,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let search = match tool.name {
        // Before its slot: calls that wait for a search must not use up the slots of others.
        "grep" | "glob" => match permit(&endpoint.searches, context).await? {
            None => return Ok(endpoint.results.answered(cancelled())),
            search => search,
        },
        _ => None,
    };
    let Some(slot) = permit(&endpoint.slots, context).await? else {
        return Ok(endpoint.results.answered(cancelled()));
    };
    let mut arguments = request.arguments.unwrap_or_default();
    let by = caller::of(&arguments, context);
    let mut files = match endpoint.context_of(tool, &mut arguments) {
        Ok(files) => files,
        Err(refusal) => return Ok(endpoint.results.answered(refusal.into())),
    };
    files.workspace = files.workspace.map(|it| it.acting_as(by.as_str()));
    let session = session_of(&files);
    let given_up = Arc::new(AtomicBool::new(false));
    let files = files.cancelled(given_up.clone());
    let last_line = LastLine::default();
    let files = files.output_watch(last_line.watch());
    let endpoint = endpoint.clone();
    running::run(tool.name, context, given_up, Some(last_line), move || {
        let at = SystemTime::now();
        let began = Instant::now();
        let arguments = Value::Object(arguments);
        let path = tool.path_in(&arguments).unwrap_or_default().to_owned();
        let is_shown = endpoint.calls().is_kept();
        let parameters = if is_shown { arguments.to_string() } else { String::new() };
        let before = Before::of(&files, is_shown);
        endpoint.keeping.before(tool, &files);
        let mut result = tool.call(&files, arguments);
        if result.ok() && tool.effect != Effect::Reads && endpoint.is_unprotected() {
            result.message += NO_UNDO;
        }
        let unsaved = endpoint.keep_fork(tool, files.fork.as_deref());
        result.message += &unsaved.unwrap_or_default();
        result.message += &endpoint.keeping.note().unwrap_or_default();
        result.message += &endpoint.taken_back_note().unwrap_or_default();
        // For the user who watches the server; over stdio there is no page, and nothing is kept.
        endpoint.calls().add(EndedCall {
            at,
            took: began.elapsed(),
            tool,
            path: &path,
            parameters: &parameters,
            result: &result.message,
            error: result.code(),
            exit: result.value["exit_code"].as_i64(),
            fork: files.fork.clone(),
            session,
            after: is_shown.then(|| snapshot_id(&files)).flatten(),
            changed: before.has_changed(&files),
            before: before.snapshot,
            by,
        });
        let link = link(&result, tool, &files);
        let mut answer = endpoint.results.answered(result);
        answer.content.extend(link);
        drop((slot, search));
        answer
    })
    .await
}

/// Returns the name of the session that a call is in.
fn session_of(context: &ToolContext) -> Option<String> {
    let session = context.session.as_ref()?;
    Some(session.tags().get("name").cloned().unwrap_or_else(|| session.id().to_string()))
}

/// Returns the snapshot that was taken or restored last.
fn snapshot_id(context: &ToolContext) -> Option<String> {
    context.workspace.as_ref()?.current_snapshot_id().ok()?.map(|id| id.to_string())
}

/// The workspace when a call began.
struct Before {
    snapshot: Option<String>,
    operations: u64,
}

impl Before {
    /// Only a page that shows the call needs to know the snapshot, which may have to be read from a disk.
    fn of(context: &ToolContext, is_shown: bool) -> Self {
        let snapshot = is_shown.then(|| snapshot_id(context)).flatten();
        Self { snapshot, operations: operations(context) }
    }

    fn has_changed(&self, context: &ToolContext) -> bool {
        self.operations != operations(context)
    }
}

/// Returns how many operations this process has made.
fn operations(context: &ToolContext) -> u64 {
    context.workspace.as_ref().map_or(0, Workspace::operations_recorded)
}

/// Waits for a permit; a client that cancels meanwhile gets none.
async fn permit(
    permits: &Arc<Semaphore>,
    context: &RequestContext<RoleServer>,
) -> Result<Option<OwnedSemaphorePermit>, ErrorData> {
    let ending = |_| ErrorData::internal_error("The server is ending.", None);
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Ok(None),
        permit = permits.clone().acquire_owned() => permit.map(Some).map_err(ending),
    }
}

/// Waits for a slot for a request that is not a tool call.
pub(super) async fn turn(
    endpoint: &Endpoint,
    context: &RequestContext<RoleServer>,
) -> Result<OwnedSemaphorePermit, ErrorData> {
    let given_up = || ErrorData::internal_error("The request was cancelled.", None);
    permit(&endpoint.slots, context).await?.ok_or_else(given_up)
}

fn cancelled() -> ToolResult {
    ToolError::new(ErrorKind::Cancelled, "The call was cancelled before its turn came.").into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::mcp::endpoint::MOST_CALLS;
    use crate::window::feed::RunFeed;
    use rmcp::ServiceExt as _;
    use serde_json::json;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
    use tokio::time::timeout;
    use wink_agent::Toolset;
    use wink_agent::session::Session;
    use wink_agent::session::ToolInvoked;

    /// Sends a message; waits for the answer with an id, if given.
    async fn send(client: &mut BufReader<DuplexStream>, message: Value, answer: Option<u64>) {
        client.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
        if let Some(id) = answer {
            answer_to(client, id).await;
        }
    }

    async fn answer_to(client: &mut BufReader<DuplexStream>, id: u64) -> Value {
        loop {
            let mut line = String::new();
            client.read_line(&mut line).await.expect("the server answers");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == id {
                return answer;
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
        let endpoint = Endpoint::of_session(&files, Toolset::ALL, &Session::new(), None);
        let slots = endpoint.slots.clone();
        let recent = endpoint.calls();
        recent.report_to(RunFeed::default());
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
        assert_eq!(recent.summaries().iter().map(|call| &call.tool).collect::<Vec<_>>(), ["ls"]);
    }

    #[tokio::test]
    async fn a_call_that_waits_for_its_turn_when_the_server_ends_never_runs_and_is_told_so() {
        let files = Workspace::memory();
        let endpoint = Endpoint::of_session(&files, Toolset::ALL, &Session::new(), None);
        let client = &mut client_of(endpoint.clone()).await;
        let all = endpoint.slots.clone().acquire_many_owned(MOST_CALLS).await.expect("slots");
        let write = json!({"name": "write_file", "arguments": {"path": "a", "content": "x"}});
        send(client, request(2, "tools/call", write), None).await;
        endpoint.end(Duration::from_millis(100)).await;
        let told = timeout(Duration::from_secs(10), answer_to(client, 2)).await.expect("an answer");
        assert_eq!(told["error"]["message"], "The server is ending.", "{told}");
        drop(all);
        assert!(!files.exists("a"));
    }

    /// Once, sixteen searches in one workspace made a write in another take seconds.
    #[tokio::test]
    async fn searches_wait_for_each_other_and_other_calls_do_not() {
        let endpoint =
            Endpoint::of_session(&Workspace::memory(), Toolset::ALL, &Session::new(), None);
        let searches = endpoint.searches.clone();
        let slots = endpoint.slots.clone();
        let client = &mut client_of(endpoint).await;
        let running = searches.acquire_owned().await.expect("a permit");
        for id in 2..200 {
            let search = json!({"name": "grep", "arguments": {"pattern": "x"}});
            send(client, request(id, "tools/call", search), None).await;
        }
        let look = json!({"name": "ls", "arguments": {}});
        send(client, request(200, "tools/call", look), Some(200)).await;
        assert_eq!(slots.available_permits(), MOST_CALLS as usize, "no search has a slot");
        drop(running);
        answer_to(client, 199).await;
    }

    #[tokio::test]
    async fn a_call_in_a_fork_is_written_down_as_one() {
        let endpoint =
            Endpoint::of_session(&Workspace::memory(), Toolset::ALL, &Session::new(), None);
        let recent = endpoint.calls();
        recent.report_to(RunFeed::default());
        let session = endpoint.context().session.clone();
        let client = &mut client_of(endpoint).await;
        let fork = json!({"name": "fork", "arguments": {"name": "idea"}});
        send(client, request(2, "tools/call", fork), Some(2)).await;
        let arguments = json!({"path": "a", "content": "x", "fork": "idea"});
        let write = json!({"name": "write_file", "arguments": arguments});
        send(client, request(3, "tools/call", write), Some(3)).await;
        let look = json!({"name": "ls", "arguments": {}});
        send(client, request(4, "tools/call", look), Some(4)).await;
        let calls = recent.summaries();
        let forks: Vec<_> = calls.iter().map(|call| call.fork.as_deref()).collect();
        assert_eq!(forks, [None, Some("idea"), None]);
        assert_eq!(calls.iter().map(|call| call.changed).collect::<Vec<_>>(), [false, true, false]);
        let calls = session.expect("a session").query::<ToolInvoked>().expect("records");
        let parameters = |place| &calls.get(place).expect("a record").parameters.text;
        assert!(parameters(1).contains(r#""fork":"idea""#), "{}", parameters(1));
        assert_eq!(parameters(2), "{}");
    }
}
