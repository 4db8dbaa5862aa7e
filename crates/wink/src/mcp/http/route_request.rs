//! A look into a request before it is answered.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};

use crate::mcp::message;
use crate::serve::http::origin_guard;

/// Looks into a request: does it begin a session?
pub(super) async fn peeked(request: Request) -> Result<(Request, bool), Response> {
    let (head, body) = request.into_parts();
    let body = origin_guard::whole(body).await.map_err(IntoResponse::into_response)?;
    let begins = if head.method == Method::POST && is_json(&head.headers) {
        is_initialize(&message::parse(&body).map_err(|refusal| no_message(&refusal))?)
    } else {
        false
    };
    Ok((Request::from_parts(head, Body::from(body)), begins))
}

fn no_message(refusal: &ServerJsonRpcMessage) -> Response {
    let text = serde_json::to_string(refusal).unwrap_or_default();
    (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, "application/json")], text).into_response()
}

/// Tells whether a body is said to be JSON; what is not is refused elsewhere.
fn is_json(headers: &HeaderMap) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|said| said.to_str().ok());
    said.is_some_and(|said| said.starts_with("application/json"))
}

fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(it) => matches!(it.request, ClientRequest::InitializeRequest(_)),
        _ => false,
    }
}
