//! Attacks by a model's output or by files in the workspace, numbered as in the threat model.
//!
//! `scripts/check-threats` makes sure that each number of `tests/threats.txt` has a test on the
//! memory and on the host backend.

#![allow(clippy::disallowed_methods, reason = "plants and inspects host files from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod both;
#[path = "../common/on_both.rs"]
mod on_both;
mod operations;
mod planted;
