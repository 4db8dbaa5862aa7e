//! Other people's programs drive the real binary: the MCP Inspector and the public conformance runner.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use common::Server;

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
    let server = Server::start_with(&["--port", "0", "--conformance-fixtures"]);
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
fn the_stateful_revision_conforms() {
    conforms("2025-11-25");
}

#[test]
fn the_stateless_revision_conforms() {
    conforms("2026-07-28");
}

fn inspector(target: &[&str], method: &[&str]) -> Output {
    let mut inspector = program("inspector", "clients/launcher/build/index.js");
    let place = tempfile::tempdir().expect("a directory");
    inspector.arg("--cli").args(target).args(["--method"]).args(method).env("HOME", place.path());
    inspector.output().expect("the Inspector runs")
}

#[test]
fn the_inspector_finds_no_fault_in_the_tools_over_http() {
    let server = Server::start();
    let header = format!("Authorization: Bearer {}", server.token);
    let (url, http) = (server.url(), ["--transport", "http", "--header"]);
    let target = [&[url.as_str()], &http[..], &[header.as_str()]].concat();
    let output = inspector(&target, &["tools/list", "--strict"]);
    assert!(output.status.success(), "{}", shown(&output));
    assert!(shown(&output).contains("\"read_file\""), "{}", shown(&output));
    let call =
        ["tools/call", "--tool-name", "write_file", "--tool-arg", "path=a.txt", "content=hi"];
    let output = inspector(&target, &call);
    assert!(shown(&output).contains("Created a.txt"), "{}", shown(&output));
    let output = inspector(&target, &["resources/read", "--uri", "wink://workspace/a.txt"]);
    assert!(shown(&output).contains("\"hi\""), "{}", shown(&output));
}

#[test]
fn the_inspector_finds_no_fault_in_the_tools_over_stdio() {
    let target = [env!("CARGO_BIN_EXE_wink"), "mcp", "--backend", "memory"];
    let output = inspector(&target, &["tools/list", "--strict"]);
    assert!(output.status.success(), "{}", shown(&output));
    assert!(shown(&output).contains("\"undo\""), "{}", shown(&output));
}
