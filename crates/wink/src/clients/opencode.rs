//! OpenCode, whose plugin (`wink setup opencode --hooks` writes it) sends `{"hook", "directory", "input"}`.

use jsonc_parser::cst::CstInputValue;

use super::config::{Content, Edit, JsonChange, object, text, texts};
use super::{Client, Moment};

/// The plugin that runs the hook.
const PLUGIN: &str = include_str!("opencode.js");

pub(super) const CLIENT: Client = Client {
    name: "opencode",
    title: "OpenCode",
    // Of a failed call of an MCP server, the event after it does not fire.
    events: &[
        ("chat.message", Moment::Prompt),
        ("tool.execute.before", Moment::BeforeCall),
        ("tool.execute.after", Moment::AfterCall),
        ("session.idle", Moment::TurnEnd),
    ],
    recognises: |payload| {
        payload.has("/hook")
            || payload.has("/input/sessionID")
            || payload.has("/properties/sessionID")
    },
    expects_json: false,
    server: |site| {
        let server = object([
            ("type", text("local")),
            ("command", texts(&[&site.program, "mcp", "--tools", "history"])),
            ("enabled", CstInputValue::Bool(true)),
        ]);
        let change = JsonChange::Member(vec!["mcp", "wink"], server);
        vec![Edit::json(&site.project.join("opencode.json"), vec![change])]
    },
    hooks: |site| {
        let program = serde_json::Value::from(site.program.as_str()).to_string();
        let content = Content::Whole(PLUGIN.replace("\"wink\"", &program));
        vec![Edit { path: site.project.join(".opencode/plugin/wink.js"), content }]
    },
    next: "restart OpenCode",
};
