//! The coding agents that wink knows, one file for each: how it tells of its work, and where it is set up.

mod claude_code;
mod codex;
pub(crate) mod config;
mod cursor;
mod gemini;
mod opencode;
mod payload;
mod vscode;

use std::path::PathBuf;

use jsonc_parser::cst::CstInputValue;
use serde::{Deserialize, Serialize};

use self::config::{Edit, JsonChange, object, text, texts};
pub(crate) use self::payload::Payload;

/// When in the work of an agent a hook fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Moment {
    /// The user has sent a prompt; the agent waits for the hook.
    Prompt,
    /// A tool is about to be called.
    BeforeCall,
    /// A call is done, or has failed.
    AfterCall,
    /// The agent has ended its turn; it waits for the hook.
    TurnEnd,
    /// The client wants a directory to work in.
    WorktreeCreate,
    /// Anything else.
    Other,
}

/// A coding agent.
#[derive(Debug)]
pub(crate) struct Client {
    /// Its name in commands and records.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// Its events that matter; those that `wink setup --hooks` asks for.
    pub(crate) events: &'static [(&'static str, Moment)],
    /// Returns whether a payload is from this client.
    recognises: fn(&Payload) -> bool,
    /// Whether it takes all that a hook prints for JSON.
    pub(crate) expects_json: bool,
    /// Returns the changes that add the server to its settings.
    server: fn(&Site) -> Vec<Edit>,
    /// Returns the changes that add the hooks.
    hooks: fn(&Site) -> Vec<Edit>,
    /// What the user has to do in the client, if anything.
    pub(crate) next: &'static str,
}

/// Where a client is set up.
#[derive(Debug)]
pub(crate) struct Site {
    /// The root of the project.
    pub(crate) project: PathBuf,
    /// The user's home.
    pub(crate) home: PathBuf,
    /// How hooks and servers call wink.
    pub(crate) program: String,
}

impl Site {
    /// Returns the command of a hook, for a shell.
    fn hook(&self, client: &str) -> String {
        format!("{} hook {client}", crate::ui::format::shell_quote(&self.program))
    }

    /// Returns a server as most clients name it, with more members before.
    fn server(&self) -> CstInputValue {
        object([("command", text(&self.program)), ("args", texts(&["mcp", "--tools", "history"]))])
    }

    /// Returns the change that names the server in a file of the project.
    fn server_in(&self, file: &str, names: Vec<&'static str>) -> Vec<Edit> {
        vec![Edit::json(&self.project.join(file), vec![JsonChange::Member(names, self.server())])]
    }
}

/// Returns the elements for hooks of the common kind: a group with one command for each event.
fn groups(client: &Client, command: &str, timeout: &str, matcher: Option<&str>) -> Vec<JsonChange> {
    let group = |(event, moment): &(&'static str, Moment)| {
        let timeout = CstInputValue::Number(timeout.to_owned());
        let hook =
            object([("type", text("command")), ("command", text(command)), ("timeout", timeout)]);
        let mut members = vec![("hooks".to_owned(), CstInputValue::Array(vec![hook]))];
        if let Some(matcher) =
            matcher.filter(|_| matches!(moment, Moment::BeforeCall | Moment::AfterCall))
        {
            members.insert(0, ("matcher".to_owned(), text(matcher)));
        }
        JsonChange::Element(vec!["hooks", event], CstInputValue::Object(members))
    };
    client.events.iter().map(group).collect()
}

/// The clients; those that are recognised by more come first.
const ALL: [&Client; 6] = [
    &opencode::CLIENT,
    &cursor::CLIENT,
    &gemini::CLIENT,
    &codex::CLIENT,
    &vscode::CLIENT,
    &claude_code::CLIENT,
];

/// Their names, as `wink setup` takes them.
pub(crate) const NAMES: [&str; 6] =
    ["claude-code", "codex", "cursor", "gemini", "vscode", "opencode"];

/// Returns the client of a name.
pub(crate) fn named(name: &str) -> Option<&'static Client> {
    ALL.into_iter().find(|client| client.name == name)
}

/// Returns the client that a payload is from. Several run hooks that were set up for Claude Code, so the payload counts
/// more than the name in the command; that decides where the payload does not.
pub(crate) fn of(payload: &Payload, named_by: Option<&str>) -> &'static Client {
    let recognised = ALL.into_iter().find(|client| (client.recognises)(payload));
    recognised.or_else(|| named(named_by?)).unwrap_or(&claude_code::CLIENT)
}

impl Client {
    /// Returns what is put into the client's settings.
    pub(crate) fn edits(&self, site: &Site, with_hooks: bool) -> Vec<Edit> {
        let mut edits = (self.server)(site);
        for edit in if with_hooks { (self.hooks)(site) } else { Vec::new() } {
            edit.add_to(&mut edits);
        }
        edits
    }

