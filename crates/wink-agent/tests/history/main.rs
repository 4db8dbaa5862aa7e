//! The tools for the history of all files.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]
#![allow(clippy::disallowed_methods, reason = "a test prepares a directory from outside")]

mod families;
mod forks;
#[path = "../host_paths/mod.rs"]
mod host_paths;
mod messages;
mod refusals;
mod scene;
mod undone;
