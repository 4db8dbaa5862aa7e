//! What a window shows: a workspace that is served, or something that was left of one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use wink_fs::archive::ArchiveTree;
use wink_fs::{
    BackendKind, Diff, DiffOptions, ErrorKind, MemoryBackend, OperationRecord, Scope, Snapshot,
    StateRef, Tree, TreePath, Workspace, diff,
};

use crate::cli::context;
use crate::mcp::Endpoint;
use crate::sys::lock::lock;
use crate::window::calls::{CallLog, CallRecord, CallSummary};
use crate::window::dump::Dump;
use crate::window::error::ApiError;
use crate::window::feed::RunFeed;
use crate::window::listing::Listings;

/// What the files of now are called.
pub(crate) const LIVE: &str = "@";

/// What the state before the first one is called.
pub(crate) const EMPTY: &str = "empty";

/// What the files of a fork are called: this, and its name.
pub(crate) const FORK: &str = "fork:";

/// One workspace, dump, archive or store, as pages see it.
#[derive(Debug)]
pub(crate) struct Run {
    /// Its name in addresses.
    pub(crate) name: String,
    /// What a person calls it.
    pub(crate) title: String,
    pub(crate) source: Source,
    /// What could not be read, and what is not shown.
    pub(crate) notes: Vec<String>,
    pub(crate) feed: RunFeed,
    /// The root that commands to copy name.
    pub(crate) root: Option<PathBuf>,
    pub(crate) listings: Mutex<Listings>,
}

/// Where a run comes from.
pub(crate) enum Source {
    /// A workspace that this process has open.
    Live { endpoint: Box<Endpoint>, calls: CallLog },
    /// A session that ended, with what lies beside it.
    Dump { dump: Dump, history: Option<Workspace>, archive: Option<Arc<ArchiveTree>> },
    /// An archive.
    Archive { archive: Arc<ArchiveTree> },
    /// A history without its workspace.
    Store { history: Workspace },
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind())
    }
}

impl Source {
    /// Returns `live`, `dump`, `archive` or `store`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Live { .. } => "live",
            Self::Dump { .. } => "dump",
            Self::Archive { .. } => "archive",
            Self::Store { .. } => "store",
        }
    }
}

/// A state that a page named.
pub(crate) struct State {
    pub(crate) tree: Arc<dyn Tree>,
    /// Whether the name will always mean the same files.
    pub(crate) is_fixed: bool,
    /// Distinguishes it from other states of the run.
    pub(crate) key: String,
    /// What a workspace calls it, where it is one of its own.
    at: Option<StateRef>,
}

/// Two states to compare.
pub(crate) struct Pair {
    pub(crate) a: State,
    pub(crate) b: State,
    /// The part of them that is known, if not all of it is.
    pub(crate) scope: Option<Vec<TreePath>>,
    /// Paths of which it is not known any more what an operation left there.
    pub(crate) unknown: Vec<String>,
}

impl Run {
    /// Makes the run of a workspace that is open in this process.
    pub(crate) fn live(
        name: &str,
        title: String,
        endpoint: Endpoint,
        feed: RunFeed,
        root: Option<PathBuf>,
    ) -> Self {
        let calls = endpoint.calls();
        calls.report_to(feed.clone());
        let source = Source::Live { endpoint: Box::new(endpoint), calls };
        Self { feed, root, ..Self::of(name, title, source) }
    }

    /// Makes a run of anything else.
    pub(crate) fn of(name: &str, title: String, source: Source) -> Self {
        Self {
            name: name.to_owned(),
            title,
            source,
            notes: Vec::new(),
            feed: RunFeed::default(),
            root: None,
            listings: Mutex::default(),
        }
    }

    /// Returns the workspace that has the snapshots, if any has.
    pub(crate) fn history(&self) -> Option<Workspace> {
        match &self.source {
            Source::Live { endpoint, .. } => endpoint.files(),
            Source::Dump { history, .. } => history.clone(),
            Source::Store { history } => Some(history.clone()),
            Source::Archive { .. } => None,
        }
    }

