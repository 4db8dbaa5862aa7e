//! Calls of tools, as the page lists them: those of a running server, of a dump, and operations of the log.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use wink_agent::Effect;
use wink_agent::session::{BoundedText, ToolInvoked};
use wink_fs::{OperationCause, OperationRecord};

use crate::sys::lock::lock;
use crate::window::feed::RunFeed;

/// How many calls of a server are kept.
const MOST: usize = 20_000;

/// How many bytes of parameters and results are kept for them.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// How many bytes of the parameters, and of the result, of one call are kept.
const MOST_TEXT: usize = 4096;

/// Characters of the line that says what a call is about.
const MOST_ABOUT: usize = 200;

/// One call in the list.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CallSummary {
    /// Its id in the page: a number, or `op:` and the number of an operation that no call here made.
    pub(crate) id: String,
    /// When it began, in milliseconds since 1970.
    pub(crate) at: i64,
    /// How long it took, in microseconds.
    pub(crate) us: u64,
    pub(crate) tool: String,
    /// `read`, `write` or `exec`.
    pub(crate) kind: CallKind,
    pub(crate) ok: bool,
    /// The code of its error, or the exit code of its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    /// The path, pattern, command or name that it is about.
    pub(crate) about: String,
    /// The fork that it worked in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fork: Option<String>,
    /// The turn of the conversation; 0 if there are no turns.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) turn: u64,
    /// The session that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// The snapshot that was taken or restored last when it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    /// The snapshot that was taken or restored last when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<String>,
    /// Whether it changed files, as far as known.
    pub(crate) changed: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What kind of call it was.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum CallKind {
    Read,
    Write,
    Exec,
}

impl From<Effect> for CallKind {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Reads => Self::Read,
            Effect::Writes => Self::Write,
            _ => Self::Exec,
        }
    }
}

impl CallKind {
    /// Returns the kind of a tool that may be of another program.
    fn of_tool(name: &str) -> Self {
        wink_agent::find(name).map_or(Self::Exec, |tool| tool.effect.into())
    }
}

/// Returns milliseconds since 1970.
pub(crate) fn millis(at: SystemTime) -> i64 {
    let since = |later: SystemTime, earlier: SystemTime| {
        later.duration_since(earlier).ok().and_then(|it| i64::try_from(it.as_millis()).ok())
    };
    let epoch = SystemTime::UNIX_EPOCH;
    since(at, epoch).or_else(|| since(epoch, at).map(|it| -it)).unwrap_or_default()
}

/// Returns the line for what a call is about.
pub(crate) fn about(path: Option<&str>, parameters: &str) -> String {
    let named = || {
        let value: serde_json::Value = serde_json::from_str(parameters).ok()?;
        let names = ["command", "pattern", "path", "tag", "name", "snapshot", "from", "at", "code"];
        names.into_iter().find_map(|name| value[name].as_str().map(str::to_owned))
    };
    let text = match path.filter(|path| !path.is_empty()) {
        Some(path) => path.to_owned(),
        None => named().unwrap_or_default(),
    };
    text.lines().next().unwrap_or_default().chars().take(MOST_ABOUT).collect()
}

/// One call of a running server, with the beginnings of what was sent and answered.
#[derive(Clone, Debug)]
pub(crate) struct CallRecord {
    pub(crate) summary: CallSummary,
    pub(crate) at: SystemTime,
    pub(crate) took: Duration,
    pub(crate) parameters: BoundedText,
    pub(crate) result: BoundedText,
    /// The actor of its operations.
    pub(crate) by: String,
}

/// A call that has just ended.
#[derive(Debug)]
pub(crate) struct EndedCall<'c> {
    pub(crate) at: SystemTime,
    pub(crate) took: Duration,
    pub(crate) tool: &'static wink_agent::Tool,
    pub(crate) path: &'c str,
    pub(crate) parameters: &'c str,
    pub(crate) result: &'c str,
    pub(crate) error: Option<&'static str>,
    /// The exit code of the program that it ran.
    pub(crate) exit: Option<i64>,
    pub(crate) fork: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) by: String,
    pub(crate) changed: bool,
}

/// The calls of a running server; a clone has the same ones. It keeps none until something shows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallLog(Arc<Mutex<Calls>>);

#[derive(Debug, Default)]
struct Calls {
    count: u64,
    bytes: usize,
    calls: VecDeque<CallRecord>,
    /// Where new calls are reported, if a page shows them.
    feed: Option<RunFeed>,
}

impl CallLog {
    /// Begins to keep calls, and reports each.
    pub(crate) fn report_to(&self, feed: RunFeed) {
        lock(&self.0).feed = Some(feed);
    }

    /// Returns whether calls are kept: a process with one client over stdio has no page.
    pub(crate) fn is_kept(&self) -> bool {
        lock(&self.0).feed.is_some()
    }

