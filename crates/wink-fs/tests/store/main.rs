//! The store of snapshots: gives back what it was given, or says that it cannot.

#![allow(clippy::disallowed_methods, reason = "looks at stores from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod catalog;
mod concurrent;
mod damage;
mod faults;
mod golden;
mod incremental;
#[path = "../common/on_both.rs"]
mod on_both;
mod page;
mod places;
mod prune;
mod repair;
mod round_trip;
#[path = "../common/short.rs"]
mod short;
#[path = "../common/size.rs"]
mod size;
mod support;
mod tampered;
#[path = "../common/trees.rs"]
mod trees;
