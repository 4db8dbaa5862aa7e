//! All tests of this crate in one program: one to link, and a name for each part.

#![allow(clippy::disallowed_methods, reason = "plants and inspects host files from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod advisory_floors;
mod cli;
mod common;
mod demo;
mod http_guard;
mod mcp;
mod mcp_stdio;
mod node_clients;
#[cfg(target_os = "linux")]
mod podman;
mod python_client;
mod serve;
mod serve_killed;
mod window;