    /// Returns the workspace that pages may change.
    pub(crate) fn writable(&self) -> Result<Workspace, ApiError> {
        let Source::Live { endpoint, .. } = &self.source else {
            return Err(ApiError::of(ErrorKind::ReadOnly, "this is only shown, and cannot change"));
        };
        let files = endpoint.files().filter(|files| !files.properties().read_only);
        let files = files.ok_or_else(|| {
            ApiError::of(ErrorKind::ReadOnly, "this workspace is served read-only")
        })?;
        Ok(files.acting_as(format!("page, {}", context::actor())))
    }

    /// Returns whether pages may change it.
    pub(crate) fn can_change(&self) -> bool {
        self.writable().is_ok_and(|files| files.snapshot_store().is_ok())
    }

    /// Returns the archive that has the last files, where there is one.
    pub(crate) fn archive(&self) -> Option<Arc<ArchiveTree>> {
        match &self.source {
            Source::Dump { archive, .. } => archive.clone(),
            Source::Archive { archive } => Some(archive.clone()),
            _ => None,
        }
    }

    /// Returns the names of the forks that calls made.
    pub(crate) fn forks(&self) -> Vec<String> {
        match &self.source {
            Source::Live { endpoint, .. } => endpoint.forks().names(),
            _ => Vec::new(),
        }
    }

    /// Returns the snapshots, oldest first; none where there is no history.
    pub(crate) fn snapshots(&self) -> Result<Vec<Snapshot>, ApiError> {
        match self.history().map(|files| files.snapshots()) {
            None => Ok(Vec::new()),
            Some(Err(error)) if error.kind() == ErrorKind::Unsupported => Ok(Vec::new()),
            Some(snapshots) => Ok(snapshots?),
        }
    }

    /// Returns the calls, oldest first, with the operations that other processes made.
    pub(crate) fn calls(&self) -> Vec<CallSummary> {
        match &self.source {
            Source::Dump { dump, .. } => dump.calls.clone(),
            Source::Live { calls, .. } => {
                let mut all = calls.summaries();
                all.extend(self.other_operations().iter().map(CallSummary::of_operation));
                all.sort_by_key(|call| call.at);
                all
            }
            _ => Vec::new(),
        }
    }

    /// Returns the operations that no call of this process made.
    fn other_operations(&self) -> Vec<OperationRecord> {
        let Source::Live { calls, .. } = &self.source else { return Vec::new() };
        let operations = self.history().and_then(|files| files.operations().ok());
        let mut operations = operations.unwrap_or_default();
        if operations.is_empty() {
            return operations;
        }
        let actors: std::collections::HashSet<String> =
            calls.all().into_iter().map(|call| call.by).collect();
        operations.retain(|it| it.by.as_ref().is_none_or(|by| !actors.contains(by)));
        operations
    }

    /// Returns the operations of a call, oldest first.
    pub(crate) fn operations_of(&self, call: &CallRecord) -> Vec<OperationRecord> {
        let Source::Live { endpoint, .. } = &self.source else { return Vec::new() };
        let files = match &call.summary.fork {
            Some(fork) => endpoint.forks().get(fork),
            None => endpoint.files(),
        };
        let operations = files.and_then(|files| files.operations().ok()).unwrap_or_default();
        let end = call.at + call.took;
        let is_its = |it: &OperationRecord| {
            it.by.as_deref() == Some(&*call.by) && call.at <= it.at && it.at <= end
        };
        operations.into_iter().filter(is_its).collect()
    }

    /// Finds a state by its name.
    pub(crate) fn state(&self, name: &str) -> Result<State, ApiError> {
        if name == EMPTY {
            let tree: Arc<dyn Tree> = Arc::new(MemoryBackend::new());
            return Ok(State { tree, is_fixed: true, key: EMPTY.to_owned(), at: None });
        }
        if let Some(archive) = self.archive().filter(|_| name == LIVE) {
            return Ok(State { tree: archive, is_fixed: false, key: LIVE.to_owned(), at: None });
        }
        if let (Some(fork), Source::Live { endpoint, .. }) = (name.strip_prefix(FORK), &self.source)
        {
            let files = endpoint.forks().get(fork);
            let files = files.ok_or_else(|| {
                ApiError::of(ErrorKind::SnapshotNotFound, format!("there is no fork `{fork}`"))
            })?;
            let key = format!("{name} {}", files.operations_recorded());
            return Ok(State { tree: files.tree(), is_fixed: false, key, at: None });
        }
        let none = || {
            let message = "no history is kept beside this, so there are only the last files, `@`";
            ApiError::of(ErrorKind::SnapshotNotFound, message)
        };
        let files = self.history().ok_or_else(none)?;
        match files.resolve(name)? {
            Some(snapshot) => {
                let id = snapshot.id.to_string();
                let tree = files.tree_at(&snapshot)?;
                let at = Some(StateRef::from(&snapshot));
                Ok(State { tree, is_fixed: id == name, key: id, at })
            }
            None if matches!(self.source, Source::Live { .. }) => {
                let key = format!("{LIVE} {}", self.live_key(&files));
                let tree = files.tree_without_excluded();
                Ok(State { tree, is_fixed: false, key, at: Some(StateRef::Live) })
            }
            None => {
                let last = self.snapshots()?.pop().ok_or_else(none)?;
                self.state(&last.id.to_string())
            }
        }
    }

