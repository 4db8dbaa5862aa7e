//! Search on every backend: the dialect of patterns, the lines found, the totals.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod glob;
mod grep;
mod reference;
