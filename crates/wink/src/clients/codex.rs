//! Codex.

use std::path::PathBuf;

use toml_edit::{Array, Table, value};

use super::config::{Content, Edit};
use super::{Client, Moment, Site, groups};

pub(super) const CLIENT: Client = Client {
    name: "codex",
    title: "Codex",
    // There is no event for a failed call: the one before it has to do.
    events: &[
        ("UserPromptSubmit", Moment::Prompt),
        ("PreToolUse", Moment::BeforeCall),
        ("PostToolUse", Moment::AfterCall),
        ("Stop", Moment::TurnEnd),
    ],
    recognises: |payload| {
        payload.has("/turn_id")
            || payload.text(&["/transcript_path"]).is_some_and(|path| path.contains("/.codex/"))
    },
    expects_json: false,
    server: |site| {
        let mut content = Table::new();
        content["command"] = value(&site.program);
        content["args"] = value(Array::from_iter(["mcp", "--tools", "history"]));
        // Codex passes no other variable on, and the history would be elsewhere than the user's.
        content["env_vars"] = value(Array::from_iter(["XDG_DATA_HOME"]));
        let content = Content::Toml { table: ["mcp_servers", "wink"], content };
        vec![Edit { path: home(site).join("config.toml"), content }]
    },
    hooks: |site| {
        let groups = groups(&CLIENT, &site.hook(CLIENT.name), "10", None);
        vec![Edit::json(&home(site).join("hooks.json"), groups)]
    },
    next: "approve the hooks in Codex with `/hooks`: it skips those that you have not seen, without a word",
};

/// Returns the directory of the user's settings.
fn home(site: &Site) -> PathBuf {
    let named = std::env::var_os("CODEX_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| site.home.join(".codex"))
}
