//! One call of a tool, as the tool's function sees it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::Value;
use wink_fs::search::Stop;
use wink_fs::{
    CallOperations, ContentHash, ErrorKind, Filesystem, Limits, Properties, Tree, TreePath,
    Workspace,
};

use crate::file_index::Changing;
use crate::history::changes;
use crate::policy::RuledFilesystem;
use crate::session::{PendingEvents, Session, SessionError};
use crate::tool::context::ToolContext;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Tool};
use crate::util::lock;

/// The parameter by which a caller names the fork that a call works in.
const FORK: &str = "fork";

/// Gives a tool's function what it may use: the files, and changes to them if its effect allows.
///
/// Paths that the rules of the context deny do not exist here. All changes in one [`change`](Self::change) are one
/// operation. An operation that fails is rolled back, and so are all operations of a call that fails later.
///
/// A tool may query its session, and changes it only by [`dispatch`](Self::dispatch). A direct change is refused,
/// because it would stay if the call fails.
pub struct ToolCall<'c> {
    tool: &'c Tool,
    context: &'c ToolContext,
    workspace: Workspace,
    /// What the workspace collects for the record of the call.
    recorded: Option<Arc<CallOperations>>,
    /// The operations of the call so far.
    operations: Mutex<Vec<u64>>,
    /// Whether it may have changed files that cannot be rolled back, because there is no history.
    stays: AtomicBool,
    /// Events for the session, dispatched when the call succeeds.
    events: Mutex<PendingEvents>,
}

impl<'c> ToolCall<'c> {
    pub(crate) fn new(
        tool: &'c Tool,
        context: &'c ToolContext,
        recorded: Option<Arc<CallOperations>>,
    ) -> Result<Self, ToolError> {
        let workspace = for_call(context.files()?, recorded.as_ref());
        let stays = AtomicBool::new(false);
        let operations = Mutex::default();
        let events = Mutex::default();
        Ok(Self { tool, context, workspace, recorded, operations, stays, events })
    }

    /// Runs the tool's function.
    pub(crate) fn run(&self, arguments: Value) -> Result<ToolResult, ToolError> {
        let _in_call = self.context.session.as_ref().map(Session::begin_call);
        self.tool.run.call(self, arguments)
    }

