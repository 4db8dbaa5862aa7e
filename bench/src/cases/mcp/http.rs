//! A server over HTTP, and a client that keeps some connections to it.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, Semaphore};

use super::server::wink;

/// A server that ends with this.
pub(super) struct Serving {
    child: Child,
    address: String,
    token: String,
}

impl Serving {
    /// Starts a server with a workspace in memory.
    pub(super) fn start(beside: &Path) -> Result<Self> {
        let mut command = Command::new(wink()?);
        command
            .args(["serve", "--port", "0", "--results", "structured"])
            .current_dir(beside)
            .stdout(Stdio::piped());
        command.env("XDG_RUNTIME_DIR", beside).env("XDG_DATA_HOME", beside);
        let mut child = command.spawn().context("wink does not start")?;
        let mut output = BufReader::new(child.stdout.take().context("no output")?);
        let mut text = String::new();
        while !text.contains("curl") {
            ensure!(output.read_line(&mut text)? > 0, "wink serve ended: {text}");
        }
        let after = |mark: &str, end: char| {
            let found = text.split_once(mark).and_then(|(_, rest)| rest.split(end).next());
            found.map(str::to_owned).with_context(|| format!("no {mark} in {text}"))
        };
        let (address, token) = (after("http://", '/')?, after("Bearer ", '"')?);
        Ok(Self { child, address, token })
    }

    /// Returns how much memory the server holds, in MiB.
    pub(super) fn memory_mib(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kib / 1024.0)
    }

    async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let (host, token) = (self.address.clone(), self.token.clone());
        Ok(Connection { sender, host, token })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The connections of a client, which take turns: one that is not used for long would be closed.
pub(super) struct Pool {
    free: Semaphore,
    connections: Mutex<VecDeque<Connection>>,
}

impl Pool {
    pub(super) async fn open(server: &Serving, count: usize) -> Result<Self> {
        let mut connections = VecDeque::new();
        for _ in 0..count {
            connections.push_back(server.connect().await?);
        }
        Ok(Self { free: Semaphore::new(count), connections: Mutex::new(connections) })
    }

    /// Calls a tool that must succeed, when a connection is free; returns its structured answer.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<Value> {
        let _turn = self.free.acquire().await?;
        let mut connection =
            self.connections.lock().await.pop_front().context("no connection is left")?;
        let answer = connection.call(tool, arguments).await;
        self.connections.lock().await.push_back(connection);
        answer
    }
}

/// One connection of a client.
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    token: String,
}

impl Connection {
    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let params = json!({"name": tool, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let request = Request::post("/mcp")
            .header("Host", &self.host)
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .body(Full::from(call.to_string()))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        ensure!(status == 200, "{status}: {}", String::from_utf8_lossy(&body));
        let mut answer: Value = serde_json::from_slice(&body)?;
        let result = answer["result"].take();
        ensure!(result["isError"] == false, "{tool}: {result}");
        Ok(result["structuredContent"].clone())
    }
}
