//! Claude Code.

use super::config::Edit;
use super::{Client, Moment, groups};

pub(super) const CLIENT: Client = Client {
    name: "claude-code",
    title: "Claude Code",
    // `PostToolUse` does not fire for failed calls; `Stop` not when the user interrupts.
    events: &[
        ("UserPromptSubmit", Moment::Prompt),
        ("PostToolUse", Moment::AfterCall),
        ("PostToolUseFailure", Moment::AfterCall),
        ("Stop", Moment::TurnEnd),
        ("WorktreeCreate", Moment::WorktreeCreate),
    ],
    recognises: |payload| {
        payload.has("/prompt_id")
            || payload.text(&["/transcript_path"]).is_some_and(|path| path.contains("/.claude/"))
    },
    expects_json: false,
    server: |site| site.server_in(".mcp.json", vec!["mcpServers", "wink"]),
    hooks: |site| {
        let groups = groups(&CLIENT, &site.hook(CLIENT.name), "10", Some("*"));
        vec![Edit::json(&site.project.join(".claude/settings.json"), groups)]
    },
    next: "approve the server `wink` when Claude Code asks",
};
