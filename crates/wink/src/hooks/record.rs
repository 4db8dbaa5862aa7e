//! The records of hooks, a file beside the settings of a workspace.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::clients::{Call, Client, Moment};
use crate::sys::disk;
use crate::ui::format;

const FILE: &str = "hooks";

/// Calls that wait for their snapshot.
const QUEUE: &str = "hooks.queue";

/// Only the newest lines within this size are kept.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// How much of the records may hold the same event: two hooks for one event fire together.
const RECENT_BYTES: u64 = 64 * 1024;

/// One event of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HookRecord {
    pub(crate) at: String,
    /// The name of the client, as `wink setup` takes it.
    pub(crate) client: String,
    pub(crate) session: String,
    pub(crate) moment: Moment,
    pub(crate) turn: Option<String>,
    /// The id of the call.
    pub(crate) call: Option<String>,
    pub(crate) tool: Option<String>,
    /// The prompt, or what the tool worked on.
    pub(crate) what: Option<String>,
    /// The id of the snapshot that holds the files of this moment; null if it failed.
    pub(crate) snapshot: Option<String>,
    /// Why there is no snapshot.
    pub(crate) failed: Option<String>,
    /// The last operation at this moment.
    pub(crate) operation: Option<u64>,
    /// What tells this event from the same one told twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl HookRecord {
    pub(crate) fn new(client: &Client, call: Call) -> Self {
        let Call { moment, session, turn, call, tool, what, key, .. } = call;
        Self {
            at: format::utc(SystemTime::now()),
            client: client.name.to_owned(),
            session,
            moment,
            turn,
            call,
            tool,
            what,
            snapshot: None,
            failed: None,
            operation: None,
            key,
        }
    }

    /// Describes the event, for the message of its snapshot.
    pub(crate) fn message(&self) -> String {
        let what =
            self.what.as_deref().map(|what| format!(": {}", shortened(what))).unwrap_or_default();
        let tool = self.tool.as_deref().unwrap_or("a call");
        let moment = match self.moment {
            Moment::Prompt => format!("turn{what}"),
            Moment::BeforeCall => format!("before {tool}{what}"),
            Moment::AfterCall => format!("after {tool}{what}"),
            Moment::TurnEnd => "end of turn".to_owned(),
            Moment::WorktreeCreate | Moment::Other => "hook".to_owned(),
        };
        format!("{moment} ({})", self.agent())
    }

    /// Names the client and its session.
    pub(crate) fn agent(&self) -> String {
        let session: String = self.session.chars().take(8).collect();
        format!("{} {session}", self.client).trim_end().to_owned()
    }
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    let short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() { short + "…" } else { short }
}

/// Returns whether the same event was told before.
pub(crate) fn is_known(directory: &Path, call: &Call) -> bool {
    let Some(key) = &call.key else { return false };
    let has = |path: PathBuf| {
        let bytes = disk::read_end(&path, RECENT_BYTES).unwrap_or_default();
        parsed(&bytes).iter().any(|record| record.key.as_ref() == Some(key))
    };
    // In the order in which a call passes through these files, so that none is missed on its way.
    has(directory.join(QUEUE)) || has(taken(directory)) || has(directory.join(FILE))
}

/// Keeps a record; errors are ignored, because the snapshot counts.
pub(crate) fn keep(directory: &Path, record: &HookRecord) {
    append(&directory.join(FILE), record);
}

/// Lets a call wait for its snapshot.
pub(crate) fn queue(directory: &Path, record: &HookRecord) {
    append(&directory.join(QUEUE), record);
}

fn append(path: &Path, record: &HookRecord) {
    if let Ok(line) = serde_json::to_string(record) {
        let _ = disk::append_line(path, &line, MAX_BYTES);
    }
}

/// Takes the calls that wait, with those that a process took that died. They are forgotten by [`forget_taken`].
pub(crate) fn take_queue(directory: &Path) -> Vec<HookRecord> {
    let taken = taken(directory);
    if disk::is_gone(&taken) && disk::rename(&directory.join(QUEUE), &taken).is_err() {
        return Vec::new();
    }
    // A process that appends holds the file.
    let _alone = disk::wait_to_hold(&taken);
    disk::read_end(&taken, MAX_BYTES).map(|bytes| parsed(&bytes)).unwrap_or_default()
}

/// Forgets the calls that were taken, when there is a record of them.
pub(crate) fn forget_taken(directory: &Path) {
    let _ = disk::remove(&taken(directory));
}

fn taken(directory: &Path) -> PathBuf {
    directory.join(QUEUE).with_extension("taken")
}

/// Returns whether calls wait.
pub(crate) fn has_queue(directory: &Path) -> bool {
    !disk::is_gone(&directory.join(QUEUE)) || !disk::is_gone(&taken(directory))
}

/// Returns the records, oldest first; damaged lines are skipped.
pub(crate) fn all(directory: &Path) -> Vec<HookRecord> {
    parsed(&disk::read_end(&directory.join(FILE), MAX_BYTES).unwrap_or_default())
}

/// Returns why the last hook took no snapshot, if it did not.
pub(crate) fn last_failure(directory: &Path) -> Option<String> {
    let bytes = disk::read_end(&directory.join(FILE), RECENT_BYTES).unwrap_or_default();
    parsed(&bytes).pop()?.failed
}

fn parsed(bytes: &[u8]) -> Vec<HookRecord> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::{Payload, named};

    fn record(id: &str) -> (Call, HookRecord) {
        let text = format!(
            r#"{{"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "{id}"}}"#
        );
        let client = named("claude-code").unwrap();
        let call = client.read(&Payload::parse(text.as_bytes()).unwrap());
        (call.clone(), HookRecord::new(client, call))
    }

    #[test]
    fn a_process_that_died_loses_no_call() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        queue(directory, &record("1").1);
        assert_eq!(take_queue(directory).len(), 1);
        assert!(is_known(directory, &record("1").0), "also while it is captured");
        queue(directory, &record("2").1);
        let again: Vec<_> = take_queue(directory).into_iter().map(|it| it.call.unwrap()).collect();
        assert_eq!(again, ["1"], "the second one waits for the first");
        forget_taken(directory);
        assert_eq!(take_queue(directory)[0].call.as_deref(), Some("2"));
        forget_taken(directory);
        assert!(take_queue(directory).is_empty() && !has_queue(directory));
    }

    #[test]
    fn an_event_that_is_told_twice_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let (call, first) = record("1");
        assert!(!is_known(directory.path(), &call));
        queue(directory.path(), &first);
        assert!(is_known(directory.path(), &call) && !is_known(directory.path(), &record("2").0));
        keep(directory.path(), &record("2").1);
        assert!(is_known(directory.path(), &record("2").0));
    }

    #[test]
    fn a_message_names_the_turn_or_the_call() {
        let (_, mut record) = record("1");
        record.session = "b28f7565-9660".to_owned();
        record.what = Some("make test".to_owned());
        assert_eq!(record.message(), "after Bash: make test (claude-code b28f7565)");
        record.moment = Moment::Prompt;
        record.what = Some("x".repeat(100));
        assert!(record.message().contains("…"));
    }
}
