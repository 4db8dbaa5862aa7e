//! Sessions, as a program uses them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "looks at dumps from outside")]

mod damaged;
mod dump;
mod events;
mod files;
mod golden;
mod reducers;
mod roundtrip;
mod slices;
mod snapshots;
mod threads;
mod trees;
mod types;
