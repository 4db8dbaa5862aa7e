//! All tests of this crate in one program: one to link, and a name for each part.

#![allow(clippy::disallowed_methods, reason = "plants and inspects host files from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "says how much was tried")]

mod archive;
mod capture;
mod common;
mod conformance;
mod crash;
mod documents;
mod error_table;
mod faults;
mod history;
mod host;
mod locks;
mod lower_layers;
mod merge;
mod model;
mod mount;
mod named;
mod open_files;
mod path_corpus;
mod power_loss;
mod race;
mod reordered;
mod replaced_directories;
mod retention;
mod search;
mod snapshot_documents;
mod store;
mod strategies;
mod threats;
mod tree_hash;
mod writers;