    /// Returns what an event of this client means. Events that are not asked for are understood too, because another
    /// client's file may have asked for them.
    pub(crate) fn moment(&self, event: &str) -> Moment {
        let known = |events: &[(&str, Moment)]| {
            events.iter().find(|(name, _)| *name == event).map(|(_, moment)| *moment)
        };
        known(self.events).or_else(|| known(MORE_EVENTS)).unwrap_or(Moment::Other)
    }
}

/// Events of the common kind, beside those that wink asks for.
const MORE_EVENTS: &[(&str, Moment)] = &[
    ("UserPromptSubmit", Moment::Prompt),
    ("PreToolUse", Moment::BeforeCall),
    ("PostToolUse", Moment::AfterCall),
    ("PostToolUseFailure", Moment::AfterCall),
    ("Stop", Moment::TurnEnd),
    ("StopFailure", Moment::TurnEnd),
    ("SubagentStop", Moment::TurnEnd),
    ("SessionEnd", Moment::TurnEnd),
];

/// What a hook tells, in one form for all clients.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) moment: Moment,
    pub(crate) event: String,
    pub(crate) session: String,
    pub(crate) turn: Option<String>,
    pub(crate) call: Option<String>,
    pub(crate) tool: Option<String>,
    /// The prompt, or what the tool works on.
    pub(crate) what: Option<String>,
    /// What tells this event from the same one told twice.
    pub(crate) key: Option<String>,
}

impl Client {
    /// Reads a payload.
    pub(crate) fn read(&self, payload: &Payload) -> Call {
        let event = payload.event();
        let moment = self.moment(&event);
        let session = payload.text(&[
            "/session_id",
            "/sessionId",
            "/conversation_id",
            "/input/sessionID",
            "/properties/sessionID",
        ]);
        let turn = payload.text(&["/prompt_id", "/turn_id", "/generation_id"]);
        let call = payload.text(&["/tool_use_id", "/toolUseId", "/input/callID"]);
        let tool = payload.text(&["/tool_name", "/toolName", "/input/tool"]);
        let what = payload.text(&[
            "/prompt",
            "/tool_input/command",
            "/tool_input/file_path",
            "/tool_input/path",
            "/input/args/command",
            "/input/args/filePath",
            "/command",
            "/file_path",
            "/output/parts/0/text",
        ]);
        let own = call
            .clone()
            .or_else(|| payload.text(&["/timestamp", "/output/message/id", "/id"]))
            .or_else(|| turn.clone());
        let session = session.unwrap_or_default();
        let key = own.map(|own| format!("{session} {moment:?} {own}"));
        Call { moment, event, session, turn, call, tool, what, key }
    }
}

impl Call {
    /// Returns whether it is a call of wink's own tools, which keep a history themselves.
    pub(crate) fn is_own(&self) -> bool {
        let is_wink = |tool: &str| {
            ["mcp__wink__", "mcp_wink_", "wink_", "MCP:wink"].iter().any(|it| tool.starts_with(it))
        };
        self.tool.as_deref().is_some_and(is_wink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(text: &str) -> Payload {
        Payload::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_payload_says_which_client_it_is_whatever_the_command_says() {
        let cases = [
            (
                r#"{"hook_event_name": "Stop", "transcript_path": "/h/.claude/projects/p/s.jsonl"}"#,
                "claude-code",
            ),
            (
                r#"{"hook_event_name": "Stop", "turn_id": "1", "transcript_path": "/h/.codex/sessions/s.jsonl"}"#,
                "codex",
            ),
            (r#"{"hook_event_name": "AfterAgent", "timestamp": "1"}"#, "gemini"),
            (
                r#"{"hook_event_name": "stop", "conversation_id": "1", "cursor_version": "2"}"#,
                "cursor",
            ),
            (r#"{"hookEventName": "Stop", "sessionId": "1"}"#, "vscode"),
            (r#"{"hook": "tool.execute.after", "input": {"sessionID": "1"}}"#, "opencode"),
        ];
        for (text, name) in cases {
            assert_eq!(of(&payload(text), Some("claude-code")).name, name, "{text}");
        }
        assert_eq!(of(&payload("{}"), Some("codex")).name, "codex");
        assert_eq!(of(&payload("{}"), Some("nonsense")).name, "claude-code");
    }

    #[test]
    fn a_call_of_our_own_is_known_in_each_client() {
        for name in ["mcp__wink__undo", "mcp_wink_undo", "wink_undo"] {
            let call = claude_code::CLIENT.read(&payload(&format!(r#"{{"tool_name": "{name}"}}"#)));
            assert!(call.is_own(), "{name}");
        }
        assert!(!claude_code::CLIENT.read(&payload(r#"{"tool_name": "Bash"}"#)).is_own());
    }
}
