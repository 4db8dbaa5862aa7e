//! A running `wink mcp` and the lines that go in and come out.

// Tests may expect; each uses its own part of this.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client of a server that ends with the test.
pub(crate) struct Client {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    output: Receiver<Value>,
    last_id: u64,
    /// What came that was no answer to the request that was waited for.
    pub(crate) others: Vec<Value>,
    /// The directory that the server was started in.
    pub(crate) place: TempDir,
}

impl Client {
    /// Starts a server on files in memory and begins a session as older clients do.
    pub(crate) fn memory(args: &[&str]) -> Self {
        let mut all = vec!["--backend", "memory"];
        all.extend(args);
        Self::new(&all)
    }

    /// Starts a server and begins a session as older clients do.
    pub(crate) fn new(args: &[&str]) -> Self {
        let mut client = Self::start(args);
        let answer = client.request("initialize", initialize());
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    /// Starts a server in a new directory and says nothing to it.
    pub(crate) fn start(args: &[&str]) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(place.path().join("work")).expect("a directory");
        Self::start_in(place, args)
    }

    /// Starts a server where files are already.
    pub(crate) fn start_in(place: TempDir, args: &[&str]) -> Self {
        Self::start_telling(place, args, Stdio::inherit())
    }

    /// Starts a server that says somewhere else what a person should know.
    pub(crate) fn start_telling(place: TempDir, args: &[&str], told: Stdio) -> Self {
        let mut command = wink_in(place.path());
        command.arg("mcp").args(args);
        if !args.contains(&"--results") {
            command.args(["--results", "structured"]);
        }
        Self::of(command, place, told)
    }

    /// Starts a server by a command.
    pub(crate) fn of(mut command: Command, place: TempDir, told: Stdio) -> Self {
        command.stderr(told).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("wink starts");
        let output = lines(child.stdout.take().expect("a piped stdout"));
        let input = child.stdin.take();
        Self { child, input, output, last_id: 0, others: Vec::new(), place }
    }

    /// Sends one line.
    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("an open input");
        writeln!(input, "{line}").expect("the server reads");
        input.flush().expect("the server reads");
    }

    /// Sends bytes as they are; the server may be gone by then.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let _ = self.input.as_mut().expect("an open input").write_all(bytes);
    }

    /// Sends a request and does not wait; returns its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&line.to_string());
        id
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.others.push(message);
        }
    }

    /// Waits for the next message.
    pub(crate) fn next(&mut self) -> Value {
        self.output.recv_timeout(PATIENCE).expect("a message")
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        assert!(answer["error"].is_null(), "{answer}");
        with_text(answer["result"].clone())
    }

    /// Calls a tool that does what it is asked to do.
    pub(crate) fn done(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that refuses; returns the code.
    pub(crate) fn refused(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["structuredContent"]["error"].as_str().expect("a code").to_owned()
    }

    /// Ends the input and waits for the server to end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.input = None;
        self.child.wait().expect("ends")
    }

    /// Returns the path of a file in the directory that is served.
    pub(crate) fn file(&self, path: &str) -> std::path::PathBuf {
        self.place.path().join("work").join(path)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended already; that is what some tests are about.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command, with all that is a person's own in a directory of the test.
pub(crate) fn wink_in(place: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wink"));
    command.current_dir(place.join("work")).env("HOME", place.join("home"));
    command.env("XDG_DATA_HOME", place.join("data"));
    command
}

/// Adds the text of a structured result where a model would be shown it.
pub(crate) fn with_text(mut result: Value) -> Value {
    if let Some(message) = result["structuredContent"]["message"].as_str().map(str::to_owned)
        && let Some(content) = result["content"].as_array_mut()
    {
        content.insert(0, json!({"type": "text", "text": message}));
    }
    result
}

/// Returns what an older client begins with.
pub(crate) fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    })
}

/// Reads every line as JSON: anything else on standard output fails the test.
fn lines(output: impl Read + Send + 'static) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            let message = serde_json::from_str(&line);
            let message = message.unwrap_or_else(|_| json!({"not JSON": line}));
            assert_eq!(message["jsonrpc"], "2.0", "only protocol on stdout: {message}");
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}
