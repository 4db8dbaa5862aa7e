//! Archives: made of every tree, read by every program, and believed only after they were checked.

#![allow(clippy::disallowed_methods, reason = "reads and writes archives from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod across;
mod corpus;
mod golden;
#[path = "../common/on_both.rs"]
mod on_both;
mod python;
mod round_trip;
mod shapes;
#[path = "../common/size.rs"]
mod size;
mod support;
mod threats;
mod tools;
#[path = "../common/trees.rs"]
mod trees;
mod zip;
