//! Keeps web pages of other sites away from a server on this computer.
//!
//! A browser lets any page send requests to loopback. What it cannot do is lie about where the
//! request is addressed to (`Host`) or comes from (`Origin`), nor send JSON across sites without
//! asking first. So every route checks all three, before anything else runs.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

/// The largest body of a request.
pub(crate) const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;
/// Bounds the time in which a request's body must arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// What every answer carries: it is data, not a page that may load, run or be framed.
const RESPONSE_HEADERS: [(HeaderName, &str); 4] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"),
    (REFERRER_POLICY, "no-referrer"),
];

/// Why a request is turned away.
type Refusal = (StatusCode, &'static str);

const WRONG_HOST: Refusal = (
    StatusCode::FORBIDDEN,
    "Forbidden: address this server as 127.0.0.1, localhost or [::1] with its own port.\n",
);
const WRONG_ORIGIN: Refusal =
    (StatusCode::FORBIDDEN, "Forbidden: pages of other sites may not use this server.\n");
const WRONG_TYPE: Refusal =
    (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Unsupported: send Content-Type: application/json.\n");

const TOO_LARGE: Refusal =
    (StatusCode::PAYLOAD_TOO_LARGE, "Too large: send at most 32 MiB in one request.\n");
const TOO_SLOW: Refusal =
    (StatusCode::REQUEST_TIMEOUT, "Too slow: send the whole request within ten seconds.\n");

/// The names under which the server may be addressed.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Guard {
    /// Makes the guard of a loopback server on `port`.
    pub(crate) fn for_port(port: u16) -> Self {
        let hosts: Vec<String> = ["127.0.0.1", "localhost", "[::1]"]
            .iter()
            .flat_map(|name| spelled(name, port))
            .collect();
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        Guard { hosts, origins }
    }

    fn admit(&self, request: &Request) -> Result<(), Refusal> {
        self.check_host(request.uri(), request.headers())?;
        self.check_origin(request.headers())?;
        check_content_type(request.method(), request.headers())
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        // `GET http://other/ HTTP/1.1` names a host besides the header.
        let in_target = uri.authority().is_none_or(|host| is_listed(&self.hosts, host.as_str()));
        let in_header = only_value(headers, &HOST).is_some_and(|host| is_listed(&self.hosts, host));
        (in_target && in_header).then_some(()).ok_or(WRONG_HOST)
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let absent = !headers.contains_key(ORIGIN);
        let own =
            || only_value(headers, &ORIGIN).is_some_and(|text| is_listed(&self.origins, text));
        (absent || own()).then_some(()).ok_or(WRONG_ORIGIN)
    }
}

/// Turns away what the guard does not admit and marks every answer.
pub(crate) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.admit(&request) {
        Ok(()) => match received(request).await {
            Ok(request) => next.run(request).await,
            Err(refusal) => refusal.into_response(),
        },
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in RESPONSE_HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Takes in the whole body, in bounded time and space, so that a slow client holds no slot for long.
async fn received(request: Request) -> Result<Request, Refusal> {
    let (head, body) = request.into_parts();
    match timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY_BYTES)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, Body::from(bytes))),
        Ok(Err(_)) => Err(TOO_LARGE),
        Err(_) => Err(TOO_SLOW),
    }
}

/// Spells a host as clients do: on port 80 they leave the port out.
fn spelled(name: &str, port: u16) -> Vec<String> {
    let mut spellings = vec![format!("{name}:{port}")];
    if port == 80 {
        spellings.push(name.to_owned());
    }
    spellings
}

fn is_listed(list: &[String], text: &str) -> bool {
    list.iter().any(|listed| listed == text)
}

/// Returns the value of a header that is there exactly once.
fn only_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.to_str().ok())?
}

fn check_content_type(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let is_json = || only_value(headers, &CONTENT_TYPE).is_some_and(is_json);
    (method != Method::POST || is_json()).then_some(()).ok_or(WRONG_TYPE)
}

fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(port: u16, uri: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = axum::http::Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(axum::body::Body::empty()).expect("a request");
        Guard::for_port(port).admit(&request).is_ok()
    }

    #[test]
    fn a_port_may_be_left_out_only_on_port_80() {
        assert!(admitted(80, "/", &[("host", "localhost"), ("origin", "http://127.0.0.1")]));
        assert!(!admitted(8000, "/", &[("host", "localhost")]));
    }

    #[test]
    fn the_host_in_the_request_target_counts_too() {
        let host = [("host", "localhost:8000")];
        assert!(admitted(8000, "http://localhost:8000/", &host));
        assert!(!admitted(8000, "http://evil.example:8000/", &host));
    }

    #[test]
    fn json_is_recognised_whole() {
        assert!(is_json("Application/JSON; charset=utf-8"));
        assert!(!is_json("application/jsonx"));
        assert!(!is_json("text/plain; application/json"));
    }
}