    /// Adds a call; the oldest ones go when there are too many.
    pub(crate) fn add(&self, call: EndedCall<'_>) {
        let mut calls = lock(&self.0);
        let Some(feed) = calls.feed.clone() else { return };
        calls.count += 1;
        let failed_program = call.exit.filter(|exit| *exit != 0);
        let code = call.error.map(str::to_owned);
        let summary = CallSummary {
            id: calls.count.to_string(),
            at: millis(call.at),
            us: call.took.as_micros().try_into().unwrap_or(u64::MAX),
            tool: call.tool.name.to_owned(),
            kind: call.tool.effect.into(),
            ok: call.error.is_none() && failed_program.is_none(),
            code: code.or_else(|| failed_program.map(|exit| format!("exit {exit}"))),
            about: about(Some(call.path), call.parameters),
            fork: call.fork,
            turn: 0,
            session: call.session,
            before: call.before,
            after: call.after,
            changed: call.changed,
        };
        feed.call(&summary);
        let record = CallRecord {
            summary,
            at: call.at,
            took: call.took,
            parameters: BoundedText::new(call.parameters, MOST_TEXT),
            result: BoundedText::new(call.result, MOST_TEXT),
            by: call.by,
        };
        calls.bytes += size(&record);
        calls.calls.push_back(record);
        while calls.calls.len() > MOST || calls.bytes > MOST_BYTES {
            let Some(oldest) = calls.calls.pop_front() else { break };
            calls.bytes -= size(&oldest);
        }
    }

    /// Returns the calls, oldest first.
    pub(crate) fn all(&self) -> Vec<CallRecord> {
        lock(&self.0).calls.iter().cloned().collect()
    }

    /// Returns their lines in the list, oldest first.
    pub(crate) fn summaries(&self) -> Vec<CallSummary> {
        lock(&self.0).calls.iter().map(|it| it.summary.clone()).collect()
    }

    /// Returns a call by its id.
    pub(crate) fn get(&self, id: &str) -> Option<CallRecord> {
        lock(&self.0).calls.iter().find(|it| it.summary.id == id).cloned()
    }
}

fn size(call: &CallRecord) -> usize {
    call.parameters.text.len() + call.result.text.len()
}

impl CallSummary {
    /// Makes the line of a call in a dump.
    pub(crate) fn of_dump(number: usize, call: &ToolInvoked, session: &str) -> Self {
        let kind = CallKind::of_tool(&call.tool);
        Self {
            id: number.to_string(),
            at: millis(call.at),
            us: call.duration_us,
            tool: call.tool.clone(),
            kind,
            ok: call.success,
            code: (!call.success).then(|| "failed".to_owned()),
            about: about(call.path.as_deref(), &call.parameters.text),
            fork: fork_of(&call.parameters.text),
            turn: call.turn,
            session: Some(session.to_owned()),
            before: call.snapshot_before.clone(),
            after: call.snapshot_after.clone(),
            changed: call.success && kind != CallKind::Read,
        }
    }

    /// Makes the line of an operation that no call here made.
    pub(crate) fn of_operation(operation: &OperationRecord) -> Self {
        let path = operation.changes.first().map(|it| it.path.to_string());
        let more = operation.changes.len().saturating_sub(1);
        let about = match (path, more) {
            (Some(path), 0) => path,
            (Some(path), more) => format!("{path} and {more} more"),
            (None, _) => String::new(),
        };
        let tool = match operation.cause {
            OperationCause::Undo { of } => format!("undo of {of}"),
            OperationCause::Redo { of } => format!("redo of {of}"),
            _ => operation.name.clone(),
        };
        Self {
            id: format!("op:{}", operation.sequence),
            at: millis(operation.at),
            us: 0,
            tool,
            kind: CallKind::Write,
            ok: true,
            code: None,
            about,
            fork: None,
            turn: 0,
            session: None,
            before: None,
            after: None,
            changed: !operation.changes.is_empty(),
        }
    }
}

fn fork_of(parameters: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(parameters).ok()?;
    value["fork"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(log: &CallLog, parameters: &str) {
        log.add(EndedCall {
            at: SystemTime::UNIX_EPOCH + Duration::from_millis(1_500),
            took: Duration::from_micros(7),
            tool: wink_agent::find("ls").expect("a tool"),
            path: "",
            parameters,
            result: "",
            error: None,
            exit: None,
            fork: None,
            session: None,
            before: None,
            after: None,
            by: "test".to_owned(),
            changed: false,
        });
    }

    #[test]
    fn the_oldest_calls_go_first() {
        let log = CallLog::default();
        call(&log, "{}");
        assert!(log.all().is_empty(), "nothing shows it");
        log.report_to(RunFeed::default());
        (0..MOST + 3).for_each(|_| call(&log, "{}"));
        let all = log.all();
        assert_eq!((all.len(), all[0].summary.id.as_str()), (MOST, "4"));
        assert_eq!((all[0].summary.at, all[0].summary.us), (1_500, 7));
        assert!(log.get("3").is_none() && log.get("4").is_some());
    }

    #[test]
    fn long_parameters_take_bounded_space() {
        let log = CallLog::default();
        log.report_to(RunFeed::default());
        call(&log, &"x".repeat(100_000));
        let kept = log.get("1").expect("a call").parameters;
        assert_eq!((kept.text.len(), kept.full_bytes), (MOST_TEXT, 100_000));
    }

    #[test]
    fn a_call_is_about_its_path_or_what_names_it() {
        assert_eq!(about(Some("src/a.rs"), "{}"), "src/a.rs");
        assert_eq!(about(None, r#"{"command":"cargo test\nls"}"#), "cargo test");
        assert_eq!(about(Some(""), r#"{"tag":"first"}"#), "first");
        assert_eq!(about(None, "not JSON"), "");
    }
}
