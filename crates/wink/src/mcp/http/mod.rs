//! MCP over streamable HTTP, in both of its eras.
//!
//! A client of the present revision sends requests that stand for themselves. One of the revisions
//! before it sends `initialize` first and gets a session id, by which the server finds its streams
//! again; the id opens nothing. A request of an older client that did not ask for a session, such as
//! one typed by hand, is answered as it is.

mod in_flight;
mod legacy_sessions;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Mutex;
use tokio::time::Instant;

use self::in_flight::InFlight;
use self::legacy_sessions::sessions;
use super::endpoint::Endpoint;
use super::message;
use super::sessions::lru::SessionLru;
use crate::serve::http::origin_guard::{MAX_BODY_BYTES, whole};

const SESSION_ID: &str = "mcp-session-id";

const UNKNOWN_SESSION: (StatusCode, &str) =
    (StatusCode::NOT_FOUND, "Not found: there is no such session; begin one with initialize.\n");

const ENDING: (StatusCode, &str) =
    (StatusCode::SERVICE_UNAVAILABLE, "Unavailable: the server is ending; nothing was done.\n");

const NOT_FINISHED: (StatusCode, &str) = (
    StatusCode::SERVICE_UNAVAILABLE,
    "Unavailable: the server ended before this call did; look at the files before you repeat it.\n",
);

/// How long answers have that were on their way when the time for calls was over.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

#[cfg(feature = "conformance-fixtures")]
type Handler = super::fixtures::WithFixtures;
#[cfg(not(feature = "conformance-fixtures"))]
type Handler = Endpoint;

/// Answers MCP requests on one endpoint; a clone is the same.
#[derive(Clone)]
pub(crate) struct McpService {
    endpoint: Endpoint,
    stateless: StreamableHttpService<Handler, NeverSessionManager>,
    stateful: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    uses: SessionLru,
    in_flight: InFlight,
    turn: Arc<Mutex<()>>,
}

/// Makes the service of an endpoint.
pub(crate) fn service(endpoint: Endpoint) -> McpService {
    endpoint.begin();
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // The guard in front knows which names the server has.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(MAX_BODY_BYTES);
    let sessions = Arc::new(sessions());
    #[cfg(feature = "conformance-fixtures")]
    let handler = Handler::new(endpoint.clone());
    #[cfg(not(feature = "conformance-fixtures"))]
    let handler = endpoint.clone();
    let made = handler.clone();
    let stateless =
        StreamableHttpService::new(move || Ok(made.clone()), Arc::default(), config.clone());
    let config = config.with_legacy_session_mode(true);
    let stateful =
        StreamableHttpService::new(move || Ok(handler.clone()), sessions.clone(), config);
    let uses = SessionLru::default();
    let turn = Arc::default();
    let in_flight = InFlight::default();
    McpService { endpoint, stateless, stateful, sessions, uses, in_flight, turn }
}

impl McpService {
    /// Returns the route of the service.
    pub(crate) fn route(self) -> MethodRouter {
        any(handle).with_state(self)
    }

    /// Lets calls that run come to their end and be answered, then ends the streams that stay open.
    pub(crate) async fn end(&self, at_most: Duration) {
        let until = Instant::now() + at_most + LAST_ANSWERS;
        self.endpoint.end(at_most).await;
        // A call is at its end before its answer is on its way; and what ends the streams ends all calls.
        self.in_flight.answered(until).await;
        self.stateless.config.cancellation_token.cancel();
        self.stateful.config.cancellation_token.cancel();
    }

    /// Waits for no call any more.
    pub(crate) fn hurry(&self) {
        self.endpoint.hurry();
        self.in_flight.hurry();
    }

    /// Answers a request that the end of the server waits for.
    async fn counted(&self, request: Request) -> Result<Response, Response> {
        let counted = self.in_flight.begin().ok_or_else(|| ENDING.into_response())?;
        let answer = self.answer(request).await?;
        if answer.status() == StatusCode::INTERNAL_SERVER_ERROR && self.in_flight.is_over() {
            Err(NOT_FINISHED.into_response())
        } else {
            Ok(counted.until_sent(answer))
        }
    }

    async fn answer(&self, request: Request) -> Result<Response, Response> {
        let named = request.headers().get(SESSION_ID).cloned();
        let in_use = self.in_use(named.as_ref()).await?;
        if request.method() == Method::DELETE && named.is_some() && in_use.is_none() {
            return Err(UNKNOWN_SESSION.into_response());
        }
        let (mut head, body) = request.into_parts();
        let body = whole(body).await.map_err(IntoResponse::into_response)?;
        let is_post = head.method == Method::POST;
        let is_end = head.method == Method::DELETE;
        if is_post {
            // The guard has checked the type and accepts every spelling of it; rmcp accepts only this one.
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        // It goes where the request goes, and lasts as long as the call.
        if let Some(in_use) = in_use {
            head.extensions.insert(in_use);
        }
        let begins = is_post && named.is_none() && message::is_initialize(&body);
        let request = Request::from_parts(head, Body::from(body.clone()));
        let answer = if begins {
            self.begin(request).await?
        } else if named.is_some() {
            self.stateful.handle(request).await.map(Body::new)
        } else {
            self.stateless.handle(request).await.map(Body::new)
        };
        // The Python SDK takes any other answer to the end of its session for a failure.
        if answer.status() == StatusCode::ACCEPTED && is_end {
            return Ok(StatusCode::OK.into_response());
        }
        // With the type in order, this is how rmcp says that the body is no message.
        if is_post && answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            let refusal = serde_json::to_string(&message::refusal(&body)).unwrap_or_default();
            let json = [(CONTENT_TYPE, "application/json")];
            return Err((StatusCode::BAD_REQUEST, json, refusal).into_response());
        }
        Ok(answer)
    }
}

async fn handle(State(service): State<McpService>, request: Request) -> Response {
    // Requests other than POST stay open until the client or the server ends them, so they are not counted.
    let answered = if *request.method() == Method::POST {
        service.counted(request).await
    } else {
        service.answer(request).await
    };
    answered.unwrap_or_else(|refusal| refusal)
}
