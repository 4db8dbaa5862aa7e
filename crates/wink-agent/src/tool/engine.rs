//! One call of a tool, from its arguments to its record in the session.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use serde_json::Value;
use uuid::Uuid;
use wink_fs::{CallOperations, ErrorKind, StateRef, Workspace};

use crate::schema::aliases;
use crate::session::{Session, ToolInvoked};
use crate::tool::Tool;
use crate::tool::budget::Budget;
use crate::tool::call::ToolCall;
use crate::tool::context::ToolContext;
use crate::tool::control_characters;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;

impl Tool {
    /// Calls the tool, and records the call in the session; a failure is a result too, worded for the model.
    pub fn call(&self, context: &ToolContext, arguments: Value) -> ToolResult {
        let Some(session) = &context.session else {
            let operations = context.call_id.clone().map(CallOperations::new);
            return attempt(self, context, operations, arguments);
        };
        let began = Instant::now();
        let mut record = begun(self.name, session, context, &arguments);
        if let Some(mode) = aliases::mode_of(self.input_schema(), &arguments) {
            record = record.mode(mode);
        }
        let operations = CallOperations::new(record.call_id.clone());
        let before = current(context);
        let result = attempt(self, context, Some(operations.clone()), arguments);
        let record = record.result(&result.message, result.ok()).duration(began.elapsed());
        let done = operations.numbers();
        let states = states_around(&done, before, current(context));
        tell(session, context, record.states(states.0, states.1).operations(done));
        result
    }
}

/// Returns the states before and after a call with these operations, where `known` are the states that the process
/// knew then.
///
/// What another process or program changed since the known state is no part of the call, so its operations tell.
fn states_around(
    operations: &[u64],
    known_before: Option<StateRef>,
    known_after: Option<StateRef>,
) -> (Option<StateRef>, Option<StateRef>) {
    let (Some(first), Some(last)) = (operations.first(), operations.last()) else {
        return (known_before, known_after);
    };
    let after = match known_after {
        Some(StateRef::Snapshot(id)) => StateRef::Snapshot(id),
        _ => StateRef::AfterOperation(*last),
    };
    (Some(StateRef::BeforeOperation(*first)), Some(after))
}

/// Fails a call of a tool that does not exist; it counts and is recorded like any other.
pub(crate) fn refuse(
    name: &str,
    context: &ToolContext,
    arguments: &Value,
    refusal: ToolError,
) -> ToolResult {
    let result = ToolResult::from(counted(context).err().unwrap_or(refusal));
    if let Some(session) = &context.session {
        let record = begun(name, session, context, arguments);
        let current = current(context);
        let record = record.result(&result.message, false).states(current.clone(), current);
        tell(session, context, record);
    }
    result
}

fn begun(name: &str, session: &Session, context: &ToolContext, arguments: &Value) -> ToolInvoked {
    let id = context.call_id.clone().unwrap_or_else(new_call_id);
    let record = ToolInvoked::new(id, name, session.now()).turn(context.turn);
    let mut record = record.parameters(&parameters(context, arguments));
    if let Some(path) = aliases::path_of_call(name, arguments) {
        record = record.path(path);
    }
    record
}

/// Returns the parameters as JSON, with the fork of the call.
fn parameters(context: &ToolContext, arguments: &Value) -> String {
    let written = match (&context.fork, arguments) {
        (Some(fork), Value::Object(arguments)) => {
            let mut all = arguments.clone();
            all.insert("fork".to_owned(), fork.as_str().into());
            serde_json::to_string(&all)
        }
        // Faster than `Value::to_string`, with the same result.
        _ => serde_json::to_string(arguments),
    };
    // What was read as JSON can be written as JSON.
    written.unwrap_or_default()
}

/// Returns the state that the files are in.
fn current(context: &ToolContext) -> Option<StateRef> {
    context.workspace.as_ref().and_then(Workspace::known_state)
}

/// Runs the tool if it may begin; errors and panics become results.
fn attempt(
    tool: &Tool,
    context: &ToolContext,
    operations: Option<Arc<CallOperations>>,
    arguments: Value,
) -> ToolResult {
    let call = match begin(tool, context, operations) {
        Ok(call) => call,
        Err(refusal) => return refusal.into(),
    };
    let done = catch_unwind(AssertUnwindSafe(|| call.run(arguments)));
    let done = done.unwrap_or_else(|_| Err(broke_off(tool)));
    let mut result =
        call.ended(done.map_err(|refusal| {
            refusal.naming_also(tool.input_schema(), context.caller_parameters)
        }));
    if let Some(escaped) = control_characters::escaped(&result.message) {
        result.message = escaped;
    }
    result
}

fn begin<'c>(
    tool: &'c Tool,
    context: &'c ToolContext,
    operations: Option<Arc<CallOperations>>,
) -> Result<ToolCall<'c>, ToolError> {
    context.follower.iter().try_for_each(|it| context.check_session(it.session(), tool.name))?;
    counted(context)?;
    ToolCall::new(tool, context, operations)
}

/// Counts a call; an error if it is cancelled, late or over budget.
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

/// Records the call and the files that it changed in the session.
///
/// The call is done: a session that fails to record it does not undo it.
fn tell(session: &Session, context: &ToolContext, record: ToolInvoked) {
    let record = Arc::new(record);
    if session.apply(&record).is_ok() {
        session.publish(&*record);
    }
    if let Some(follower) = &context.follower {
        let _ = follower.update();
    }
}

/// Where this process begins to count. Asking the system for random bytes with each call takes longer than
/// recording the call.
static FIRST: LazyLock<u128> = LazyLock::new(|| Uuid::new_v4().as_u128());
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Returns an id for a call that came without one.
fn new_call_id() -> String {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let bytes = FIRST.wrapping_add(u128::from(number)).to_be_bytes();
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_uuids_and_differ() {
        let ids: HashSet<String> = (0..10_000).map(|_| new_call_id()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.parse::<Uuid>().is_ok_and(|id| id.get_version_num() == 4)));
    }
}
