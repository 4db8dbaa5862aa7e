//! MCP over streamable HTTP, in both of its eras.
//!
//! A client of the present revision sends requests that stand for themselves. One of the revisions
//! before it sends `initialize` first and gets a session id, by which the server finds its streams
//! again; the id opens nothing. A request of an older client that did not ask for a session, such as
//! one typed by hand, is answered as it is.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;

use super::endpoint::{Endpoint, MOST_CALLS};
use crate::http_guard::{self, MAX_BODY_BYTES};

/// How many sessions of older clients there are at most.
const MOST_SESSIONS: usize = 128;

/// How long a session of an older client is kept that nobody uses.
const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);

const SESSION_ID: &str = "mcp-session-id";

const TOO_MANY: (StatusCode, &str) = (
    StatusCode::SERVICE_UNAVAILABLE,
    "Too many sessions: end one with DELETE, or speak revision 2026-07-28, which needs none.\n",
);
const UNKNOWN_SESSION: (StatusCode, &str) =
    (StatusCode::NOT_FOUND, "Not found: there is no such session; begin one with initialize.\n");

/// Answers MCP requests on one endpoint; a clone is the same.
#[derive(Clone)]
pub(crate) struct McpService {
    endpoint: Endpoint,
    stateless: StreamableHttpService<Endpoint, NeverSessionManager>,
    stateful: StreamableHttpService<Endpoint, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
}

/// Makes the service of an endpoint.
pub(crate) fn service(endpoint: Endpoint) -> McpService {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // The guard in front knows which names the server has.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(MAX_BODY_BYTES);
    let sessions = Arc::new(sessions());
    let made = endpoint.clone();
    let stateless =
        StreamableHttpService::new(move || Ok(made.clone()), Arc::default(), config.clone());
    let made = endpoint.clone();
    let config = config.with_legacy_session_mode(true);
    let stateful = StreamableHttpService::new(move || Ok(made.clone()), sessions.clone(), config);
    McpService { endpoint, stateless, stateful, sessions }
}

fn sessions() -> LocalSessionManager {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(SESSION_IDLE);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = config;
    sessions
}

impl McpService {
    /// Returns the route of the service.
    pub(crate) fn route(self) -> MethodRouter {
        any(handle).with_state(self)
    }

    /// Lets calls that run come to their end, then ends the streams that stay open.
    pub(crate) async fn end(&self, at_most: Duration) {
        let calls = self.endpoint.slots.acquire_many(MOST_CALLS);
        let _ = tokio::time::timeout(at_most, calls).await;
        self.stateless.config.cancellation_token.cancel();
        self.stateful.config.cancellation_token.cancel();
    }

    async fn answer(&self, request: Request) -> Result<Response, Response> {
        let named = request.headers().get(SESSION_ID).cloned();
        let is_known = match &named {
            Some(id) => self.is_known(id.to_str().unwrap_or_default()).await,
            None => false,
        };
        if request.method() == Method::DELETE && named.is_some() && !is_known {
            return Err(UNKNOWN_SESSION.into_response());
        }
        let (request, begins) = peeked(request).await?;
        if begins && self.sessions.sessions.read().await.len() >= MOST_SESSIONS {
            return Err(TOO_MANY.into_response());
        }
        Ok(match named.is_some() || begins {
            true => self.stateful.handle(request).await.map(Body::new),
            false => self.stateless.handle(request).await.map(Body::new),
        })
    }

    async fn is_known(&self, id: &str) -> bool {
        self.sessions.sessions.read().await.contains_key(id)
    }
}

async fn handle(State(service): State<McpService>, request: Request) -> Response {
    service.answer(request).await.unwrap_or_else(|refusal| refusal)
}

/// Looks into a request: does it begin a session?
async fn peeked(request: Request) -> Result<(Request, bool), Response> {
    let (head, body) = request.into_parts();
    let body = http_guard::whole(body).await.map_err(IntoResponse::into_response)?;
    let begins = head.method == Method::POST && is_initialize(&body);
    Ok((Request::from_parts(head, Body::from(body)), begins))
}

fn is_initialize(body: &Bytes) -> bool {
    #[derive(Deserialize)]
    struct Message<'m> {
        #[serde(borrow)]
        method: Option<&'m str>,
    }
    serde_json::from_slice(body).is_ok_and(|it: Message<'_>| it.method == Some("initialize"))
}
