//! The tools for the history of all files.

mod families;
mod forks;
mod messages;
mod refusals;
mod scene;
mod undone;
