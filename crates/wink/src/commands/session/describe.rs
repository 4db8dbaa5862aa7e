//! What a session holds, as anybody can read it from its dump.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use wink_agent::session::{Session, SessionError, ToolInvoked, write_session_tree};

use crate::json::{SessionEntry, SliceEntry, ToolCallEntry};
use crate::ui::format;

/// One line of a dump; what is not needed here is passed over.
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

/// Describes a session and all below it, each after the one above it.
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
