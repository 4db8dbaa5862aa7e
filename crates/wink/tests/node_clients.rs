//! Other people's programs drive the real binary: the MCP Inspector and the public conformance runner.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::common::Server;

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/node");

/// Returns the directory into which the programs were installed.
fn installed() -> PathBuf {
    let directory = std::env::var_os("WINK_TEST_NODE").expect(
        "WINK_TEST_NODE names no directory with the MCP clients: run scripts/test, which makes one",
    );
    Path::new(&directory).join("node_modules")
}

/// Returns a command of Node, in the version that the programs want.
fn node() -> Command {
    Command::new(installed().join("node/bin/node"))
}

fn program(package: &str, main: &str) -> Command {
    let mut command = node();
    command.arg(installed().join("@modelcontextprotocol").join(package).join(main));
    // It starts others by the name `node`.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = installed().join("node/bin");
    let all = std::iter::once(first).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(all).expect("a path"));
    command
}

fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

/// A program before the server that sends the token for clients which cannot.
struct WithToken(Child, String);

impl WithToken {
    fn before(server: &Server) -> Self {
        let mut proxy = node();
        proxy.arg(format!("{CLIENTS}/with-token.mjs")).stdout(Stdio::piped());
        let address = format!("http://{}", server.address);
        let mut child = proxy.args([&address, &server.token]).spawn().expect("node starts");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("a piped stdout"));
        stdout.read_line(&mut line).expect("an address");
        WithToken(child, line.trim().to_owned())
    }
}

impl Drop for WithToken {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn conforms(revision: &str) {
    if !cfg!(feature = "conformance-fixtures") {
        panic!("run with --all-features: the runner's fixtures are not part of wink");
    }
    let server =
        Server::start_with(&["--port", "0", "--conformance-fixtures", "--results", "text"]);
    let proxy = WithToken::before(&server);
    let output = program("conformance", "dist/index.js")
        .args(["server", "--url", &format!("{}/mcp", proxy.1), "--requirements", revision])
        .args(["--expected-failures", &format!("{CLIENTS}/expected-{revision}.yml")])
        .current_dir(server.place.path())
        .output()
        .expect("the runner runs");
    assert!(output.status.success(), "{}", shown(&output));
    let words = shown(&output);
    assert!(words.contains("tools-list: "), "it ran: {words}");
}

#[test]
#[ignore = "needs Node"]
fn the_stateful_revision_conforms() {
    conforms("2025-11-25");
}

#[test]
#[ignore = "needs Node"]
fn the_stateless_revision_conforms() {
    conforms("2026-07-28");
}

/// The Inspector's names of the revisions that begin with `initialize`, and of the one without sessions.
const ERAS: [&str; 2] = ["legacy", "modern"];

/// What the Inspector is told of a server: where it is, and how to speak to it.
struct Target<'t> {
    place: &'t [&'t str],
    era: &'t str,
}

impl Target<'_> {
    /// Asks the server for something; returns what the Inspector shows of the answer.
    fn ask(&self, method: &[&str]) -> String {
        let mut inspector = program("inspector", "clients/launcher/build/index.js");
        let home = tempfile::tempdir().expect("a directory");
        inspector.arg("--cli").args(self.place).args(["--protocol-era", self.era, "--method"]);
        let output = inspector.args(method).env("HOME", home.path()).output();
        let output = output.expect("the Inspector runs");
        assert!(output.status.success(), "{} {method:?}: {}", self.era, shown(&output));
        shown(&output)
    }

    fn call(&self, tool: &str, arguments: &[&str]) -> String {
        self.ask(&[&["tools/call", "--tool-name", tool, "--tool-arg"], arguments].concat())
    }

    /// Writes a file that is read by the next call, in whose place the same files are.
    fn writes_and_reads(&self) {
        let words = format!("hello from {}", self.era);
        let path = format!("path={}.txt", self.era);
        let written = self.call("write_file", &[&path, &format!("content={words}")]);
        assert!(written.contains(&format!("Created {}.txt", self.era)), "{written}");
        let read = self.call("read_file", &[&path]);
        assert!(read.contains(&words), "{read}");
    }
}

#[test]
#[ignore = "needs Node"]
fn the_inspector_finds_no_fault_in_the_tools_over_http() {
    let server = Server::start_with(&["--port", "0", "--results", "text"]);
    let header = format!("Authorization: Bearer {}", server.token);
    let (url, http) = (server.url(), ["--transport", "http", "--header"]);
    let place = [&[url.as_str()], &http[..], &[header.as_str()]].concat();
    for era in ERAS {
        let target = Target { place: &place, era };
        let tools = target.ask(&["tools/list", "--strict"]);
        assert!(tools.contains("\"read_file\""), "{tools}");
        target.writes_and_reads();
        let resource = format!("wink://workspace/{era}.txt");
        let read = target.ask(&["resources/read", "--uri", &resource]);
        assert!(read.contains(&format!("hello from {era}")), "{read}");
    }
}

#[test]
#[ignore = "needs Node"]
fn the_inspector_finds_no_fault_in_the_tools_over_stdio() {
    for era in ERAS {
        // Each call of the Inspector is a server of its own, so the files are those of a directory.
        let files = tempfile::tempdir().expect("a directory");
        let root = files.path().join("work");
        std::fs::create_dir(&root).expect("a directory");
        let root = root.to_str().expect("text");
        let data = format!("XDG_DATA_HOME={}", files.path().join("data").display());
        let place = ["-e", &data, env!("CARGO_BIN_EXE_wink"), "mcp", "--root", root];
        let target = Target { place: &place, era };
        let tools = target.ask(&["tools/list", "--strict"]);
        assert!(tools.contains("\"undo\""), "{tools}");
        target.writes_and_reads();
    }
}
