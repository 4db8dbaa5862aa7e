//! Builds a session.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use wink_fs::{Clock, SystemClock};

use super::dispatch::Rules;
use super::dump::Kept;
use super::files::listing::{VirtualFileSystem, follow};
use super::files::snapshot_ref::FilesystemSnapshotRef;
use super::id::SessionId;
use super::reducers::append_all;
use super::slices::Slices;
use super::tool_invoked::ToolInvoked;
use super::tree::Place;
use super::{Session, Shared, moment};

/// Options of a new session.
///
/// ```
/// use wink_agent::session::{Session, SessionId};
///
/// let id = SessionId::random();
/// let session = Session::builder().session_id(id).tag("task", "refactor").build();
/// assert_eq!(session.id(), id);
/// assert_eq!(session.tags()["task"], "refactor");
/// ```
#[derive(Default)]
pub struct SessionBuilder {
    id: Option<SessionId>,
    created_at: Option<SystemTime>,
    tags: BTreeMap<String, String>,
    parent: Option<Session>,
    outside_parent: Option<SessionId>,
    clock: Option<Arc<dyn Clock>>,
    slices: Slices,
    kept: Kept,
}

impl SessionBuilder {
    /// Sets its id; without it, it gets a new one.
    #[must_use]
    pub fn session_id(mut self, id: SessionId) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets when it began, to the millisecond; without it, now.
    #[must_use]
    pub fn created_at(mut self, at: SystemTime) -> Self {
        self.created_at = Some(at);
        self
    }

    /// Adds a label, such as the task it serves.
    #[must_use]
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(name.into(), value.into());
        self
    }

    /// Puts it below another one, whose clock it uses.
    #[must_use]
    pub fn parent(mut self, parent: &Session) -> Self {
        self.parent = Some(parent.clone());
        self
    }

    /// Sets the clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Sets what a dump said of it.
    pub(super) fn loaded(mut self, slices: Slices, kept: Kept) -> Self {
        (self.slices, self.kept) = (slices, kept);
        self
    }

    pub(super) fn tags(mut self, tags: BTreeMap<String, String>) -> Self {
        self.tags = tags;
        self
    }

    /// Sets the id of a parent that is not loaded.
    pub(super) fn outside_parent(mut self, parent: Option<SessionId>) -> Self {
        self.outside_parent = parent;
        self
    }

    fn place(&self) -> Place {
        match (&self.parent, self.outside_parent) {
            (Some(parent), _) => Place::below(parent),
            (None, Some(id)) => Place::apart_from(id),
            (None, None) => Place::default(),
        }
    }

    /// Creates the session.
    pub fn build(self) -> Session {
        let parents = self.parent.as_ref().map(|parent| parent.0.clock.clone());
        let place = self.place();
        let clock = self.clock.or(parents).unwrap_or_else(|| Arc::new(SystemClock));
        let session = Session(Arc::new(Shared {
            id: self.id.unwrap_or_else(SessionId::random),
            created_at: moment::to_millis(self.created_at.unwrap_or_else(|| clock.now())),
            tags: self.tags,
            clock,
            place,
            rules: Mutex::new(own_rules()),
            slices: Mutex::new(self.slices),
            snapshots: Mutex::default(),
            bus: Arc::default(),
            kept: self.kept,
            epoch: AtomicU64::new(0),
        }));
        if let Some(parent) = self.parent {
            parent.add_child(session.clone());
        }
        session
    }
}

impl fmt::Debug for SessionBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionBuilder").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Returns the reducers of the slices that this crate itself fills.
fn own_rules() -> Rules {
    let mut rules = Rules::default();
    rules.add_own(append_all::<ToolInvoked>);
    rules.add_own(append_all::<FilesystemSnapshotRef>);
    rules.add_own::<VirtualFileSystem, _, _>(follow);
    rules
}
