//! One call of a tool, as the tool's function sees it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::Value;
use wink_fs::search::Stop;
use wink_fs::{ContentHash, ErrorKind, Filesystem, Limits, Properties, Tree, TreePath, Workspace};

use crate::file_index::while_changing;
use crate::history::changes;
use crate::policy::RuledFilesystem;
use crate::session::{HeldEvents, SessionError};
use crate::tool::context::ToolContext;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Tool};
use crate::util::lock::lock;

/// The parameter by which a caller names the fork that a call works in.
const FORK: &str = "fork";

/// Gives a tool's function what it may use: files to look at, and files to change if it says so.
///
/// Paths that the rules of the context deny are not there. All that is changed in
/// [`change`](Self::change) is one operation, which is taken back where it fails, and so are all changes of
/// a call that fails later.
///
/// A tool asks its session, and tells it something by [`dispatch`](Self::dispatch); changed directly it
/// would stay changed where the call fails, so that is refused.
pub struct ToolCall<'c> {
    tool: &'c Tool,
    context: &'c ToolContext,
    workspace: Workspace,
    /// What the call has changed so far, by the numbers of operations.
    operations: Mutex<Vec<u64>>,
    /// Whether it may have changed what cannot be taken back, because there is no history.
    stays: AtomicBool,
    /// What the session is told when the call has gone well.
    events: Mutex<HeldEvents>,
}

impl<'c> ToolCall<'c> {
    pub(crate) fn new(tool: &'c Tool, context: &'c ToolContext) -> Result<Self, ToolError> {
        let (workspace, stays) = (context.files()?, AtomicBool::new(false));
        let (operations, events) = (Mutex::default(), Mutex::default());
        Ok(Self { tool, context, workspace, operations, stays, events })
    }

    /// Runs the tool's function.
    pub(crate) fn run(&self, arguments: Value) -> Result<ToolResult, ToolError> {
        match &self.context.session {
            Some(session) => session.in_call(|| self.tool.run(self, arguments)),
            None => self.tool.run(self, arguments),
        }
    }

    /// Dispatches an event into the session when the call succeeds; if it fails, no subscriber is notified.
    ///
    /// All events of a call change the session, or none. Where a reducer panics, the call fails.
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

