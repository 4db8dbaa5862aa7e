//! Tools a model can call over a wink workspace.
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

mod arguments;
mod edit;
mod expected_hash;
mod field;
mod fields;
mod refusal;
mod result;
mod rewrite;
mod schema;
mod suggest;
mod table;
mod tool;
mod tools;
mod transaction;
mod words;

pub use result::ToolResult;
pub use table::{TOOLS, call, find, unknown_tool_message};
pub use tool::{Effect, Tool};
