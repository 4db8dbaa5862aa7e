//! A client over standard input and output: one request a line, one answer a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

/// The last revision of the protocol that all servers know.
const REVISION: &str = "2025-06-18";

/// A server that was started and greeted; it ends with this.
pub(super) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    /// Starts a server and greets it.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("{name} does not start"))?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let mut client = Self { child, input, output, last_id: 0 };
        client.greet().with_context(|| format!("{name} does not answer"))?;
        Ok(client)
    }

    fn greet(&mut self) -> Result<()> {
        let info = json!({"name": "wink-bench", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": info});
        self.request("initialize", &params)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    }

    /// Calls a tool that must succeed; returns its text and how long the answer took.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<(String, Duration)> {
        let params = json!({"name": tool, "arguments": arguments});
        let (result, took) = self.request("tools/call", &params)?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(result["isError"] != true, "{tool}: {text}");
        Ok((text.to_owned(), took))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<(Value, Duration)> {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let start = Instant::now();
        self.send(&request)?;
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "it ended during {method}");
            let took = start.elapsed();
            let mut answer: Value = serde_json::from_str(&line)?;
            if let Some(error) = answer.get("error") {
                bail!("{method}: {error}");
            }
            if answer["id"] == id && answer.get("method").is_none() {
                return Ok((answer["result"].take(), took));
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        Ok(self.input.write_all(&line)?)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
