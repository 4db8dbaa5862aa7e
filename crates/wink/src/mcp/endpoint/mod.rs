//! What one address of the server offers: files, and the tools to work on them.

mod call_context;
mod instructions;
mod lookup;

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::Tool as McpTool;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};
use wink_agent::session::Session;
use wink_agent::{Effect, Family, Tool, ToolContext, Toolset};
use wink_fs::Workspace;

pub(super) use self::lookup::Found;
use super::auto_snapshot::{self, AutoSnapshots};
use super::call::recent::RecentCalls;
use super::call::records;
use super::fixtures;
use super::sessions::Sessions;
use super::tools::declared::{self, Common};
use crate::project::forks::persisted::PersistedForks;

/// How many calls run at the same time; the others wait for their turn.
pub(super) const MOST_CALLS: u32 = 64;

/// Holds the files of an address, the tools that it offers, and whose calls they are.
///
/// A clone is the same endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    context: ToolContext,
    tools: Toolset,
    only_reads: bool,
    sessions: Option<Sessions>,
    declared: Arc<Vec<McpTool>>,
    pub(super) slots: Arc<Semaphore>,
    recent: RecentCalls,
    pub(super) keeping: AutoSnapshots,
    kept_forks: Option<PersistedForks>,
    has_fixtures: bool,
}

impl Endpoint {
    /// Makes the endpoint of a process that is one session.
    pub(crate) fn of_session(workspace: &Workspace, tools: Toolset) -> Self {
        let session = Session::new();
        records::bound(&session);
        Self::new(ToolContext::over(workspace).session(&session), tools, None)
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
        let recent = RecentCalls::default();
        let mut endpoint = Self {
            context,
            tools,
            only_reads,
            sessions,
            declared,
            slots,
            recent,
            keeping: AutoSnapshots::default(),
            kept_forks: None,
            has_fixtures: false,
        };
        let common = Common { session: endpoint.sessions.is_some(), fork: endpoint.has_forks() };
        let all = endpoint.offered().map(|tool| declared::declared(tool, common));
        endpoint.declared = Arc::new(all.collect());
        endpoint
    }

    /// Says where forks are kept when the server ends, and others are found.
    #[must_use]
    pub(crate) fn with_kept_forks(mut self, kept_forks: Option<PersistedForks>) -> Self {
        self.kept_forks.clone_from(&kept_forks);
        if let Some(kept) = kept_forks {
            self.context.forks = kept.known_to(self.context.forks);
        }
        self
    }

    /// Adds what the public conformance runner wants to find.
    #[must_use]
    pub(crate) fn with_fixtures(mut self) -> Self {
        self.has_fixtures = true;
        Arc::make_mut(&mut self.declared).extend(fixtures::tools());
        self
    }

    /// Tells whether the fixtures of the conformance runner are there.
    pub(super) fn has_fixtures(&self) -> bool {
        self.has_fixtures
    }

    /// Returns the tools as clients are told of them.
    pub(super) fn declared(&self) -> &[McpTool] {
        &self.declared
    }

    /// Returns the calls that were made last.
    pub(crate) fn recent(&self) -> RecentCalls {
        self.recent.clone()
    }

    /// Returns the files that calls are about.
    pub(crate) fn files(&self) -> Option<Workspace> {
        self.context.workspace.clone()
    }

    /// Begins to serve: who changes files by other tools than ours has them kept now.
    pub(super) fn begin(&self) {
        let has_history = self.offered().any(|tool| tool.family == Family::History);
        let changes_files = self
            .offered()
            .any(|tool| tool.effect != Effect::Reads && tool.family != Family::History);
        if let (Some(files), true, false, false) =
            (self.files(), has_history, changes_files, self.only_reads)
        {
            let keeping = self.keeping.clone();
            drop(spawn_blocking(move || keeping.at_start(&files)));
        }
    }

    /// Waits until no call runs, and keeps what would go with the server.
    ///
    /// Where there are forks to keep, calls have half of the time, so that some is left in any case.
    pub(super) async fn end(&self, at_most: Duration) {
        let until = Instant::now() + at_most;
        let for_calls = if self.context.forks.names().is_empty() { at_most } else { at_most / 2 };
        // A call that runs holds a slot: with all of them taken, none is left that does.
        let calls = self.slots.clone().acquire_many_owned(MOST_CALLS);
        let _slots = timeout(for_calls, calls).await;
        self.slots.close();
        auto_snapshot::forks(&self.context, self.kept_forks.as_ref(), until).await;
    }

    /// Waits for no call any more, so that what would go with the server is kept at once.
    pub(super) fn hurry(&self) {
        self.slots.close();
    }

    /// Tells whether a demo can work here: with all tools, and not on the user's own files.
    pub(crate) fn is_for_demo(&self) -> bool {
        let is_in_memory = |files: &Workspace| files.properties().backend == "in_memory";
        let has = |name: &str| self.offered().any(|tool| tool.name == name);
        self.context.workspace.as_ref().is_some_and(is_in_memory)
            && has("write_file")
            && has("undo")
    }

    /// Returns a session that a client named, with what was written down in it.
    pub(crate) fn session(&self, name: &str) -> Option<Session> {
        self.sessions.as_ref()?.get(name)
    }

    /// Returns the session that the process is, where it is one.
    pub(crate) fn own_session(&self) -> Option<&Session> {
        self.context.session.as_ref()
    }

    /// Tells whether clients can make forks.
    fn has_forks(&self) -> bool {
        self.offered().any(|tool| tool.name == "fork")
    }

    /// Tells whether the process is the session.
    pub(super) fn is_session(&self) -> bool {
        self.sessions.is_none()
    }

    /// Returns what calls without a session of their own happen in.
    pub(super) fn context(&self) -> &ToolContext {
        &self.context
    }

    fn offered(&self) -> impl Iterator<Item = &'static Tool> {
        let only_reads = self.only_reads;
        let offered = self.tools.offered(&self.context);
        offered.filter(move |tool| !only_reads || tool.effect == Effect::Reads)
    }
}
