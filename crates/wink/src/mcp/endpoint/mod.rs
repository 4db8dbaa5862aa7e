//! What one address of the server offers: files, and the tools to work on them.

mod call_context;
mod instructions;
mod lookup;

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::Tool as McpTool;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use wink_agent::exec::Executor;
use wink_agent::file_index::Follower;
use wink_agent::session::Session;
use wink_agent::{Effect, Forks, Tool, ToolContext, ToolResult, Toolset};
use wink_fs::{BackendKind, Workspace};

pub(super) use self::lookup::Found;
use super::auto_snapshot::AutoSnapshots;
use super::call::answer::Results;
use super::call::records;
use super::declared_tools::{self, Common};
use super::kept_forks::KeptForks;
use super::sessions::Sessions;
use crate::project::forks::persisted::PersistedForks;
use crate::window::calls::CallLog;

/// How many calls run at the same time; the others wait for their turn.
pub(super) const MOST_CALLS: u32 = 64;

/// How many searches run at the same time. Each uses all cores, so more of them take no less time together, and keep the
/// calls of other clients and workspaces waiting.
pub(super) const MOST_SEARCHES: usize = 1;

/// Holds the files of an address, the tools that it offers, and whose calls they are.
///
/// A clone is the same endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    context: ToolContext,
    tools: Toolset,
    pub(super) results: Results,
    only_reads: bool,
    sessions: Option<Sessions>,
    declared: Arc<Vec<McpTool>>,
    pub(super) slots: Arc<Semaphore>,
    pub(super) searches: Arc<Semaphore>,
    calls: CallLog,
    pub(super) keeping: AutoSnapshots,
    persisted: Option<PersistedForks>,
    kept_forks: KeptForks,
    #[cfg(feature = "conformance-fixtures")]
    pub(super) has_fixtures: bool,
}

impl Endpoint {
    /// Makes the endpoint of a process that is one session.
    pub(crate) fn of_session(
        workspace: &Workspace,
        tools: Toolset,
        session: &Session,
        follower: Option<Arc<Follower>>,
    ) -> Self {
        records::bound(session);
        let mut context = ToolContext::over(workspace).session(session);
        context.follower = follower;
        Self::new(context, tools, None)
    }

    /// Makes the endpoint of clients that name a session with each call, or go without one.
    pub(crate) fn of_clients(workspace: &Workspace, tools: Toolset) -> Self {
        Self::new(ToolContext::over(workspace), tools, Some(Sessions::default()))
    }

    fn new(context: ToolContext, tools: Toolset, sessions: Option<Sessions>) -> Self {
        let only_reads =
            context.workspace.as_ref().is_some_and(|files| files.properties().read_only);
        let slots = Arc::new(Semaphore::new(MOST_CALLS as usize));
        let declared = Arc::default();
        let endpoint = Self {
            context,
            tools,
            results: Results::default(),
            only_reads,
            sessions,
            declared,
            slots,
            searches: Arc::new(Semaphore::new(MOST_SEARCHES)),
            calls: CallLog::default(),
            keeping: AutoSnapshots::default(),
            persisted: None,
            kept_forks: KeptForks::default(),
            #[cfg(feature = "conformance-fixtures")]
            has_fixtures: false,
        };
        endpoint.with_results(Results::default())
    }

    /// Sets what runs programs on the files.
    #[must_use]
    pub(crate) fn with_executor(mut self, executor: Option<Arc<dyn Executor>>) -> Self {
        self.context.executor = executor;
        let results = self.results;
        self.with_results(results)
    }

    /// Chooses how results are sent.
    #[must_use]
    pub(crate) fn with_results(mut self, results: Results) -> Self {
        self.results = results;
        self.context.wants_data = results == Results::Structured;
        let session = self.sessions.is_some();
        let common = Common { session, fork: self.has_forks(), results };
        let all = self.offered().map(|tool| declared_tools::declared(tool, common));
        self.declared = Arc::new(all.collect());
        self
    }

    /// Sets where forks are kept when the server ends, and where other forks are found.
    #[must_use]
    pub(crate) fn with_kept_forks(mut self, persisted: Option<PersistedForks>) -> Self {
        self.persisted.clone_from(&persisted);
        if let Some(kept) = persisted {
            self.context.forks = kept.known_to(self.context.forks);
        }
        self
    }

    /// Adds the tools that the public conformance runner calls.
    #[cfg(feature = "conformance-fixtures")]
    #[must_use]
    pub(crate) fn with_fixtures(mut self) -> Self {
        self.has_fixtures = true;
        self
    }

    /// Returns the tools as clients see them.
    pub(super) fn declared(&self) -> &[McpTool] {
        &self.declared
    }

