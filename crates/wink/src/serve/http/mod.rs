//! The HTTP server below MCP: connection limits, timeouts, origin and token checks.
//!
//! Everything here runs before a request reaches a workspace.

pub(crate) mod auth;
pub(crate) mod connections;
pub(crate) mod header_timeout;
pub(crate) mod origin_guard;
pub(crate) mod unauthenticated;
pub(crate) mod write_timeout;
