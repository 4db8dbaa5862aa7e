//! What `wink serve` and `wink demo` print as JSON.

use serde::Serialize;

/// Printed when the server is ready.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Serving {
    pub(crate) url: String,
    /// The endpoint of the first workspace.
    pub(crate) mcp_url: String,
    /// What clients send as `Authorization: Bearer`.
    pub(crate) token: String,
    /// The page, for a browser; works once.
    pub(crate) page_url: String,
    pub(crate) workspaces: Vec<ServedWorkspace>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ServedWorkspace {
    pub(crate) mcp_url: String,
    /// What it is, in words for a person.
    pub(crate) what: String,
    /// What a person should know of it.
    pub(crate) note: Option<String>,
}

/// Printed when the server was stopped.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ServedUntilNow {
    pub(crate) duration_ms: u64,
}

/// Printed for each call of the demo.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DemoCall {
    pub(crate) tool: String,
    /// The path, name or pattern that it is about.
    pub(crate) about: String,
    /// Whether it did what was asked; some calls are refused, as they should be.
    pub(crate) ok: bool,
    /// What a model reads.
    pub(crate) text: String,
    pub(crate) duration_us: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DemoPlayed {
    pub(crate) calls: u32,
    /// The file of the session.
    pub(crate) session: String,
    /// The archive of the files.
    pub(crate) archive: String,
}
