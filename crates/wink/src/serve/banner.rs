//! What the server prints when it is ready.

use std::io::{self, Write as _};

use serde::Serialize;
use serde_json::json;

use crate::serve::Site;

/// Prints a text at once, for programs that wait for it.
pub(crate) fn announce(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Printed when the server is ready.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Serving {
    pub(super) url: String,
    /// The endpoint of the first workspace.
    pub(super) mcp_url: String,
    /// What clients send as `Authorization: Bearer`.
    pub(super) token: String,
    /// The page, for a browser; works once.
    pub(super) page_url: String,
    pub(super) workspaces: Vec<ServedWorkspace>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ServedWorkspace {
    pub(super) mcp_url: String,
    /// A description of its files.
    pub(super) what: String,
    /// A note or warning about it.
    pub(super) note: Option<String>,
}

/// The addresses and secrets for users of the server.
pub(crate) struct Banner<'w> {
    /// The address, as clients write it.
    pub(crate) url: &'w str,
    pub(crate) token: &'w str,
    /// What opens the page once.
    pub(crate) ticket: &'w str,
    pub(crate) sites: &'w [Site],
}

impl Banner<'_> {
    /// Returns the text printed when the server is ready.
    pub(crate) fn text(&self) -> String {
        let Self { url, ticket, .. } = self;
        format!(
            "{}\n\
             Page: {url}/open/{ticket}  (works once)\n\
             \n\
             For an MCP client:\n\
             \n  {}\n\
             \n\
             Try a first call:\n\
             \n  {}\n\n",
            self.endpoints(),
            self.config(),
            self.first_call()
        )
    }

    /// Returns the JSON for programs when the server is ready.
    pub(super) fn document(&self) -> Serving {
        let Self { url, token, ticket, sites } = self;
        let workspace = |site: &Site| ServedWorkspace {
            mcp_url: format!("{url}{}", site.route),
            what: site.what.clone(),
            note: site.note.as_deref().map(|it| it.trim_start_matches("note: ").to_owned()),
        };
        Serving {
            url: (*url).to_owned(),
            mcp_url: format!("{url}/mcp"),
            token: (*token).to_owned(),
            page_url: format!("{url}/open/{ticket}"),
            workspaces: sites.iter().map(workspace).collect(),
        }
    }

    fn endpoints(&self) -> String {
        let line = |site: &Site| {
            let Site { what, route, .. } = site;
            format!("Serving {what} (Ctrl-C stops).\n\nMCP endpoint: {}{route}\n", self.url)
        };
        self.sites.iter().map(line).collect()
    }

    /// Returns the configuration that most clients accept.
    fn config(&self) -> String {
        let server = json!({
            "type": "http",
            "url": format!("{}/mcp", self.url),
            "headers": {"Authorization": format!("Bearer {}", self.token)},
        });
        json!({"mcpServers": {"wink": server}}).to_string()
    }

    fn first_call(&self) -> String {
        format!(
            "curl -sS {}/mcp \
             -H 'Authorization: Bearer {}' \
             -H 'Content-Type: application/json' \
             -H 'Accept: application/json, text/event-stream' \
             -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
             \"params\":{{\"name\":\"ls\",\"arguments\":{{}}}}}}'",
            self.url, self.token
        )
    }
}
