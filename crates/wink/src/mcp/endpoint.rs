//! What one address of the server offers: files, and the tools to work on them.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::Tool as McpTool;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};
use wink_agent::session::Session;
use wink_agent::{Effect, Family, Refusal, Tool, ToolContext, Toolset};
use wink_fs::{ErrorKind, Workspace};

use super::declared::{self, Common, FORK, SESSION};
use super::keeping::{self, Keeping};
use super::recent::RecentCalls;
use super::sessions::Sessions;
use super::{fixtures, records};
use crate::kept_fork::KeptForks;

/// How many calls run at the same time; the others wait for their turn.
pub(super) const MOST_CALLS: u32 = 64;

const LOOKING: &str = "List with ls, find with glob and grep, read with read_file. Paths are relative to \
    the workspace root.";

const WRITING: &str = "Write with write_file, change parts of a file with edit_file. Read a file before you \
    overwrite it: then give its content_hash as expected_hash, or the same name as `session` with every call.";

const WRITING_IN_A_SESSION: &str = "Write with write_file, change parts of a file with edit_file. Read a file \
    before you overwrite it.";

const GOING_BACK: &str = "snapshot keeps all files as they are, restore brings them back, and undo takes back \
    the last change.";

const FORKING: &str = "fork makes a copy to try something in: give its name as `fork` to the tools for files, \
    then merge it. It lasts as long as this server, ";

const KEEPING_FORKS: &str = "which keeps what was not merged for a person to merge.";

const LOSING_FORKS: &str = "and what was not merged is gone with it.";

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
    pub(super) keeping: Keeping,
    kept_forks: Option<KeptForks>,
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
            keeping: Keeping::default(),
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
    pub(crate) fn with_kept_forks(mut self, kept_forks: Option<KeptForks>) -> Self {
        self.kept_forks.clone_from(&kept_forks);
        if let Some(kept) = kept_forks {
            self.context.forks = self.context.forks.and_elsewhere(move |name| kept.find(name));
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
        keeping::forks(&self.context, self.kept_forks.as_ref(), until).await;
    }

    /// Waits for no call any more, so that what would go with the server is kept at once.
    pub(super) fn hurry(&self) {
        self.slots.close();
    }

    /// Tells whether a demo can work here: with all tools, and on nobody's own files.
    pub(crate) fn is_for_demo(&self) -> bool {
        let is_in_memory = |files: &Workspace| files.properties().backend == "in_memory";
        let has = |name: &str| self.offered().any(|tool| tool.name == name);
        self.context.workspace.as_ref().is_some_and(is_in_memory)
            && has("write_file")
            && has("undo")
    }

    /// Says to a model what it can do here, with the tools that are offered and no others.
    pub(super) fn instructions(&self) -> String {
        let has = |name: &str| self.offered().any(|tool| tool.name == name);
        let forks = if self.kept_forks.is_some() { KEEPING_FORKS } else { LOSING_FORKS };
        let forking = format!("{FORKING}{forks}");
        let sentences = [
            ("ls", LOOKING),
            ("write_file", if self.is_session() { WRITING_IN_A_SESSION } else { WRITING }),
            ("snapshot", GOING_BACK),
            ("fork", if has("write_file") { &forking } else { "" }),
        ];
        let said = sentences.into_iter().filter(|(tool, text)| has(tool) && !text.is_empty());
        let said = said.map(|(_, text)| text);
        ["A workspace of files."].into_iter().chain(said).collect::<Vec<_>>().join(" ")
    }

    /// Returns a session that a client named, with what was written down in it.
    pub(crate) fn session(&self, name: &str) -> Option<Session> {
        self.sessions.as_ref()?.get(name)
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

    /// Finds a tool that is offered.
    pub(super) fn find(&self, name: &str) -> Found {
        let Some(tool) = self.tools.find(name) else { return Found::Unknown };
        match self.offered().find(|offered| offered.name == tool.name) {
            Some(tool) => Found::Tool(tool),
            None if self.only_reads && tool.effect == Effect::Writes => {
                Found::Refused(only_reads(tool))
            }
            None if tool.family == Family::History => Found::Refused(no_history(tool)),
            None => Found::Unknown,
        }
    }

    /// Words the answer to a tool name that is not offered.
    pub(super) fn unknown_tool_message(&self, name: &str) -> String {
        Toolset::unknown_tool_message(name, self.offered())
    }

    /// Returns what a call happens in, and takes the names of its session and its fork out of the arguments.
    pub(super) fn context_of(
        &self,
        tool: &Tool,
        arguments: &mut Map<String, Value>,
    ) -> Result<ToolContext, Refusal> {
        let mut context = self.context.clone();
        if let Some(sessions) = &self.sessions
            && let Some(name) = taken(arguments, SESSION)
        {
            let (session, seen) = sessions.find(&name)?;
            context.seen = Some(seen);
            context = context.session(&session);
        }
        let takes_fork = self.has_forks() && declared::works_in_forks(tool);
        context.caller_parameters = match (self.sessions.is_some(), takes_fork) {
            (true, true) => &[FORK, SESSION],
            (true, false) => &[SESSION],
            (false, true) => &[FORK],
            (false, false) => &[],
        };
        if takes_fork && let Some(name) = taken(arguments, FORK) {
            let name = name.as_str().ok_or_else(no_text)?;
            context.workspace = Some(context.forks.find(name)?);
            context.fork = Some(name.to_owned());
        }
        Ok(context)
    }
}

/// Takes an argument out that is there.
fn taken(arguments: &mut Map<String, Value>, name: &str) -> Option<Value> {
    arguments.remove(name).filter(|value| !value.is_null())
}

fn no_text() -> Refusal {
    let message = format!("`{FORK}` must be a string: the name of a fork.");
    Refusal::new(ErrorKind::InvalidArgument, message)
}

/// Says what there is under the name of a tool.
pub(super) enum Found {
    Tool(&'static Tool),
    /// It cannot be used here.
    Refused(Refusal),
    Unknown,
}

/// Refuses a tool that changes files.
fn only_reads(tool: &Tool) -> Refusal {
    let message = format!(
        "`{}` changes files, and this server was started read-only; nothing was changed.",
        tool.name
    );
    Refusal::new(ErrorKind::ReadOnly, message)
}

/// Refuses a tool that works on a history.
fn no_history(tool: &Tool) -> Refusal {
    let message = format!(
        "`{}` needs a history, and this workspace keeps none; use the tools for files.",
        tool.name
    );
    Refusal::new(ErrorKind::Unsupported, message)
}
