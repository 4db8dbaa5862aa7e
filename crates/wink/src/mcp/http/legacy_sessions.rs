//! The sessions of clients that begin with `initialize`.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};

use super::{McpService, SESSION_ID, UNKNOWN_SESSION};
use crate::mcp::sessions::lru::InUse;

/// How many sessions of older clients there are at most; the one that was idle for longest goes first.
const MOST_SESSIONS: usize = 128;

/// How long a session of an older client is kept while the client does not use it.
const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);

const TOO_MANY: (StatusCode, &str) = (
    StatusCode::SERVICE_UNAVAILABLE,
    "Too many sessions, and all are in a call: try again later, or speak revision 2026-07-28, which \
     needs none.\n",
);

pub(super) fn sessions() -> LocalSessionManager {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(SESSION_IDLE);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = config;
    sessions
}

impl McpService {
    /// Begins a use of the session that a request names, if there is one; refuses one that is about to end.
    pub(super) async fn in_use(
        &self,
        named: Option<&HeaderValue>,
    ) -> Result<Option<Arc<InUse>>, Response> {
        let Some(id) = named.and_then(|id| id.to_str().ok()) else { return Ok(None) };
        if !self.sessions.sessions.read().await.contains_key(id) {
            return Ok(None);
        }
        self.uses.begin(id).map(Some).ok_or_else(|| UNKNOWN_SESSION.into_response())
    }

    /// Begins a session, one at a time: two would make room for only one.
    pub(super) async fn begin(&self, request: Request) -> Result<Response, Response> {
        let _turn = self.turn.lock().await;
        self.make_room().await?;
        let answer = self.stateful.handle(request).await.map(Body::new);
        if let Some(id) = answer.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()) {
            self.uses.add(id);
        }
        Ok(answer)
    }

    /// Ends the session that was idle for longest, if there are too many for another one.
    async fn make_room(&self) -> Result<(), Response> {
        let there = self.sessions.sessions.read().await;
        self.uses.remember_only(there.keys());
        let count = there.len();
        drop(there);
        if count < MOST_SESSIONS {
            return Ok(());
        }
        let idle = self.uses.forget_longest_idle().ok_or_else(|| TOO_MANY.into_response())?;
        // It fails only if the session has ended by itself.
        let _ = self.sessions.close_session(&idle).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use serde_json::{Value, json};
    use wink_agent::Toolset;
    use wink_fs::Workspace;

    use super::*;
    use crate::mcp::endpoint::{Endpoint, MOST_CALLS};
    use crate::mcp::http::service;

    fn post(session: Option<&str>, method: &str, params: Value) -> Request {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(id) = session {
            request = request.header(SESSION_ID, id).header("mcp-protocol-version", "2025-11-25");
        }
        request.body(Body::from(message.to_string())).expect("a request")
    }

    async fn begin(service: &McpService) -> Result<String, Response> {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                            "clientInfo": {"name": "test", "version": "1"}});
        let answer = service.answer(post(None, "initialize", params)).await?;
        let id = answer.headers()[SESSION_ID].to_str().expect("a session id");
        Ok(id.to_owned())
    }

    async fn call(service: &McpService, id: &str) -> Response {
        let look = json!({"name": "ls", "arguments": {}});
        service.answer(post(Some(id), "tools/call", look)).await.expect("an answer")
    }

    #[tokio::test]
    async fn a_session_that_is_in_a_call_is_never_ended_for_another() {
        let service = service(Endpoint::of_clients(&Workspace::memory(), Toolset::ALL));
        let slots = service.endpoint.slots.clone();
        let all = slots.acquire_many(MOST_CALLS).await.expect("slots");
        let first = begin(&service).await.expect("room");
        let waiting = call(&service, &first).await;
        let second = begin(&service).await.expect("room");
        for _ in 2..MOST_SESSIONS {
            begin(&service).await.expect("room");
        }
        begin(&service).await.expect("room of the second, which is idle");
        assert_eq!(call(&service, &second).await.status(), StatusCode::NOT_FOUND);
        drop(all);
        let answer = to_bytes(waiting.into_body(), usize::MAX).await.expect("an answer");
        assert!(String::from_utf8_lossy(&answer).contains("isError"), "{answer:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn sessions_that_begin_at_the_same_time_are_never_too_many() {
        let service = service(Endpoint::of_clients(&Workspace::memory(), Toolset::ALL));
        for _ in 0..MOST_SESSIONS - 1 {
            begin(&service).await.expect("room");
        }
        let mut begun = tokio::task::JoinSet::new();
        for _ in 0..MOST_SESSIONS {
            let service = service.clone();
            begun.spawn(async move { begin(&service).await.expect("room") });
        }
        assert_eq!(begun.join_all().await.len(), MOST_SESSIONS);
        assert_eq!(service.sessions.sessions.read().await.len(), MOST_SESSIONS);
    }

    #[tokio::test]
    async fn sessions_that_are_gone_are_not_remembered() {
        let service = service(Endpoint::of_clients(&Workspace::memory(), Toolset::ALL));
        for _ in 0..3 {
            let id = begin(&service).await.expect("room");
            service.sessions.close_session(&id.into()).await.expect("ends");
        }
        assert_eq!(service.uses.count(), 1);
    }

    #[tokio::test]
    async fn a_session_that_is_about_to_end_takes_no_request_any_more() {
        let service = service(Endpoint::of_clients(&Workspace::memory(), Toolset::ALL));
        let used = begin(&service).await.expect("room");
        let idle = begin(&service).await;
        let in_use = service.uses.begin(&used);
        let chosen = service.uses.forget_longest_idle();
        assert_eq!(chosen.as_deref(), idle.as_deref().ok());
        let look = post(chosen.as_deref(), "tools/list", json!({}));
        let refused = service.answer(look).await.expect_err("it ends");
        assert_eq!(refused.status(), StatusCode::NOT_FOUND);
        assert_eq!(service.uses.forget_longest_idle(), None, "the other one is in use");
        drop(in_use);
    }

    #[tokio::test]
    async fn where_every_session_is_in_a_call_another_is_refused() {
        let service = service(Endpoint::of_clients(&Workspace::memory(), Toolset::ALL));
        let slots = service.endpoint.slots.clone();
        let all = slots.acquire_many(MOST_CALLS).await.expect("slots");
        let mut waiting = Vec::new();
        for _ in 0..MOST_SESSIONS {
            let id = begin(&service).await.expect("room");
            waiting.push(call(&service, &id).await);
        }
        let refused = begin(&service).await.expect_err("no room");
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(all);
        for answer in waiting {
            to_bytes(answer.into_body(), usize::MAX).await.expect("an answer");
        }
        begin(&service).await.expect("room");
    }
}
