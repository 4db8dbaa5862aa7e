//! What the server says of itself, at the terminal and in a browser.

use std::net::SocketAddr;

/// Returns the text printed when the server is ready.
pub(crate) fn announcement(address: SocketAddr) -> String {
    format!(
        "wink serves an in-memory workspace; it is gone when this stops (Ctrl-C).\n\
         \n\
         MCP endpoint: http://{address}/mcp\n\
         \n\
         Try a first call:\n\
         \n  {}\n\n",
        first_call(address)
    )
}

/// Returns the page a person sees who opens the address.
pub(crate) fn page(address: SocketAddr) -> String {
    format!(
        "wink: a workspace filesystem for AI agents.\n\
         \n\
         This server holds one in-memory workspace. Point an MCP client (streamable HTTP) at\n\
         \n  http://{address}/mcp\n\
         \n\
         or try a first call in a terminal:\n\
         \n  {}\n",
        first_call(address)
    )
}

fn first_call(address: SocketAddr) -> String {
    format!(
        "curl -sS http://{address}/mcp \
         -H 'Content-Type: application/json' \
         -H 'Accept: application/json, text/event-stream' \
         -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
         \"params\":{{\"name\":\"ls\",\"arguments\":{{}}}}}}'"
    )
}
