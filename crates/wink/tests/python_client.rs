//! The official Python MCP client works against `wink serve` and `wink mcp`, in both protocol eras.

use std::path::Path;
use std::process::Command;

use crate::common::Server;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/python/smoke.py");

#[allow(clippy::expect_used)]
fn smoke(args: &[&str]) {
    let python = std::env::var_os("WINK_TEST_PYTHON").expect(
        "WINK_TEST_PYTHON names no Python with the MCP client: run scripts/test, which makes one",
    );
    let output = Command::new(Path::new(&python))
        .arg(SCRIPT)
        .args(args)
        .output()
        .expect("the Python named by WINK_TEST_PYTHON runs; scripts/test makes one");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

fn over_http(era: &str) {
    let server = Server::start();
    smoke(&[era, "http", &server.url(), &server.token]);
}

fn over_stdio(era: &str) {
    smoke(&[era, "stdio", env!("CARGO_BIN_EXE_wink")]);
}

#[test]
#[ignore = "needs Python"]
fn a_client_that_initializes_works() {
    over_http("legacy");
}

#[test]
#[ignore = "needs Python"]
fn a_client_of_the_stateless_revision_works() {
    over_http("auto");
}

#[test]
#[ignore = "needs Python"]
fn a_client_that_initializes_works_over_stdio() {
    over_stdio("legacy");
}

#[test]
#[ignore = "needs Python"]
fn a_client_of_the_stateless_revision_works_over_stdio() {
    over_stdio("auto");
}