    /// Dispatches an event into the session when the call succeeds; if it fails, no subscriber is notified.
    ///
    /// Either all events of a call change the session, or none. If a reducer panics, the call fails.
    ///
    /// ```
    /// use serde::{Deserialize, Serialize};
    /// use serde_json::json;
    /// use wink_agent::session::{Session, Slice, reducers};
    /// use wink_agent::{Effect, Tool, ToolContext, ToolResult};
    ///
    /// #[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
    /// struct Fact {
    ///     text: String,
    /// }
    ///
    /// impl Slice for Fact {
    ///     const NAME: &'static str = "fact";
    /// }
    ///
    /// let learn = Tool::new("learn", "Remembers a fact.", Effect::Reads, |call, fact: Fact| {
    ///     call.dispatch(fact);
    ///     Ok(ToolResult::success("Learnt.".to_owned(), json!({})))
    /// });
    /// let (session, files) = (Session::new(), wink_fs::Workspace::memory());
    /// session.register(reducers::append_all::<Fact>)?;
    /// learn.call(&ToolContext::over(&files).session(&session), json!({"text": "water is wet"}));
    /// assert_eq!(session.query::<Fact>()?.len(), 1);
    /// # Ok::<(), wink_agent::session::SessionError>(())
    /// ```
    pub fn dispatch<E: Send + Sync + 'static>(&self, event: E) {
        lock(&self.events).add(event);
    }

    /// Returns the context of the call.
    pub fn context(&self) -> &'c ToolContext {
        self.context
    }

    /// Returns the properties of the workspace.
    pub fn properties(&self) -> &Properties {
        self.workspace.properties()
    }

    /// Returns the limits of the workspace.
    pub fn limits(&self) -> &Limits {
        &self.properties().limits
    }

    /// Parses a path that a model sent.
    pub fn path(&self, text: &str) -> Result<TreePath, ToolError> {
        Ok(self.workspace.path(text)?)
    }

    /// Adds the fork of this call to the arguments of the call that continues it.
    pub(crate) fn next(&self, mut arguments: Value) -> Value {
        if let Some(fork) = &self.context.fork
            && self.takes_fork()
        {
            arguments[FORK] = fork.as_str().into();
        }
        arguments
    }

    /// Returns whether callers can name the fork that a call works in.
    pub(crate) fn takes_fork(&self) -> bool {
        self.context.caller_parameters.contains(&FORK)
    }

    /// Returns the files, for reading.
    pub fn tree(&self) -> Arc<dyn Tree> {
        self.context.ruled(self.workspace.tree())
    }

    /// Returns the files without the excluded ones, as an archive or a snapshot holds them.
    pub(crate) fn tree_to_keep(&self) -> Arc<dyn Tree> {
        self.context.ruled(self.workspace.tree_without_excluded())
    }

    /// Changes files as one operation; if `work` fails or panics, nothing has changed.
    ///
    /// If the call fails later, this is rolled back too, except for what another program changed since.
    /// A workspace without a history cannot roll back several changes: there each single change is atomic, and the
    /// error of the call says so.
    pub fn change<T, E: Into<ToolError>>(
        &self,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T, E>,
    ) -> Result<T, ToolError> {
        if self.tool.effect == Effect::Reads {
            return Err(read_only(self.tool));
        }
        let rules = &*self.context.rules;
        let _changing = Changing::begin();
        let (done, operation) =
            self.workspace.as_agent_operation(self.tool.name, |fs: &mut dyn Filesystem| {
                self.context.check_cancelled()?;
                let done = self.caught(move || {
                    if rules.is_empty() {
                        work(fs)
                    } else {
                        work(&mut RuledFilesystem { inner: fs, rules })
                    }
                });
                // A built-in tool that fails has changed nothing, or has rolled it back by itself.
                if done.is_ok() || !self.tool.is_built_in() {
                    self.may_have_changed();
                }
                let done = done?;
                // An error here rolls the whole operation back.
                self.context.check_cancelled()?;
                Ok::<_, ToolError>(done)
            })?;
        self.changed().extend(operation);
        Ok(done)
    }

    fn changed(&self) -> MutexGuard<'_, Vec<u64>> {
        lock(&self.operations)
    }

    /// Ends the call: one that failed is rolled back.
    pub(crate) fn ended(&self, result: Result<ToolResult, ToolError>) -> ToolResult {
        let told = result.and_then(|done| self.dispatch_events(done));
        let mut result = told.unwrap_or_else(ToolResult::from);
        let changed = std::mem::take(&mut *self.changed());
        // However long it takes: the deadline bounds the work of the call, not its rollback.
        if let (false, false, Some(files)) =
            (result.ok(), changed.is_empty(), &self.context.workspace)
        {
            let files = for_call(files.clone(), self.recorded.as_ref());
            result.message += &rollback_remainder(files.retract(&changed));
        }
        if !result.ok() && self.stays.load(Ordering::Relaxed) {
            without_rollback_note(result)
        } else {
            result
        }
    }

    /// Notes that files may have changed, which only a workspace with a history can roll back.
    pub(crate) fn may_have_changed(&self) {
        if !self.context.has_history() {
            self.stays.store(true, Ordering::Relaxed);
        }
    }

    /// Dispatches the events of a call that succeeded.
    fn dispatch_events(&self, done: ToolResult) -> Result<ToolResult, ToolError> {
        let events = std::mem::take(&mut *lock(&self.events));
        let told = match &self.context.session {
            Some(session) if done.ok() => events.dispatch(session),
            _ => Ok(()),
        };
        told.map(|()| done).map_err(|error| dispatch_failed(self.tool, &error))
    }

    /// Turns a panic into an error.
    pub(crate) fn caught<T, E: Into<ToolError>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, ToolError> {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(done) => done.map_err(Into::into),
            Err(_) => {
                self.may_have_changed();
                Err(panicked(self.tool, self.context.has_history()))
            }
        }
    }

    /// Returns the name of the call's operations.
    pub(crate) fn name(&self) -> &'static str {
        self.tool.name
    }

    /// Returns the workspace itself, for tools that replace all files; an error if rules deny some of them.
    pub(crate) fn everything(&self) -> Result<&Workspace, ToolError> {
        if self.context.rules.is_empty() {
            Ok(&self.workspace)
        } else {
            Err(ToolError::new(
                ErrorKind::PermissionDenied,
                format!(
                    "`{}` works on all files, and the rules of this session deny some; use the file tools.",
                    self.tool.name
                ),
            ))
        }
    }

    /// Returns when long work must stop: after `at_most`, at the deadline of the context, or when the caller cancels.
    pub fn stop(&self, at_most: Duration) -> Result<Stop, ToolError> {
        let left = self.context.time_left()?.unwrap_or(at_most);
        let stop = Stop::after(at_most.min(left));
        Ok(match &self.context.cancelled {
            Some(flag) => stop.or_when(flag.clone()),
            None => stop,
        })
    }

    /// Remembers that the session has seen a content.
    pub fn saw(&self, hash: ContentHash) {
        if let Some(seen) = &self.context.seen {
            seen.note(hash);
        }
    }

    /// Returns whether the session remembers what it has seen.
    pub(crate) fn remembers(&self) -> bool {
        self.context.seen.is_some()
    }

    /// Returns whether the session has seen a content; without a session, never.
    pub fn has_seen(&self, hash: &ContentHash) -> bool {
        self.context.seen.as_ref().is_some_and(|seen| seen.contains(hash))
    }
}

