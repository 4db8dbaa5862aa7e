//! One call from its beginning to its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use serde_json::Value;
use wink_fs::{ErrorKind, SnapshotId, Workspace};

use crate::call_id;
use crate::context::ToolContext;
use crate::refusal::Refusal;
use crate::result::ToolResult;
use crate::session::{Session, ToolInvoked};
use crate::tool::Tool;
use crate::tool_call::ToolCall;

/// Runs a tool: what it did is told to the session, whether it went well or not.
pub(crate) fn run(tool: &Tool, context: &ToolContext, arguments: Value) -> ToolResult {
    let Some(session) = &context.session else { return attempt(tool, context, arguments) };
    let (began, record) = (Instant::now(), begun(tool.name, session, context, &arguments));
    let before = current(context);
    let result = attempt(tool, context, arguments);
    let record = record.result(&result.message, result.ok()).duration(began.elapsed());
    tell(session, context, record.snapshots(before, current(context)));
    result
}

/// Refuses a call that no tool can take; the session is told of it all the same.
pub(crate) fn refuse(
    name: &str,
    context: &ToolContext,
    arguments: &Value,
    refusal: Refusal,
) -> ToolResult {
    let result = ToolResult::from(refusal);
    if let Some(session) = &context.session {
        let (record, current) = (begun(name, session, context, arguments), current(context));
        let record = record.result(&result.message, false).snapshots(current, current);
        tell(session, context, record);
    }
    result
}

fn begun(name: &str, session: &Session, context: &ToolContext, arguments: &Value) -> ToolInvoked {
    let id = context.call_id.clone().unwrap_or_else(call_id::next);
    let record = ToolInvoked::new(id, name, session.now()).turn(context.turn);
    described(record.parameters(&arguments.to_string()), arguments)
}

/// Returns the snapshot that the files were last kept in or made of.
fn current(context: &ToolContext) -> Option<SnapshotId> {
    context.workspace.as_ref().and_then(Workspace::known_snapshot_id)
}

/// Refuses what may not begin, and makes a result of whatever comes out.
fn attempt(tool: &Tool, context: &ToolContext, arguments: Value) -> ToolResult {
    let call = match begin(tool, context) {
        Ok(call) => call,
        Err(refusal) => return refusal.into(),
    };
    let done = catch_unwind(AssertUnwindSafe(|| tool.run(&call, arguments)));
    call.ended(done.unwrap_or_else(|_| Err(broke_off(tool))))
}

fn begin<'c>(tool: &'c Tool, context: &'c ToolContext) -> Result<ToolCall<'c>, Refusal> {
    context.check_cancelled()?;
    context.time_left()?;
    context.budget.iter().try_for_each(|budget| budget.spend())?;
    ToolCall::new(tool, context)
}

fn broke_off(tool: &Tool) -> Refusal {
    let message = format!(
        "`{}` failed unexpectedly; look at the files before you try another way.",
        tool.name
    );
    Refusal::new(ErrorKind::Io, message)
}

/// Adds what the parameters say of a path and a mode.
fn described(mut record: ToolInvoked, arguments: &Value) -> ToolInvoked {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    if let Some(path) = ["path", "file_path", "filePath", "from"].into_iter().find_map(text) {
        record = record.path(path);
    }
    match text("mode") {
        Some(mode) => record.mode(mode),
        None => record,
    }
}

/// Tells the session of the call and of the files it changed.
///
/// The call is done: a session that cannot be told does not unmake it.
fn tell(session: &Session, context: &ToolContext, record: ToolInvoked) {
    let _ = session.dispatch(record);
    if let Some(follower) = &context.follower {
        let _ = follower.update();
    }
}
