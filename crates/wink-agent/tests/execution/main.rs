//! The tools that run programs.

#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]
#![allow(clippy::disallowed_methods, reason = "a test prepares a directory from outside")]

mod changes;
mod ending;
#[path = "../host_paths/mod.rs"]
mod host_paths;
mod messages;
mod processes;
mod refusals;
mod scene;
