//! Prompts: what a model is given, and what is refused before it is.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod guidance;
mod lasting;
mod listings;
mod mounts;
mod names;
mod parameters;
mod rendering;
mod scene;
mod sections;
mod workspaces;
