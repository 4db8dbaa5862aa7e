//! The command line, through the real binary, as people and scripts meet it.

#![allow(clippy::disallowed_methods, reason = "plants and inspects host files from outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod branches;
mod config;
mod exit_codes;
mod faults;
mod files;
mod form;
mod interrupted_forks;
mod json;
mod mask;
mod moved;
mod not_captured;
mod operations;
mod parallel;
mod patches;
mod refs;
mod refusals;
mod repair;
mod room;
mod scene;
mod sessions;
mod setup;
mod signals;
mod streams;
mod survival;
mod terminal;
mod tool;
mod transcripts;
