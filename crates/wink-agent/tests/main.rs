//! All tests of this crate in one program: one to link, and a name for each part.

#![allow(clippy::disallowed_methods, reason = "plants and inspects host files from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod adapter;
mod backends;
mod checkpoint;
mod edits;
mod engine;
mod examples;
mod execution;
mod history;
mod host_paths;
mod kinds;
mod messages;
mod pagination;
mod parallel;
mod parallel_edits;
mod patches;
mod prompt;
mod schemas;
mod session;
mod threats;
mod transcript;
