//! The caller of a tool, as it is recorded with the changes of the call.

use rmcp::RoleServer;
use rmcp::model::Implementation;
use rmcp::service::RequestContext;
use serde_json::{Map, Value};

use crate::cli::context;
use crate::mcp::declared_tools::SESSION;

/// Characters of a name that are recorded; a client may send any name.
const LONGEST: usize = 64;

/// Returns the client's name, the session that it names, and the process that does the work.
pub(crate) fn of(arguments: &Map<String, Value>, request: &RequestContext<RoleServer>) -> String {
    let session = arguments.get(SESSION).and_then(Value::as_str);
    worded(client(request).as_ref(), session)
}

/// Clients of the present revision send their name with every request, older ones once.
fn client(request: &RequestContext<RoleServer>) -> Option<Implementation> {
    let introduced = || request.peer.peer_info().map(|info| info.client_info.clone());
    request.meta.client_info().or_else(introduced)
}

fn worded(client: Option<&Implementation>, session: Option<&str>) -> String {
    let client = client.map(|it| plain(&format!("{} {}", it.name, it.version)));
    let session = session.map(|name| format!("session {}", plain(name)));
    let parts = client.into_iter().chain(session).chain([context::actor()]);
    parts.collect::<Vec<_>>().join(", ")
}

fn plain(name: &str) -> String {
    name.chars().filter(|it| !it.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_session_and_process_are_named_on_one_short_line() {
        let process = context::actor();
        assert_eq!(worded(None, None), process);
        let client = Implementation::new("some\nagent".repeat(20), "1");
        let by = worded(Some(&client), Some("build"));
        assert!(by.starts_with("someagentsome") && by.lines().count() == 1);
        assert!(by.ends_with(&format!(", session build, {process}")) && by.len() < 150, "{by}");
    }
}
