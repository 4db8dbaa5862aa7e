//! Forks, merges and reverts: what one side changed is brought in or taken out, and nothing else.

#![allow(clippy::disallowed_methods, reason = "sets scenes up and inspects them from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod conflicts;
mod fork;
mod generated;
mod git;
mod revert;
mod scene;
#[path = "../common/size.rs"]
mod size;
#[path = "../common/trees.rs"]
mod trees;
