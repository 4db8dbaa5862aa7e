//! The tool table as an MCP server: the only place that knows rmcp.
//!
//! Two doors lead to it. Over stdio the process is the session. Over HTTP every request stands for
//! itself, and a client that wants to be remembered names a session with each call.

mod auto_snapshot;
mod call;
mod completion;
mod declared_tools;
mod endpoint;
#[cfg(feature = "conformance-fixtures")]
mod fixtures;
mod handler;
mod http;
mod kept_forks;
mod message;
mod prompts;
mod resources;
mod sessions;
mod stdio;

pub(crate) use self::auto_snapshot::newest_or_taken;
pub(crate) use self::call::answer::Results;
pub(crate) use self::endpoint::Endpoint;
pub(crate) use self::http::{McpService, service};
pub(crate) use self::stdio::serve;
