//! Prompts: what a model is given, and what is refused before it is.

mod guidance;
mod lasting;
mod listings;
mod mounts;
mod names;
mod parameters;
mod rendering;
pub(crate) mod scene;
mod sections;
mod workspaces;