    /// Returns what the call happens in.
    pub fn context(&self) -> &'c ToolContext {
        self.context
    }

    /// Returns what the workspace says of itself.
    pub fn properties(&self) -> &Properties {
        self.workspace.properties()
    }

    /// Returns how much of anything is allowed.
    pub fn limits(&self) -> &Limits {
        &self.properties().limits
    }

    /// Makes a path of what a model sent.
    pub fn path(&self, text: &str) -> Result<TreePath, ToolError> {
        Ok(self.workspace.path(text)?)
    }

    /// Completes the arguments of a call that goes on where this one ends: in the same fork.
    pub(crate) fn next(&self, mut arguments: Value) -> Value {
        if let Some(fork) = &self.context.fork
            && self.takes_fork()
        {
            arguments[FORK] = fork.as_str().into();
        }
        arguments
    }

    /// Tells whether the caller takes the name of a fork that a call works in.
    pub(crate) fn takes_fork(&self) -> bool {
        self.context.caller_parameters.contains(&FORK)
    }

    /// Returns the files to look at.
    pub fn tree(&self) -> Arc<dyn Tree> {
        self.context.ruled(self.workspace.tree())
    }

    /// Returns the files that an archive or a snapshot holds: all but those that are excluded.
    pub(crate) fn tree_to_keep(&self) -> Arc<dyn Tree> {
        self.context.ruled(self.workspace.tree_without_excluded())
    }

    /// Changes files as one operation; where it is refused, or panics, nothing has changed.
    ///
    /// If the call fails later, this is rolled back too, except for what another program changed since.
    /// A workspace that keeps no history cannot take several changes back; there only each is whole, and a
    /// call that fails says so.
    pub fn change<T, E: Into<ToolError>>(
        &self,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T, E>,
    ) -> Result<T, ToolError> {
        if self.tool.effect == Effect::Reads {
            return Err(only_looks(self.tool));
        }
        let work = |fs: &mut dyn Filesystem| self.by_the_rules(fs, work);
        let (done, operation) =
            while_changing(|| self.workspace.as_agent_operation(self.tool.name, work))?;
        self.changed().extend(operation);
        Ok(done)
    }

    fn changed(&self) -> MutexGuard<'_, Vec<u64>> {
        lock(&self.operations)
    }

    /// Ends the call: where it failed, what it had changed is taken back.
    pub(crate) fn ended(&self, result: Result<ToolResult, ToolError>) -> ToolResult {
        let told = result.and_then(|done| self.tell_session(done));
        let mut result = told.unwrap_or_else(ToolResult::from);
        let changed = std::mem::take(&mut *self.changed());
        // However long it takes: the deadline is for what the call does.
        if let (false, false, Some(files)) =
            (result.ok(), changed.is_empty(), &self.context.workspace)
        {
            result.message += &not_taken_back(files.retract(&changed));
        }
        if !result.ok() && self.stays.load(Ordering::Relaxed) {
            saying_what_stays(result)
        } else {
            result
        }
    }

    /// Notes that something may have changed, which only a history takes back.
    pub(crate) fn may_have_changed(&self) {
        if !self.context.has_history() {
            self.stays.store(true, Ordering::Relaxed);
        }
    }

    /// Tells the session what a call that went well has to say.
    fn tell_session(&self, done: ToolResult) -> Result<ToolResult, ToolError> {
        let events = std::mem::take(&mut *lock(&self.events));
        let told = match &self.context.session {
            Some(session) if done.ok() => events.dispatch(session),
            _ => Ok(()),
        };
        told.map(|()| done).map_err(|error| not_told(self.tool, &error))
    }

    fn by_the_rules<T, E: Into<ToolError>>(
        &self,
        fs: &mut dyn Filesystem,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T, E>,
    ) -> Result<T, ToolError> {
        let rules = &*self.context.rules;
        self.context.check_cancelled()?;
        let done = self.caught(move || {
            if rules.is_empty() {
                work(fs)
            } else {
                work(&mut RuledFilesystem { inner: fs, rules })
            }
        });
        // Of our own tools one that refuses has changed nothing, or has taken it back by itself.
        if done.is_ok() || !self.tool.is_ours() {
            self.may_have_changed();
        }
        let done = done?;
        // Refused now, all of it is taken back.
        self.context.check_cancelled()?;
        Ok(done)
    }

    /// Makes a refusal of a panic.
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

    /// Returns the name that the call's operation is known by.
    pub(crate) fn name(&self) -> &'static str {
        self.tool.name
    }

    /// Returns the workspace itself, for tools that replace all files; rules that deny some forbid it.
    pub(crate) fn everything(&self) -> Result<&Workspace, ToolError> {
        if self.context.rules.is_empty() {
            Ok(&self.workspace)
        } else {
            Err(ToolError::new(
                ErrorKind::PermissionDenied,
                format!(
                    "`{}` touches all files, and the rules of this session deny some; change files \
                 one by one.",
                    self.tool.name
                ),
            ))
        }
    }

    /// Returns what ends long work: this time, the deadline of the context, or a cancellation by the caller.
    pub fn stop(&self, at_most: Duration) -> Result<Stop, ToolError> {
        let left = self.context.time_left()?.unwrap_or(at_most);
        let stop = Stop::after(at_most.min(left));
        Ok(match &self.context.cancelled {
            Some(flag) => stop.or_when(flag.clone()),
            None => stop,
        })
    }

    /// Remembers that the session knows a content.
    pub fn saw(&self, hash: ContentHash) {
        if let Some(seen) = &self.context.seen {
            seen.note(hash);
        }
    }

    /// Tells whether the session remembers what it has seen.
    pub(crate) fn remembers(&self) -> bool {
        self.context.seen.is_some()
    }

    /// Tells whether the session knows a content; without a session nothing is known.
    pub fn has_seen(&self, hash: &ContentHash) -> bool {
        self.context.seen.as_ref().is_some_and(|seen| seen.contains(hash))
    }
}

/// Says what a call that failed has changed all the same.
fn not_taken_back(taken_back: wink_fs::Result<Vec<TreePath>>) -> String {
    match taken_back {
        Ok(left) if left.is_empty() => String::new(),
        Ok(left) => format!(
            "\nWhat the call had changed was taken back, but for paths that other programs changed \
             since:{}",
            changes::listed(&left)
        ),
        Err(error) => format!("\nWhat the call had changed could not be taken back ({error})."),
    }
}

/// Says of a call that failed where there is no history that nothing takes back what it did.
fn saying_what_stays(mut result: ToolResult) -> ToolResult {
    if result.error == Some(ErrorKind::Cancelled) {
        result.message = "The call was cancelled.".to_owned();
    }
    result.message += "\nThis workspace keeps no history, so what the call had changed before may have stayed; \
                       look at the files.";
    result
}

/// Refuses a call whose events the session could not take; why is for the program, not for a model.
fn not_told(tool: &Tool, error: &SessionError) -> ToolError {
    let message = format!(
        "What `{}` did could not be told to its session, so the call failed; try another way.",
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

fn only_looks(tool: &Tool) -> ToolError {
    let message =
        format!("`{}` is declared as a tool that only looks; nothing was changed.", tool.name);
    ToolError::new(ErrorKind::Unsupported, message)
}

fn panicked(tool: &Tool, taken_back: bool) -> ToolError {
    let outcome = if taken_back { " and nothing was changed" } else { "" };
    let message = format!("`{}` failed unexpectedly{outcome}; try another way.", tool.name);
    ToolError::new(ErrorKind::Io, message)
}
