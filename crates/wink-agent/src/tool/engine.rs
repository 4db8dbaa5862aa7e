//! One call from its beginning to its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use wink_fs::{ErrorKind, SnapshotId, Workspace};

use crate::schema::aliases;
use crate::session::{Session, ToolInvoked};
use crate::tool::Tool;
use crate::tool::budget::Budget;
use crate::tool::call::ToolCall;
use crate::tool::call_id;
use crate::tool::context::ToolContext;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;

/// Runs a tool: what it did is told to the session, whether it went well or not.
pub(crate) fn run(tool: &Tool, context: &ToolContext, arguments: Value) -> ToolResult {
    let Some(session) = &context.session else { return attempt(tool, context, arguments) };
    let (began, record) = (Instant::now(), begun(tool.name, session, context, &arguments));
    let record = match aliases::mode_of(tool.input_schema(), &arguments) {
        Some(mode) => record.mode(mode),
        None => record,
    };
    let before = current(context);
    let result = attempt(tool, context, arguments);
    let record = record.result(&result.message, result.ok()).duration(began.elapsed());
    tell(session, context, record.snapshots(before, current(context)));
    result
}

/// Refuses a call that no tool can take; it counts, and the session is told of it, all the same.
pub(crate) fn refuse(
    name: &str,
    context: &ToolContext,
    arguments: &Value,
    refusal: ToolError,
) -> ToolResult {
    let result = ToolResult::from(counted(context).err().unwrap_or(refusal));
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
    let mut record = record.parameters(&parameters(context, arguments));
    if let Some(path) = aliases::path_of_call(name, arguments) {
        record = record.path(path);
    }
    record
}

/// Returns the parameters as JSON, with the fork that the call is about.
fn parameters(context: &ToolContext, arguments: &Value) -> String {
    let written = match (&context.fork, arguments) {
        (Some(fork), Value::Object(arguments)) => {
            let mut all = arguments.clone();
            all.insert("fork".to_owned(), fork.as_str().into());
            serde_json::to_string(&all)
        }
        // The same as by its `to_string`, in a fraction of the time.
        _ => serde_json::to_string(arguments),
    };
    // What was read as JSON can be written as JSON.
    written.unwrap_or_default()
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
    let done = catch_unwind(AssertUnwindSafe(|| call.run(arguments)));
    let done = done.unwrap_or_else(|_| Err(broke_off(tool)));
    call.ended(
        done.map_err(|refusal| refusal.naming_also(tool.input_schema(), context.caller_parameters)),
    )
}

fn begin<'c>(tool: &'c Tool, context: &'c ToolContext) -> Result<ToolCall<'c>, ToolError> {
    context.follower.iter().try_for_each(|it| context.check_session(it.session(), tool.name))?;
    counted(context)?;
    ToolCall::new(tool, context)
}

/// Counts a call, or refuses it where none may be made any more.
fn counted(context: &ToolContext) -> Result<(), ToolError> {
    context.check_cancelled()?;
    context.time_left()?;
    context.budget.iter().try_for_each(Budget::spend)
}

fn broke_off(tool: &Tool) -> ToolError {
    let message = format!(
        "`{}` failed unexpectedly; look at the files before you try another way.",
        tool.name
    );
    ToolError::new(ErrorKind::Io, message)
}

/// Tells the session of the call and of the files it changed.
///
/// The call is done: a session that cannot be told does not unmake it.
fn tell(session: &Session, context: &ToolContext, record: ToolInvoked) {
    let record = Arc::new(record);
    if session.apply(&record).is_ok() {
        session.publish(&*record);
    }
    if let Some(follower) = &context.follower {
        let _ = follower.update();
    }
}
