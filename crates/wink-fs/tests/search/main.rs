//! Search on every backend: the dialect of patterns, the lines found, the totals.

#![allow(clippy::disallowed_methods, reason = "reads the corpus from the repository")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod corpus;
mod glob;
mod grep;
#[path = "../common/on_both.rs"]
mod on_both;
mod reference;
mod states;
