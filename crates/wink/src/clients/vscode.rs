//! VS Code with Copilot.

use jsonc_parser::cst::CstInputValue;

use super::config::{Edit, JsonChange, object, text, texts};
use super::{Client, Moment};

pub(super) const CLIENT: Client = Client {
    name: "vscode",
    title: "VS Code",
    events: &[
        ("UserPromptSubmit", Moment::Prompt),
        ("PostToolUse", Moment::AfterCall),
        ("Stop", Moment::TurnEnd),
    ],
    recognises: |payload| payload.has("/hookEventName") || payload.has("/sessionId"),
    expects_json: true,
    server: |site| {
        let server = object([
            ("type", text("stdio")),
            ("command", text(&site.program)),
            ("args", texts(&["mcp", "--tools", "history"])),
        ]);
        let change = JsonChange::Member(vec!["servers", "wink"], server);
        vec![Edit::json(&site.project.join(".vscode/mcp.json"), vec![change])]
    },
    hooks: |site| {
        // A flat list for each event.
        let hook = |(event, _): &(&'static str, Moment)| {
            let hook = object([
                ("type", text("command")),
                ("command", text(&site.hook(CLIENT.name))),
                ("timeout", CstInputValue::Number("10".to_owned())),
            ]);
            JsonChange::Element(vec!["hooks", event], hook)
        };
        vec![Edit::json(
            &site.project.join(".github/hooks/wink.json"),
            CLIENT.events.iter().map(hook).collect(),
        )]
    },
    next: "start the server `wink` when VS Code asks",
};
