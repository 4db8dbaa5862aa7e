//! The official Python MCP client works against `wink serve`, in both protocol eras.

mod common;

use std::path::Path;
use std::process::Command;

use common::Server;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/python/smoke.py");

#[allow(clippy::expect_used)]
fn smoke(era: &str) {
    let python = std::env::var_os("WINK_TEST_PYTHON").expect(
        "WINK_TEST_PYTHON names no Python with the MCP client: run scripts/test, which makes one",
    );
    let server = Server::start();
    let output = Command::new(Path::new(&python))
        .args([SCRIPT, &server.url(), era])
        .output()
        .expect("the Python named by WINK_TEST_PYTHON runs; scripts/test makes one");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

#[test]
fn a_client_that_initializes_works() {
    smoke("legacy");
}

#[test]
fn a_client_of_the_stateless_revision_works() {
    smoke("auto");
}
