//! The context of tool calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use wink_fs::{ErrorKind, StateRef, Tree, Workspace};

use crate::exec::Executor;
use crate::file_index::Follower;
use crate::history::forks::Forks;
use crate::policy::{PathRules, RuledTree, SeenContents};
use crate::prompt::RenderedPrompt;
use crate::session::Session;
use crate::tool::budget::Budget;
use crate::tool::error::ToolError;

/// The session, the files and the limits of tool calls.
///
/// A clone is the same context: what one has read, the other has.
///
/// ```
/// use serde_json::json;
/// use wink_agent::session::{Session, ToolInvoked};
/// use wink_agent::{PathRules, ToolContext, call};
///
/// let (session, files) = (Session::new(), wink_fs::Workspace::memory());
/// let context = ToolContext::over(&files)
///     .session(&session)
///     .rules(PathRules::new().deny(["*.env"])?)
///     .turn(1);
/// assert!(call(&context, "write_file", json!({"path": "a.txt", "content": "one"})).ok());
/// let denied = call(&context, "write_file", json!({"path": "prod.env", "content": "KEY=1"}));
/// assert_eq!(denied.code(), Some("permission_denied"));
/// assert_eq!(session.query::<ToolInvoked>().unwrap().len(), 2);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolContext {
    /// The files; without them, tools that need files fail.
    pub workspace: Option<Workspace>,
    /// The session that records the calls; a tool queries it, and changes it by
    /// [`ToolCall::dispatch`](crate::ToolCall::dispatch).
    pub session: Option<Session>,
    /// Keeps the session's listing of the files up to date.
    pub follower: Option<Arc<Follower>>,
    /// Which paths may be seen and changed.
    pub rules: Arc<PathRules>,
    /// What the session has read; a file that it has read can be overwritten without a hash.
    pub seen: Option<Arc<SeenContents>>,
    /// The time after which calls fail.
    pub deadline: Option<Instant>,
    /// How many calls are left.
    pub budget: Option<Budget>,
    /// The turn of the conversation.
    pub turn: u64,
    /// The caller's id of the call; without one, a new id is made.
    pub call_id: Option<String>,
    /// The prompt that offered the tool.
    pub prompt: Option<Arc<RenderedPrompt>>,
    /// Runs programs; without it, none can be run.
    pub executor: Option<Arc<dyn Executor>>,
    /// Set by the caller to cancel: a running search or program is then ended, and what a call has changed is
    /// rolled back.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// The forks that the tool `fork` created.
    pub forks: Forks,
    /// The fork that the files belong to, if any; it is recorded with the calls.
    pub fork: Option<String>,
    /// Parameters that the caller of the tools handles and removes from the arguments; an error about an unknown
    /// parameter lists them too.
    pub caller_parameters: &'static [&'static str],
    /// Whether callers can name a fork to tools that work in one, with the parameter `fork`.
    pub are_forks_reachable: bool,
    /// Whether the caller shows the data of results and not their text: then the data has the contents, and the text
    /// only what the data does not say.
    pub wants_data: bool,
}

impl ToolContext {
    /// Creates a context without files and without a session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a context for the files of a workspace.
    pub fn over(workspace: &Workspace) -> Self {
        Self { workspace: Some(workspace.clone()), ..Self::default() }
    }

    /// Sets the session that records the calls and remembers what was read.
    ///
    /// If the context had another session, what that one has read is forgotten, and its listing is no longer kept up
    /// to date.
    #[must_use]
    pub fn session(mut self, session: &Session) -> Self {
        let before = self.session.replace(session.clone());
        if before.is_some_and(|before| !before.is_same(session)) {
            (self.seen, self.follower) = (None, None);
        }
        self.seen.get_or_insert_default();
        self
    }

    /// Sets what keeps the session's listing of the files up to date.
    #[must_use]
    pub fn follower(mut self, follower: Arc<Follower>) -> Self {
        self.follower = Some(follower);
        self
    }

    /// Sets which paths may be seen and changed.
    #[must_use]
    pub fn rules(mut self, rules: PathRules) -> Self {
        self.rules = Arc::new(rules);
        self
    }

    /// Sets when calls are refused.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets how many calls may be made.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Sets the executor of programs.
    #[must_use]
    pub fn executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Sets the flag by which the caller cancels a running call.
    #[must_use]
    pub fn cancelled(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancelled = Some(flag);
        self
    }

    /// Sets the turn of the conversation.
    #[must_use]
    pub fn turn(mut self, turn: u64) -> Self {
        self.turn = turn;
        self
    }

    /// Returns the files of a state, for reading, without the paths that the rules deny.
    ///
    /// ```
    /// use wink_agent::{PathRules, ToolContext};
    /// use wink_fs::{StateRef, TreePath, Workspace};
    ///
    /// let files = Workspace::memory();
    /// files.write("prod.env", "KEY=1")?;
    /// let context = ToolContext::over(&files).rules(PathRules::new().deny(["*.env"])?);
    /// assert!(context.look(StateRef::Live).unwrap().list(&TreePath::root())?.is_empty());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn look(&self, at: impl Into<StateRef>) -> Result<Arc<dyn Tree>, ToolError> {
        Ok(self.ruled(self.files()?.tree_at(at)?))
    }

    /// Hides the paths that the rules deny.
    pub(crate) fn ruled(&self, tree: Arc<dyn Tree>) -> Arc<dyn Tree> {
        if self.rules.is_empty() {
            tree
        } else {
            Arc::new(RuledTree { inner: tree, rules: self.rules.clone() })
        }
    }

    /// Returns whether the files have a history; `true` without files, because then it is unknown.
    pub(crate) fn has_history(&self) -> bool {
        self.workspace.as_ref().is_none_or(|files| files.snapshot_store().is_ok())
    }

    /// Fails if a tool or its files belong to another session.
    pub(crate) fn check_session(&self, owner: &Session, tool: &str) -> Result<(), ToolError> {
        if self.session.as_ref().is_some_and(|session| session.is_same(owner)) {
            return Ok(());
        }
        let message = format!(
            "`{tool}` belongs to another session and did nothing; use the tools of this session's prompt."
        );
        Err(ToolError::new(ErrorKind::PermissionDenied, message))
    }

    /// Fails if the caller has cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            Err(ToolError::new(
                ErrorKind::Cancelled,
                "The call was cancelled; nothing was changed.",
            ))
        } else {
            Ok(())
        }
    }

    /// Returns the files; their waits end at the deadline.
    pub(crate) fn files(&self) -> Result<Workspace, ToolError> {
        let none =
            || ToolError::new(ErrorKind::Unavailable, "No filesystem available in this context.");
        let workspace = self.workspace.as_ref().ok_or_else(none)?;
        Ok(match self.time_left()? {
            Some(left) => workspace.waiting_at_most(left),
            None => workspace.clone(),
        })
    }

    /// Returns the time that is left; an error if there is none.
    pub(crate) fn time_left(&self) -> Result<Option<Duration>, ToolError> {
        let Some(deadline) = self.deadline else { return Ok(None) };
        match deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ToolError::new(
                ErrorKind::Deadline,
                "The deadline has passed; finish with what you know.",
            )),
            left => Ok(Some(left)),
        }
    }
}
