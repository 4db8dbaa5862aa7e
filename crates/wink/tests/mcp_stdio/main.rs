//! `wink mcp` through the real binary: a message a line, in and out.

#![allow(clippy::disallowed_methods, reason = "plants and inspects host files from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod cancel;
mod dump;
mod ending;
mod forks;
mod input;
mod keeping;
mod places;
mod resources;
mod scene;
mod schemas;
mod session;
#[path = "../common/threads.rs"]
mod threads;
