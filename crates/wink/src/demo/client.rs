//! A small MCP client for the demo.

use std::io;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{Method, Request, StatusCode};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::error::CliError;
use crate::serve::http::origin_guard::MAX_BODY_BYTES;

/// The largest archive that is downloaded.
const MOST_BYTES: usize = 16 * MAX_BODY_BYTES;

/// The timeout of a call.
const PATIENCE: Duration = Duration::from_secs(20);

/// One connection to a server.
pub(super) struct Client {
    runtime: Runtime,
    sender: SendRequest<Body>,
    host: String,
    token: String,
    last_id: u64,
}

/// What a tool answered.
pub(super) struct Called {
    pub(super) is_ok: bool,
    pub(super) text: String,
    pub(super) took: Duration,
}

impl Client {
    /// Connects to a server.
    pub(super) fn connect(url: &str, token: &str) -> Result<Self, CliError> {
        let host = url.trim_start_matches("http://").to_owned();
        let connected = Runtime::new().and_then(|runtime| {
            let sender = runtime.block_on(connected(&host))?;
            Ok((runtime, sender))
        });
        let (runtime, sender) = connected.map_err(|error| CliError::server(url, &error))?;
        Ok(Self { runtime, sender, host, token: token.to_owned(), last_id: 0 })
    }

    /// Calls a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Called, CliError> {
        self.last_id += 1;
        let params = json!({"name": tool, "arguments": arguments});
        let request =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": "tools/call", "params": params});
        let began = Instant::now();
        let body = self.send(Method::POST, "/mcp", Body::from(request.to_string()))?;
        let took = began.elapsed();
        let answer: Value =
            serde_json::from_slice(&body).map_err(|error| CliError::other(&error))?;
        let result = &answer["result"];
        let structured = &result["structuredContent"]["message"];
        let said = result["content"][0]["text"].as_str().or(structured.as_str());
        let said = said.or(answer["error"]["message"].as_str());
        let is_ok = result.is_object() && result["isError"] != true;
        Ok(Called { is_ok, text: said.unwrap_or_default().to_owned(), took })
    }

    /// Downloads something.
    pub(super) fn get(&mut self, path: &str) -> Result<Vec<u8>, CliError> {
        self.send(Method::GET, path, Body::empty())
    }

    fn send(&mut self, method: Method, path: &str, body: Body) -> Result<Vec<u8>, CliError> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.host)
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(body)
            .map_err(|error| CliError::other(&error))?;
        let sender = &mut self.sender;
        let answer = async { timeout(PATIENCE, answered(sender, request)).await };
        let answer = self.runtime.block_on(answer);
        let (status, bytes) = answer
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(|error| CliError::server(&self.host, &error))?;
        match status {
            StatusCode::OK => Ok(bytes),
            status => Err(CliError::server(&self.host, &io::Error::other(status.to_string()))),
        }
    }
}

async fn connected(host: &str) -> io::Result<SendRequest<Body>> {
    let stream = TcpStream::connect(host).await?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn answered(
    sender: &mut SendRequest<Body>,
    request: Request<Body>,
) -> io::Result<(StatusCode, Vec<u8>)> {
    sender.ready().await.map_err(io::Error::other)?;
    let response = sender.send_request(request).await.map_err(io::Error::other)?;
    let status = response.status();
    let body = to_bytes(Body::new(response.into_body()), MOST_BYTES).await;
    Ok((status, body.map_err(io::Error::other)?.into()))
}
