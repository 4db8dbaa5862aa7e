//! The tool table as an MCP server: the only place that knows rmcp.
//!
//! Two doors lead to it. Over stdio the process is the session. Over HTTP every request stands for
//! itself, and a client that wants to be remembered names a session with each call.

mod annotations;
mod answer;
mod caller;
mod calling;
mod declared;
mod endpoint;
mod fixtures;
mod handler;
mod http;
mod keeping;
mod line;
mod message;
mod outputs;
mod recent;
mod records;
mod resources;
mod running;
mod sessions;
mod shape;
mod stdio;
mod uses;

pub(crate) use self::endpoint::Endpoint;
pub(crate) use self::http::{McpService, service};
pub(crate) use self::recent::RecentCall;
pub(crate) use self::stdio::serve;
