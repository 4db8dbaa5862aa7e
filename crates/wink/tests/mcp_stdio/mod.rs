//! `wink mcp` through the real binary: a message a line, in and out.

mod cancel;
mod dump;
mod ending;
mod execution;
mod forks;
mod input;
mod keeping;
mod places;
mod prompts;
mod resources;
mod results;
pub(crate) mod scene;
mod schemas;
mod session;
