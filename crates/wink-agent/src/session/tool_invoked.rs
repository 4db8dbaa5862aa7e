//! The record of a tool call.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wink_fs::StateRef;

use super::moment;
use super::slices::bounded::BoundedText;
use super::slices::slice::{Slice, SliceKind};

/// How many bytes of the parameters, and how many of the result, are kept.
const MAX_TEXT_BYTES: usize = 4096;

/// The record of one tool call, whether it succeeded or not.
///
/// Every session records them in a log, which a rollback keeps: the calls did happen.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use wink_agent::session::{Session, ToolInvoked};
///
/// let session = Session::new();
/// let call = ToolInvoked::new("call-1", "write_file", SystemTime::now())
///     .turn(5)
///     .parameters(r#"{"path":"a.txt","content":"hello"}"#)
///     .path("a.txt")
///     .mode("overwrite")
///     .result("Created a.txt with 5 bytes.", true)
///     .duration(Duration::from_millis(3));
/// session.dispatch(call)?;
/// assert!(session.query::<ToolInvoked>()?.latest().unwrap().success);
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolInvoked {
    /// The id that the call had.
    pub call_id: String,
    /// The turn of the conversation that it belongs to, from 1; 0 if there are no turns.
    pub turn: u64,
    /// When it began, to the millisecond.
    #[serde(with = "moment")]
    pub at: SystemTime,
    /// The name of the tool.
    pub tool: String,
    /// The beginning of its parameters, as JSON.
    pub parameters: BoundedText,
    /// The beginning of the result's message, with the size of the whole.
    pub result: BoundedText,
    /// The path argument, if there is one.
    pub path: Option<String>,
    /// The mode argument, if there is one.
    pub mode: Option<String>,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// Whether it succeeded.
    pub success: bool,
    /// The name of the state before it: the id of a snapshot, `op:N` or `op:N-` (before operation N). `None` if there was
    /// neither a snapshot nor an operation yet.
    pub snapshot_before: Option<String>,
    /// The name of the state after it, in the same way.
    pub snapshot_after: Option<String>,
    /// The numbers of the operations by which it changed files; the operations carry the id of the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<u64>,
    /// The fields of a dump that this version does not know, which are written back unchanged.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Slice for ToolInvoked {
    const NAME: &'static str = "tool_invoked";
    const KIND: SliceKind = SliceKind::Log;
}

impl ToolInvoked {
    /// Creates the record of a call that has no result yet.
    pub fn new(call_id: impl Into<String>, tool: impl Into<String>, at: SystemTime) -> Self {
        Self {
            call_id: bounded(call_id),
            turn: 0,
            at: moment::to_millis(at),
            tool: tool.into(),
            parameters: BoundedText::default(),
            result: BoundedText::default(),
            path: None,
            mode: None,
            duration_us: 0,
            success: false,
            snapshot_before: None,
            snapshot_after: None,
            operations: Vec::new(),
            rest: Map::new(),
        }
    }

    /// Sets the turn of the conversation.
    #[must_use]
    pub fn turn(mut self, turn: u64) -> Self {
        self.turn = turn;
        self
    }

    /// Sets the parameters, of which 4,096 bytes are kept.
    #[must_use]
    pub fn parameters(mut self, json: &str) -> Self {
        self.parameters = BoundedText::new(json, MAX_TEXT_BYTES);
        self
    }

    /// Sets the message of the result, of which 4,096 bytes are kept, and whether the call succeeded.
    #[must_use]
    pub fn result(mut self, message: &str, success: bool) -> Self {
        self.result = BoundedText::new(message, MAX_TEXT_BYTES);
        self.success = success;
        self
    }

    /// Sets the path argument, of which 4,096 bytes are kept.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(bounded(path));
        self
    }

    /// Sets the mode argument, of which 4,096 bytes are kept.
    #[must_use]
    pub fn mode(mut self, mode: impl Into<String>) -> Self {
        self.mode = Some(bounded(mode));
        self
    }

    /// Sets how long it took.
    #[must_use]
    pub fn duration(mut self, duration: Duration) -> Self {
        self.duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self
    }

    /// Sets the states before and after it.
    #[must_use]
    pub fn states(mut self, before: Option<StateRef>, after: Option<StateRef>) -> Self {
        self.snapshot_before = before.map(|id| id.to_string());
        self.snapshot_after = after.map(|id| id.to_string());
        self
    }

    /// Sets the operations by which it changed files.
    #[must_use]
    pub fn operations(mut self, numbers: Vec<u64>) -> Self {
        self.operations = numbers;
        self
    }
}

/// Truncates what a model sent, because it stays in the session.
fn bounded(text: impl Into<String>) -> String {
    let mut text = text.into();
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    text
}
