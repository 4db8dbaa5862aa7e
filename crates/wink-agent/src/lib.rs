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
//! files, [`follow`] tells it of every change, and [`SessionFiles`] is all of that in one value. A
//! [`prompt`] tells a model of its workspace and tools, and the [`adapter`] runs the loop in which it
//! calls them.

pub mod adapter;
mod arguments;
mod budget;
mod call_id;
pub mod checkpoint;
mod context;
mod edit;
mod encoding;
mod engine;
mod execution;
pub mod executor;
mod expected_hash;
mod fields;
pub mod follow;
mod forks;
mod lock;
mod named_state;
mod nowhere;
mod policy;
pub mod prompt;
mod refusal;
mod result;
mod retry;
mod rewrite;
mod schema;
pub mod session;
mod session_files;
mod shape;
mod states;
mod suggest;
mod table;
mod tool;
mod tool_call;
mod tools;
mod toolset;
mod unknown;
mod without_special;
mod words;

pub use budget::Budget;
pub use context::ToolContext;
pub use forks::Forks;
pub use policy::{PathRules, SeenContents};
pub use refusal::Refusal;
pub use result::ToolResult;
pub use session_files::SessionFiles;
pub use table::{call, find};
pub use tool::{Effect, Family, Tool};
pub use tool_call::ToolCall;
pub use toolset::Toolset;
pub use without_special::WithoutSpecial;

/// The README's examples, compiled and run with the others.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of AGENTS.md, compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../../../AGENTS.md")]
struct Agents;
