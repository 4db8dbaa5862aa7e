//! Every snapshot strategy gives back what it was given, or says that it cannot.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "looks at snapshots from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod archive;
mod contract;
mod damage;
#[path = "../common/disk.rs"]
mod disk;
mod git;
mod hostile;
#[path = "../common/on_both.rs"]
mod on_both;
mod options;
mod overlay;
mod reflink;
mod scene;
#[path = "../common/size.rs"]
mod size;
#[path = "../common/trees.rs"]
mod trees;
mod workspace;
