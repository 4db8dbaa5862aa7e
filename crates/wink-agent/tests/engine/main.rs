//! What holds for every call, whatever the tool and the backend.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]
#![allow(clippy::disallowed_methods, reason = "a test prepares a directory from outside")]

mod bounds;
mod custom;
mod every_tool;
mod failing;
#[path = "../host_paths/mod.rs"]
mod host_paths;
#[path = "../kinds/mod.rs"]
mod kinds;
mod records;
mod rules;
mod scene;
mod seen;
