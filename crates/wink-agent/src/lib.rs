//! Tools a model can call over a wink workspace, and sessions that remember what was done with it.
//!
//! There are three tables of tools: for files, for their history, and for programs that are run. Every
//! door (MCP, command line, prompts) lists and calls tools by a [`Toolset`], which says which of them a
//! program offers. Adding a tool is one file under `tools/` and one line in a table.
//!
//! ```
//! use serde_json::json;
//! use wink_agent::ToolContext;
//! use wink_fs::Workspace;
//!
//! let context = ToolContext::over(&Workspace::memory());
//! let written = wink_agent::call(
//!     &context,
//!     "write_file",
//!     json!({"path": "notes.txt", "content": "hello\n"}),
//! );
//! assert!(written.ok());
//!
//! let escaped = wink_agent::call(&context, "read_file", json!({"path": "../secret"}));
//! assert_eq!(escaped.code(), Some("permission_denied"));
//! ```
//!
//! A [`session::Session`] holds what an agent knows and did. [`checkpoint`] keeps it together with the
//! files, [`file_index`] tells it of every change, and [`SessionFiles`] is all of that in one value. A
//! [`prompt`] tells a model of its workspace and tools, and the [`adapter`] runs the loop in which it
//! calls them.

pub mod adapter;
pub mod checkpoint;
mod edit;
pub mod exec;
pub mod file_index;
pub(crate) mod history;
mod policy;
pub mod prompt;
mod schema;
pub mod session;
mod tool;
mod tools;
pub(crate) mod util;

pub use self::history::archive_filter::WithoutSpecial;
pub use self::history::forks::Forks;
pub use self::policy::{PathRules, SeenContents};
pub use self::session::files::owned::SessionFiles;
pub use self::tool::budget::Budget;
pub use self::tool::call::ToolCall;
pub use self::tool::context::ToolContext;
pub use self::tool::error::ToolError;
pub use self::tool::result::{Image, ToolResult};
pub use self::tool::set::Toolset;
pub use self::tool::table::{call, find};
pub use self::tool::{Effect, Family, Tool};

/// The README's examples, compiled and run with the others.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of AGENTS.md, compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../../../AGENTS.md")]
struct Agents;
