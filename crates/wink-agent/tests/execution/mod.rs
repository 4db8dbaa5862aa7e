//! The tools that run programs.

#![cfg(unix)]

mod changes;
mod ending;
mod messages;
mod processes;
mod refusals;
mod scene;