    /// Returns the calls that were made.
    pub(crate) fn calls(&self) -> CallLog {
        self.calls.clone()
    }

    /// Returns the forks that were made.
    pub(crate) fn forks(&self) -> &Forks {
        &self.context.forks
    }

    /// Makes a fork for the user who watches, as the tool of agents does.
    pub(crate) fn fork(&self, name: &str, at: Option<&str>) -> ToolResult {
        let arguments = json!({"name": name, "at": at});
        let result = Toolset::ALL.call(&self.context, "fork", arguments);
        if let Some(tool) = wink_agent::find("fork").filter(|_| result.ok()) {
            // It is saved again when the server ends, which reports a failure.
            let _ = self.keep_fork(tool, None);
        }
        result
    }

    /// Returns the files that calls are about.
    pub(crate) fn files(&self) -> Option<Workspace> {
        self.context.workspace.clone()
    }

    /// Begins to serve: takes a snapshot of a directory that can be changed. Files in memory are lost with the
    /// process, and before the first change there are none of the user's.
    pub(super) fn begin(&self) {
        let is_kept = |files: &Workspace| {
            files.snapshot_store().is_ok() && files.properties().backend != BackendKind::InMemory
        };
        if let Some(files) = self.files().filter(is_kept).filter(|_| !self.only_reads) {
            self.keeping.begin(&files, &self.slots);
        }
    }

    /// Saves a fork after a call; returns a warning for the model if that fails.
    pub(super) fn keep_fork(&self, tool: &Tool, fork: Option<&str>) -> Option<String> {
        self.kept_forks.after(tool, &self.context, fork, self.persisted.as_ref())
    }

    /// Waits until no call runs, and saves the forks that would end with the server.
    ///
    /// If there are forks to save, calls get half of the time, so that some is left in any case.
    pub(super) async fn end(&self, at_most: Duration) {
        let until = Instant::now() + at_most;
        let for_calls = if self.context.forks.names().is_empty() { at_most } else { at_most / 2 };
        // A call that runs holds a slot: with all of them taken, none is left that does.
        let calls = self.slots.clone().acquire_many_owned(MOST_CALLS);
        let _slots = timeout(for_calls, calls).await;
        self.hurry();
        self.kept_forks.end(&self.context, self.persisted.as_ref(), until).await;
        if let Some(executor) = self.context.executor.clone() {
            // A call that still runs had its time.
            let _ = tokio::task::spawn_blocking(move || executor.stop()).await;
        }
    }

    /// Stops waiting for calls, so that the forks are saved at once.
    pub(super) fn hurry(&self) {
        self.slots.close();
        self.searches.close();
    }

    /// Returns whether a demo can work here: with all tools, and not on the user's own files.
    pub(crate) fn is_for_demo(&self) -> bool {
        let is_in_memory = |files: &Workspace| files.properties().backend == BackendKind::InMemory;
        let has = |name: &str| self.offered().any(|tool| tool.name == name);
        self.context.workspace.as_ref().is_some_and(is_in_memory)
            && has("write_file")
            && has("undo")
    }

    /// Returns the session that a client named, with its records.
    pub(crate) fn session(&self, name: &str) -> Option<Session> {
        self.sessions.as_ref()?.get(name)
    }

    /// Returns all sessions, those of clients by their names.
    pub(crate) fn all_sessions(&self) -> Vec<Session> {
        match &self.sessions {
            Some(sessions) => sessions.all(),
            None => self.context.session.iter().cloned().collect(),
        }
    }

    /// Returns the session of the process, if it has one.
    pub(crate) fn own_session(&self) -> Option<&Session> {
        self.context.session.as_ref()
    }

    /// Returns whether clients can change files without a history to undo it with.
    pub(super) fn is_unprotected(&self) -> bool {
        let has_none = |files: &Workspace| files.snapshot_store().is_err();
        !self.only_reads && self.context.workspace.as_ref().is_some_and(has_none)
    }

    /// Returns whether clients can make forks.
    fn has_forks(&self) -> bool {
        self.offered().any(|tool| tool.name == "fork")
    }

    /// Returns whether the process is the session.
    pub(super) fn is_session(&self) -> bool {
        self.sessions.is_none()
    }

    /// Returns the context of calls without a session of their own.
    pub(super) fn context(&self) -> &ToolContext {
        &self.context
    }

    /// Returns whether clients can call a tool.
    pub(super) fn has_tool(&self, name: &str) -> bool {
        self.offered().any(|tool| tool.name == name)
    }

    fn offered(&self) -> impl Iterator<Item = &'static Tool> {
        let only_reads = self.only_reads;
        let offered = self.tools.offered(&self.context);
        offered.filter(move |tool| !only_reads || tool.effect == Effect::Reads)
    }
}
