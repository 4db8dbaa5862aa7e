//! Cursor.

use jsonc_parser::cst::CstInputValue;

use super::config::{Edit, JsonChange, object, text};
use super::{Client, Moment};

pub(super) const CLIENT: Client = Client {
    name: "cursor",
    title: "Cursor",
    // It may refuse the whole file for one event that it does not know.
    events: &[
        ("beforeSubmitPrompt", Moment::Prompt),
        ("postToolUse", Moment::AfterCall),
        ("postToolUseFailure", Moment::AfterCall),
        ("afterShellExecution", Moment::AfterCall),
        ("afterFileEdit", Moment::AfterCall),
        ("stop", Moment::TurnEnd),
    ],
    recognises: |payload| payload.has("/conversation_id") || payload.has("/cursor_version"),
    expects_json: true,
    server: |site| site.server_in(".cursor/mcp.json", vec!["mcpServers", "wink"]),
    hooks: |site| {
        let hook = |(event, _): &(&'static str, Moment)| {
            JsonChange::Element(
                vec!["hooks", event],
                object([("command", text(&site.hook(CLIENT.name)))]),
            )
        };
        let version = JsonChange::Needed("version", CstInputValue::Number("1".to_owned()));
        let changes = [version].into_iter().chain(CLIENT.events.iter().map(hook)).collect();
        vec![Edit::json(&site.project.join(".cursor/hooks.json"), changes)]
    },
    next: "enable the server `wink` in Cursor's settings",
};
