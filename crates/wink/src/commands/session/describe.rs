//! Describes a session from its dump.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde::de::IgnoredAny;
use wink_agent::session::{Session, SessionError, ToolInvoked, write_session_tree};

use crate::ui::format;

/// One line of a dump; other fields are ignored.
#[derive(Deserialize)]
struct Line {
    session_id: String,
    #[serde(default)]
    slices: Vec<SliceLine>,
}

#[derive(Deserialize)]
struct SliceLine {
    name: String,
    kind: String,
    items: Vec<IgnoredAny>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SessionEntry {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    /// How many sessions are above it.
    pub(super) depth: u64,
    pub(super) created_at: String,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) slices: Vec<SliceEntry>,
    /// Oldest first.
    pub(super) tool_calls: Vec<ToolCallEntry>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SliceEntry {
    pub(super) name: String,
    /// `state` or `log`.
    pub(super) kind: String,
    pub(super) items: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ToolCallEntry {
    pub(super) tool: String,
    pub(super) turn: u64,
    pub(super) at: String,
    pub(super) path: Option<String>,
    pub(super) success: bool,
    pub(super) duration_us: u64,
}

/// Describes a session and its children, each after its parent.
pub(super) fn tree(root: &Session) -> Result<Vec<SessionEntry>, SessionError> {
    let slices = slices(root)?;
    root.walk().iter().map(|session| entry(session, root, &slices)).collect()
}

fn slices(root: &Session) -> Result<BTreeMap<String, Vec<SliceEntry>>, SessionError> {
    let mut dump = Vec::new();
    write_session_tree(root, &mut dump)?;
    let lines =
        dump.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let slice = |it: &SliceLine| SliceEntry {
        name: it.name.clone(),
        kind: it.kind.clone(),
        items: it.items.len() as u64,
    };
    let described = |line: Line| (line.session_id, line.slices.iter().map(slice).collect());
    Ok(lines.map(described).collect())
}

fn entry(
    session: &Session,
    root: &Session,
    slices: &BTreeMap<String, Vec<SliceEntry>>,
) -> Result<SessionEntry, SessionError> {
    let id = session.id().to_string();
    let above = std::iter::successors(session.parent(), Session::parent);
    let depth = if session.is_same(root) { 0 } else { above.count() as u64 };
    let calls = session.query::<ToolInvoked>()?;
    Ok(SessionEntry {
        slices: slices.get(&id).cloned().unwrap_or_default(),
        id,
        parent: session.parent_id().map(|id| id.to_string()),
        depth,
        created_at: format::utc(session.created_at()),
        tags: session.tags().clone(),
        tool_calls: calls.all().map(|call| tool_call(call)).collect(),
    })
}

fn tool_call(call: &ToolInvoked) -> ToolCallEntry {
    ToolCallEntry {
        tool: call.tool.clone(),
        turn: call.turn,
        at: format::utc(call.at),
        path: call.path.clone(),
        success: call.success,
        duration_us: call.duration_us,
    }
}
