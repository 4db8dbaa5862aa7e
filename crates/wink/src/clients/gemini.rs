//! Gemini CLI.

use super::config::Edit;
use super::{Client, Moment, groups};

const SETTINGS: &str = ".gemini/settings.json";

pub(super) const CLIENT: Client = Client {
    name: "gemini",
    title: "Gemini CLI",
    events: &[
        ("BeforeAgent", Moment::Prompt),
        ("AfterTool", Moment::AfterCall),
        ("AfterAgent", Moment::TurnEnd),
    ],
    recognises: |payload| {
        let is_ours = CLIENT.events.iter().any(|(name, _)| payload.event() == *name);
        is_ours
            || payload.text(&["/transcript_path"]).is_some_and(|path| path.contains("/.gemini/"))
    },
    expects_json: true,
    server: |site| site.server_in(SETTINGS, vec!["mcpServers", "wink"]),
    hooks: |site| {
        // In milliseconds.
        let groups = groups(&CLIENT, &site.hook(CLIENT.name), "10000", Some("*"));
        vec![Edit::json(&site.project.join(SETTINGS), groups)]
    },
    next: "trust the folder when Gemini CLI asks",
};
