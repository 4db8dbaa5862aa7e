//! Tools a model can call over a wink workspace, and sessions that remember what was done with it.
//!
//! [`TOOLS`] is the one table: every door (MCP, command line, prompts) lists and calls tools from
//! it. Adding a tool is one file under `tools/` and one line in the table.
//!
//! ```
//! use serde_json::json;
//! use wink_fs::Workspace;
//!
//! let workspace = Workspace::memory();
//! let written = wink_agent::call(
//!     &workspace,
//!     "write_file",
//!     json!({"path": "notes.txt", "content": "hello\n"}),
//! );
//! assert!(written.ok());
//!
//! let escaped = wink_agent::call(&workspace, "read_file", json!({"path": "../secret"}));
//! assert_eq!(escaped.code(), Some("permission_denied"));
//! ```
//!
//! A [`session::Session`] holds what an agent knows and did. [`checkpoint`] keeps it together with the
//! files, [`follow`] tells it of every change, and [`SessionFiles`] is all of that in one value.

mod arguments;
pub mod checkpoint;
mod field;
pub mod follow;
mod refusal;
mod result;
mod schema;
pub mod session;
mod session_files;
mod suggest;
mod table;
mod tool;
mod tools;
mod words;

pub use result::ToolResult;
pub use session_files::SessionFiles;
pub use table::{TOOLS, call, find, unknown_tool_message};
pub use tool::{Effect, Tool};
