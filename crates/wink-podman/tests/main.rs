//! Workspaces whose programs run in containers of the real Podman.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "tests prepare and inspect directories from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a child tells its parent")]

mod common;
mod conformance;
mod images;
mod life_cycle;
mod rootless;
mod running;
mod section;
mod snapshots;
mod threats;
mod unavailable;
