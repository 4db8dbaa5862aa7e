//! A running `wink serve` and plain HTTP to talk to it.

// Each test file uses its own part of this.

pub(crate) mod threads;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The command under test.
pub(crate) fn wink() -> Command {
    Command::new(env!("CARGO_BIN_EXE_wink"))
}

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// All that it printed.
    pub(crate) announcement: String,
    /// `127.0.0.1:PORT`, as printed.
    pub(crate) address: String,
    /// The secret that was printed.
    pub(crate) token: String,
    /// Where it keeps what is a person's own.
    pub(crate) place: TempDir,
}

impl Server {
    /// Starts a server on a port the system chooses.
    pub(crate) fn start() -> Server {
        Server::start_with(&["--port", "0"])
    }

    pub(crate) fn start_with(args: &[&str]) -> Server {
        Server::start_in(tempfile::tempdir().expect("a directory"), args)
    }

    /// Starts a server with a directory for all that is a person's own.
    pub(crate) fn start_in(place: TempDir, args: &[&str]) -> Server {
        let mut serve = wink();
        serve.arg("serve").args(args).stdout(Stdio::piped()).current_dir(place.path());
        if !args.contains(&"--results") {
            serve.args(["--results", "structured"]);
        }
        serve.stderr(std::fs::File::create(place.path().join("stderr")).expect("a file"));
        serve
            .env("HOME", place.path().join("home"))
            .env("XDG_DATA_HOME", place.path().join("data"));
        serve.env("XDG_RUNTIME_DIR", place.path().join("run"));
        let mut child = serve.spawn().expect("wink starts");
        let announcement = announcement(&mut child);
        let (_, rest) = announcement.split_once("http://").expect("an address");
        let address = rest.split('/').next().expect("a host").to_owned();
        let (_, rest) = announcement.split_once("Bearer ").expect("a token");
        let token = rest.split('"').next().expect("a token").to_owned();
        Server { child, announcement, address, token, place }
    }

    /// Starts a server that has every one of the [`ROUTES`].
    pub(crate) fn with_every_route() -> Server {
        let place = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(place.path().join("work")).expect("a directory");
        std::fs::write(place.path().join("work/present"), "here").expect("a file");
        let server = Server::start_in(place, &["--port", "0", "--workspace", "named=work"]);
        server.call("ls", serde_json::json!({"session": "client"}));
        server
    }

    /// Tells it to stop, and returns all that it said on its standard error.
    pub(crate) fn end(&mut self) -> String {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("signals");
        self.child.wait().expect("ends");
        std::fs::read_to_string(self.place.path().join("stderr")).expect("a file")
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn port(&self) -> &str {
        self.address.rsplit(':').next().expect("a port")
    }

    /// Sends a request head and body as they are; returns the answer.
    pub(crate) fn send(&self, head: &str, body: &str) -> Answer {
        self.try_send(head, body).expect("answers")
    }

    /// Sends a request to a server that may be gone.
    pub(crate) fn try_send(&self, head: &str, body: &str) -> Option<Answer> {
        let mut stream = self.begin(head, body)?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        (!text.is_empty()).then_some(Answer { text })
    }

    /// Asks for something that is no text.
    pub(crate) fn send_bytes(&self, head: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.begin(head, "").expect("a connection").read_to_end(&mut bytes).expect("answers");
        bytes
    }

    /// Sends a request and does not wait for the answer.
    pub(crate) fn begin(&self, head: &str, body: &str) -> Option<TcpStream> {
        let port: u16 = self.port().parse().expect("a number");
        let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        let length = body.len();
        let head = head.replace("{address}", &self.address).replace("{token}", &self.token);
        let head = head.replace('\n', "\r\n");
        let request =
            format!("{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).ok()?;
        Some(stream)
    }

    /// Posts one JSON-RPC message the way an MCP client does.
    pub(crate) fn post(&self, message: &serde_json::Value) -> serde_json::Value {
        let answer = self.send(POST, &message.to_string());
        let answer = serde_json::from_str(answer.body());
        answer.expect("a JSON answer")
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&self, name: &str, arguments: serde_json::Value) -> serde_json::Value {
        let params = serde_json::json!({"name": name, "arguments": arguments});
        let call = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        self.post(&call)["result"].clone()
    }
}

/// Every route of a server with a workspace `named`, in which a client of the session `client` has made a
/// call; and one that is none.
pub(crate) const ROUTES: [&str; 31] = [
    "GET /",
    "GET /nowhere",
    "GET /open/x",
    "POST /mcp",
    "GET /mcp",
    "DELETE /mcp",
    "POST /mcp/named",
    "GET /mcp/named",
    "DELETE /mcp/named",
    "GET /run/main",
    "GET /assets/app.js",
    "GET /api/filesystem/meta",
    "GET /api/filesystem/tree",
    "GET /api/filesystem/file?path=present",
    "GET /api/v1/runs",
    "GET /api/v1/runs/named/calls",
    "GET /api/v1/runs/named/rows",
    "GET /api/v1/runs/named/raw?path=present",
    "GET /api/v1/runs/named/changes?a=empty&b=@",
    "GET /api/v1/runs/named/sessions",
    "GET /api/v1/runs/named/search?q=x",
    "GET /api/v1/runs/named/verify",
    "GET /api/v1/stream",
    "POST /api/v1/runs/named/restore",
    "POST /api/v1/runs/named/undo",
    "POST /api/v1/runs/named/fork",
    "POST /api/v1/runs/named/snapshot",
    "GET /api/v1/files.fs.zip",
    "GET /api/v1/sessions/client",
    "GET /api/v1/workspaces/named/files.fs.zip",
    "GET /api/v1/workspaces/named/sessions/client",
];

/// The head of a request that is in order.
pub(crate) const POST: &str = "POST /mcp HTTP/1.1\nHost: {address}\nAuthorization: Bearer {token}\n\
                        Content-Type: application/json\n\
                        Accept: application/json, text/event-stream";

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; that is what some tests are about.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads up to the last thing the server prints before it waits.
fn announcement(child: &mut Child) -> String {
    let mut stdout = BufReader::new(child.stdout.take().expect("a piped stdout"));
    let mut text = String::new();
    while !text.contains("curl") {
        let read = stdout.read_line(&mut text).expect("readable output");
        assert!(read > 0, "the server ended early, after printing {text:?}");
    }
    text
}

/// An HTTP answer.
pub(crate) struct Answer {
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.text.split(' ').nth(1).expect("a status").parse().expect("a number")
    }

    pub(crate) fn body(&self) -> &str {
        self.text.split_once("\r\n\r\n").expect("a body").1
    }
}