    /// Distinguishes the files of now from those of a moment ago. Other programs change files on a host unheard, so there
    /// a moment passes in any case.
    fn live_key(&self, files: &Workspace) -> String {
        let changes = self.feed.changes();
        match files.properties().backend {
            BackendKind::InMemory => changes.to_string(),
            _ => {
                static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
                format!("{changes} {}", START.elapsed().as_secs() / 2)
            }
        }
    }

    /// Finds two states to compare; `op:N^` and `op:N` are the files before and after an operation.
    pub(crate) fn pair(&self, a: &str, b: &str) -> Result<Pair, ApiError> {
        let (fork, before) = match (a.strip_prefix(FORK), b.strip_prefix(FORK)) {
            (Some(a), Some(b)) => match (a.split_once('/'), b.split_once('/')) {
                (Some((fork, a)), Some((same, b))) if fork == same => (Some(fork), (a, b)),
                _ => (None, (a, b)),
            },
            _ => (None, (a, b)),
        };
        let operation = before.0.strip_suffix('^').filter(|it| *it == before.1);
        let operation = operation.and_then(|it| it.strip_prefix("op:")?.parse::<u64>().ok());
        let Some(operation) = operation else {
            let (a, b) = (self.state(a)?, self.state(b)?);
            return Ok(Pair { a, b, scope: None, unknown: Vec::new() });
        };
        let files = match (fork, &self.source) {
            (Some(fork), Source::Live { endpoint, .. }) => endpoint.forks().get(fork),
            _ => self.history(),
        };
        let none = || ApiError::of(ErrorKind::SnapshotNotFound, "no such operation is kept");
        let trees = files.ok_or_else(none)?.operation_trees(operation)?;
        let state = |tree, side: &str| {
            let key = format!("{} op:{operation}{side}", fork.unwrap_or_default());
            State { tree, is_fixed: false, key, at: None }
        };
        Ok(Pair {
            a: state(trees.before, "^"),
            b: state(trees.after, ""),
            scope: Some(trees.paths),
            unknown: trees.unknown.iter().map(ToString::to_string).collect(),
        })
    }

    /// Compares two states.
    pub(crate) fn diff(&self, pair: &Pair) -> Result<Diff, ApiError> {
        let mut options = DiffOptions::default().renames(true);
        match &pair.scope {
            // An empty scope would mean all paths.
            Some(paths) if paths.is_empty() => return Ok(Diff::default()),
            Some(paths) => options = options.scope(Scope::paths(paths.iter().cloned())),
            None => {}
        }
        // The workspace knows which of its files it has seen before, and reads no others.
        if let (Some(a), Some(b), Some(files)) = (&pair.a.at, &pair.b.at, self.history()) {
            return Ok(files.diff_with(a.clone(), b.clone(), &options)?);
        }
        Ok(diff(&*pair.a.tree, &*pair.b.tree, &options)?)
    }

    /// Returns the listing of a state, which is made once.
    pub(crate) fn listing(
        &self,
        state: &State,
    ) -> Result<Arc<crate::window::listing::Listing>, ApiError> {
        if let Some(found) = lock(&self.listings).get(&state.key) {
            return Ok(found);
        }
        let made = Arc::new(crate::window::listing::Listing::of(&*state.tree)?);
        lock(&self.listings).add(&state.key, &made);
        Ok(made)
    }
}