fn for_call(files: Workspace, recorded: Option<&Arc<CallOperations>>) -> Workspace {
    recorded.map(|call| files.for_call(call)).unwrap_or(files)
}

/// Describes what the rollback of a failed call left behind.
fn rollback_remainder(taken_back: wink_fs::Result<Vec<TreePath>>) -> String {
    match taken_back {
        Ok(left) if left.is_empty() => String::new(),
        Ok(left) => format!(
            "\nThe changes of this call were rolled back, except for paths that other programs changed since:{}",
            changes::listed(&left)
        ),
        Err(error) => format!("\nThe changes of this call could not be rolled back ({error})."),
    }
}

/// Adds that without a history nothing was rolled back.
fn without_rollback_note(mut result: ToolResult) -> ToolResult {
    if result.error == Some(ErrorKind::Cancelled) {
        result.message = "The call was cancelled.".to_owned();
    }
    result.message += "\nThis workspace keeps no history, so earlier changes of this call may not be rolled back; \
                       look at the files.";
    result
}

/// Fails a call whose events the session refused; the reason is for the program, not for a model.
fn dispatch_failed(tool: &Tool, error: &SessionError) -> ToolError {
    let message = format!(
        "`{}` failed, because its session could not record what it did; try another way.",
        tool.name
    );
    ToolError::new(error.kind(), message)
}

impl fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ToolCall");
        shown.field("tool", &self.tool).field("context", &self.context).finish_non_exhaustive()
    }
}

fn read_only(tool: &Tool) -> ToolError {
    let message = format!("`{}` is declared as read-only; nothing was changed.", tool.name);
    ToolError::new(ErrorKind::Unsupported, message)
}

fn panicked(tool: &Tool, taken_back: bool) -> ToolError {
    let outcome = if taken_back { " and nothing was changed" } else { "" };
    let message = format!("`{}` failed unexpectedly{outcome}; try another way.", tool.name);
    ToolError::new(ErrorKind::Io, message)
}
