//! What the server says of itself at the terminal.

use serde_json::json;

use crate::json::{ServedWorkspace, Serving};
use crate::serve::Site;

/// What a person needs to use the server.
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

    /// Returns what programs read when the server is ready.
    pub(crate) fn document(&self) -> Serving {
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
            format!("wink serves {what} (Ctrl-C stops).\n\nMCP endpoint: {}{route}\n", self.url)
        };
        self.sites.iter().map(line).collect()
    }

    /// Returns what most clients take as their configuration.
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
