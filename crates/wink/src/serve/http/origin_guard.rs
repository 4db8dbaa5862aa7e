//! Keeps web pages of other sites away from a server on this computer.
//!
//! A browser lets any page send requests to loopback. What it cannot do is lie about where the
//! request is addressed to (`Host`) or comes from (`Origin`), nor send JSON across sites without
//! asking first. So every route checks all three, and the token, before anything else runs.

use std::error::Error as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt as _, LengthLimitError};
use tokio::time::timeout;

use crate::serve::http::auth::Auth;
use crate::serve::http::unauthenticated::Pending;

/// The largest body of a request.
pub(crate) const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;
/// Bounds the time in which a request's body must arrive. tower-http bounds only the time between two frames, so a
/// client that sends a byte a second would hold its slot for as long as it likes.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Bounds the time in which a client that was refused may go on sending: cut off at once, it would not hear why.
const LINGER: Duration = Duration::from_secs(3);

/// Where a browser gets its cookie; the rest of the path is what it gives for it.
pub(crate) const OPEN: &str = "/open/";

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");
const CROSS_ORIGIN_OPENER_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-opener-policy");

/// Nothing may be loaded, run, framed or sent from a page of this server.
const POLICY: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// What every answer carries: it is data, not a page that may load, run or be framed.
const RESPONSE_HEADERS: [(HeaderName, &str); 6] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CONTENT_SECURITY_POLICY, POLICY),
    (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"),
    (CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
];

/// Why a request is turned away.
pub(crate) type HttpRefusal = (StatusCode, &'static str);

const WRONG_HOST: HttpRefusal = (
    StatusCode::FORBIDDEN,
    "Forbidden: address this server by the address and port that it printed.\n",
);
const WRONG_ORIGIN: HttpRefusal =
    (StatusCode::FORBIDDEN, "Forbidden: pages of other sites may not use this server.\n");
const WRONG_TYPE: HttpRefusal =
    (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Unsupported: send Content-Type: application/json.\n");

const TOO_LARGE: HttpRefusal =
    (StatusCode::PAYLOAD_TOO_LARGE, "Too large: send at most 32 MiB in one request.\n");
const NO_BODY: HttpRefusal =
    (StatusCode::PAYLOAD_TOO_LARGE, "Too large: a request for this address has no body.\n");
const TOO_MANY: HttpRefusal =
    (StatusCode::SERVICE_UNAVAILABLE, "Unavailable: too many connections; try again.\n");
const BROKEN: HttpRefusal =
    (StatusCode::BAD_REQUEST, "Bad request: the body could not be read to its end.\n");
const TOO_SLOW: HttpRefusal =
    (StatusCode::REQUEST_TIMEOUT, "Too slow: send the whole request within ten seconds.\n");

/// The names under which the server may be addressed, and who may use it.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
    /// The port of a server that is reached under every address of this computer.
    any_address: Option<u16>,
    access: Arc<Auth>,
}

impl Guard {
    /// Makes the guard of a server that listens on an address.
    pub(crate) fn new(address: SocketAddr, access: Arc<Auth>) -> Self {
        let ip = address.ip();
        let port = address.port();
        let mut names = vec![host_of(ip)];
        if ip.is_loopback() {
            names.extend(["127.0.0.1", "localhost", "[::1]"].map(str::to_owned));
        }
        let hosts: Vec<String> = names.iter().flat_map(|name| spelled(name, port)).collect();
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        let any_address = ip.is_unspecified().then_some(port);
        Guard { hosts, origins, any_address, access }
    }

    fn admit(&self, request: &Request) -> Result<(), HttpRefusal> {
        self.check_host(request.uri(), request.headers())?;
        self.check_origin(request.headers())?;
        if request.uri().path().starts_with(OPEN) {
            // What stands after it is a secret of its own, and who asks is unknown until that is looked at.
            check_no_body(request.body())?;
        } else {
            self.check_token(request)?;
        }
        check_content_type(request.method(), request.headers())
    }

    fn check_token(&self, request: &Request) -> Result<(), HttpRefusal> {
        self.access.admit(request.headers())?;
        let pending = request.extensions().get::<Arc<Pending>>();
        pending.is_none_or(|it| it.admit()).then_some(()).ok_or(TOO_MANY)
    }

    /// Returns whether a host is one of the server's: by its names, or, where it has every address, by
    /// any address. An attacker can make only a name lead here (DNS rebinding).
    fn is_host(&self, host: &str) -> bool {
        let is_address = |port: u16| host.parse::<SocketAddr>().is_ok_and(|it| it.port() == port);
        is_listed(&self.hosts, host) || self.any_address.is_some_and(is_address)
    }

    fn is_origin(&self, origin: &str) -> bool {
        let by_address = || {
            self.any_address.is_some()
                && origin.strip_prefix("http://").is_some_and(|host| self.is_host(host))
        };
        is_listed(&self.origins, origin) || by_address()
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), HttpRefusal> {
        // `GET http://other/ HTTP/1.1` names a host besides the header.
        let in_target = uri.authority().is_none_or(|host| self.is_host(host.as_str()));
        let in_header = only_value(headers, &HOST).is_some_and(|host| self.is_host(host));
        (in_target && in_header).then_some(()).ok_or(WRONG_HOST)
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), HttpRefusal> {
        let absent = !headers.contains_key(ORIGIN);
        let own = || only_value(headers, &ORIGIN).is_some_and(|text| self.is_origin(text));
        (absent || own()).then_some(()).ok_or(WRONG_ORIGIN)
    }
}

/// Rejects requests that the guard does not admit, and marks every answer.
pub(crate) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.admit(&request) {
        Ok(()) => match received(request).await {
            Ok(request) => next.run(request).await,
            Err(refusal) => ([(CONNECTION, "close")], refusal).into_response(),
        },
        // A rejected client does not keep a connection that others wait for.
        Err(refusal) => ([(CONNECTION, "close")], refusal).into_response(),
    };
    if response.status() == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    for (name, value) in RESPONSE_HEADERS {
        // The page may load its own files, and a snapshot never changes; everything else is as strict as can be.
        let may_differ = name == CONTENT_SECURITY_POLICY || name == CACHE_CONTROL;
        if !may_differ || !response.headers().contains_key(&name) {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

/// Reads the whole body, in bounded time and space, so that a slow client holds no slot for long.
async fn received(request: Request) -> Result<Request, HttpRefusal> {
    let (mut head, body) = request.into_parts();
    // No handler behind this needs the secrets, and headers that are removed are never logged.
    head.headers.remove(AUTHORIZATION);
    head.headers.remove(COOKIE);
    if is_too_long(&head.headers) {
        tokio::spawn(timeout(LINGER, drained(body)));
        return Err(TOO_LARGE);
    }
    let body = timeout(BODY_TIMEOUT, whole(body)).await.unwrap_or(Err(TOO_SLOW))?;
    Ok(Request::from_parts(head, Body::from(body)))
}

/// Reads a body up to its end, if that is not too far away.
pub(crate) async fn whole(body: Body) -> Result<Bytes, HttpRefusal> {
    to_bytes(body, MAX_BODY_BYTES).await.map_err(|error| {
        let is_limit = error.source().is_some_and(|it| it.is::<LengthLimitError>());
        if is_limit { TOO_LARGE } else { BROKEN }
    })
}

fn host_of(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
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
pub(crate) fn only_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.to_str().ok())?
}

/// Returns whether the announced length of a body exceeds the limit.
fn is_too_long(headers: &HeaderMap) -> bool {
    let said = headers.get(CONTENT_LENGTH).and_then(|said| said.to_str().ok());
    said.and_then(|said| said.parse().ok()).is_some_and(|said: u64| said > MAX_BODY_BYTES as u64)
}

/// Drains a body that the server refused, so that the client that sends it reads why.
async fn drained(mut body: Body) {
    while let Some(Ok(_)) = body.frame().await {}
}

/// Accepts no body from a client that has not shown that it may use the server.
fn check_no_body(body: &Body) -> Result<(), HttpRefusal> {
    body.is_end_stream().then_some(()).ok_or(NO_BODY)
}

fn check_content_type(method: &Method, headers: &HeaderMap) -> Result<(), HttpRefusal> {
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
    use crate::serve::token::Token;

    fn admitted(address: &str, uri: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = axum::http::Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let address: SocketAddr = address.parse().expect("an address");
        let token = Token::new().expect("random");
        let request = request.header("authorization", format!("Bearer {}", token.reveal()));
        let request = request.body(axum::body::Body::empty()).expect("a request");
        let (access, _) = Auth::new(token, address.port()).expect("random");
        Guard::new(address, Arc::new(access)).admit(&request).is_ok()
    }

    #[test]
    fn a_port_may_be_left_out_only_on_port_80() {
        assert!(admitted(
            "127.0.0.1:80",
            "/",
            &[("host", "localhost"), ("origin", "http://127.0.0.1")]
        ));
        assert!(!admitted("127.0.0.1:8000", "/", &[("host", "localhost")]));
    }

    #[test]
    fn the_host_in_the_request_target_counts_too() {
        let host = [("host", "localhost:8000")];
        assert!(admitted("127.0.0.1:8000", "http://localhost:8000/", &host));
        assert!(!admitted("127.0.0.1:8000", "http://evil.example:8000/", &host));
    }

    #[test]
    fn a_server_on_every_address_has_no_name() {
        let own = [("host", "192.168.1.2:8000"), ("origin", "http://192.168.1.2:8000")];
        assert!(admitted("0.0.0.0:8000", "/", &own));
        assert!(admitted("[::]:8000", "/", &[("host", "[fe80::1]:8000")]));
        for host in ["evil.example:8000", "192.168.1.2:1", "192.168.1.2", "localhost:8000"] {
            assert!(!admitted("0.0.0.0:8000", "/", &[("host", host)]), "{host}");
        }
        let foreign = [("host", "192.168.1.2:8000"), ("origin", "http://evil.example:8000")];
        assert!(!admitted("0.0.0.0:8000", "/", &foreign));
    }

    #[tokio::test]
    async fn a3_59_secrets_go_no_further_than_the_guard() {
        let request = axum::http::Request::builder().header("authorization", "Bearer secret");
        let request = request.header("cookie", "wink-8000=secret").header("accept", "*/*");
        let request = request.body(Body::empty()).expect("a request");
        let passed_on = received(request).await.expect("in order");
        assert_eq!(passed_on.headers().keys().collect::<Vec<_>>(), ["accept"]);
    }

    #[tokio::test]
    async fn a_body_is_too_large_from_its_first_byte_over_the_limit() {
        let body = |len: usize| Body::from(vec![b'x'; len]);
        assert_eq!(whole(body(MAX_BODY_BYTES)).await.map(|it| it.len()), Ok(MAX_BODY_BYTES));
        assert_eq!(whole(body(MAX_BODY_BYTES + 1)).await, Err(TOO_LARGE));
    }

    #[test]
    fn json_is_recognised_whole() {
        assert!(is_json("Application/JSON; charset=utf-8"));
        assert!(!is_json("application/jsonx"));
        assert!(!is_json("text/plain; application/json"));
    }
}
