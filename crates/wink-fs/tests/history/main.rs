//! Snapshots, operations, going back: the same on memory and on a host directory with a store.

#![allow(clippy::disallowed_methods, reason = "plants and inspects host files from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod clock;
#[path = "../common/disk.rs"]
mod disk;
mod execute;
mod faults;
mod kept;
mod older;
mod outside;
mod scene;
mod snapshot_after;
mod snapshots;
mod space;
mod turns;
mod undo;
mod unmounted;
