//! Snapshots of a session, and rollback to them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, MutexGuard};
use std::time::SystemTime;

use wink_fs::SnapshotId;

use super::Session;
use super::dump::Kept;
use super::error::SessionError;
use super::files::snapshot_ref::FilesystemSnapshotRef;
use super::slices::SliceMap;
use super::slices::slice::SliceKind;
use crate::util::lock;

const MAX_TAG_CHARACTERS: usize = 100;

/// A snapshot of a session.
///
/// ```
/// let session = wink_agent::session::Session::new();
/// let taken = session.snapshot("turn-5")?;
/// assert_eq!(taken.tag.as_deref(), Some("turn-5"));
/// assert_eq!(session.snapshots(), [taken]);
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SessionSnapshot {
    /// Its id.
    pub id: SnapshotId,
    /// The name that it was given.
    pub tag: Option<String>,
    /// When it was taken, by the session's clock.
    pub created_at: SystemTime,
    /// The snapshots of files that were taken together with it.
    pub files: Vec<FilesystemSnapshotRef>,
}

/// The name of a session's snapshot: its id or its tag.
///
/// ```
/// use wink_agent::session::{Session, SnapshotName};
///
/// let taken = Session::new().snapshot("turn-5")?;
/// assert_eq!(SnapshotName::from("turn-5"), SnapshotName::Tag("turn-5".into()));
/// assert_eq!(SnapshotName::from(&taken), SnapshotName::from(taken.id.to_string().as_str()));
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SnapshotName {
    /// The one with this id.
    Id(SnapshotId),
    /// The one with this tag.
    Tag(String),
}

impl From<SnapshotId> for SnapshotName {
    fn from(id: SnapshotId) -> Self {
        Self::Id(id)
    }
}

impl From<&SessionSnapshot> for SnapshotName {
    fn from(snapshot: &SessionSnapshot) -> Self {
        Self::Id(snapshot.id)
    }
}

impl From<&str> for SnapshotName {
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Tag(text.to_owned()), Self::Id)
    }
}

/// A snapshot with its slices.
#[derive(Clone, Debug)]
pub(super) struct KeptState {
    pub(super) snapshot: SessionSnapshot,
    pub(super) slices: SliceMap,
    /// The fields of a dump that this version does not know.
    pub(super) unknown: Option<Arc<Kept>>,
}

/// The snapshots of a session.
#[derive(Default)]
pub(super) struct Table {
    last: u64,
    kept: BTreeMap<u64, KeptState>,
    by_id: HashMap<SnapshotId, u64>,
    by_tag: HashMap<String, u64>,
}

impl Table {
    fn check_unused(&self, tag: &str) -> Result<(), SessionError> {
        if self.by_tag.contains_key(tag) {
            Err(SessionError::SnapshotExists { tag: tag.to_owned() })
        } else {
            Ok(())
        }
    }

    fn add(&mut self, state: KeptState) {
        self.last += 1;
        self.by_id.insert(state.snapshot.id, self.last);
        if let Some(tag) = &state.snapshot.tag {
            self.by_tag.insert(tag.clone(), self.last);
        }
        self.kept.insert(self.last, state);
    }

    fn find(&self, name: &SnapshotName) -> Result<u64, SessionError> {
        let found = match name {
            SnapshotName::Id(id) => self.by_id.get(id),
            SnapshotName::Tag(tag) => self.by_tag.get(tag),
        };
        found.copied().ok_or_else(|| not_found(name))
    }

    fn remove(&mut self, number: u64) -> Option<KeptState> {
        let state = self.kept.remove(&number)?;
        self.by_id.remove(&state.snapshot.id);
        if let Some(tag) = &state.snapshot.tag {
            self.by_tag.remove(tag);
        }
        Some(state)
    }
}

/// Snapshots. They are the session's own: its children have theirs.
impl Session {
    /// Takes a snapshot with a tag that no other snapshot of the session has.
    ///
    /// It takes constant time, however large the session is.
    pub fn snapshot(&self, tag: &str) -> Result<SessionSnapshot, SessionError> {
        check_tag(tag)?;
        self.keep(&mut self.table(), Some(tag), Vec::new())
    }

    /// Takes a snapshot without a tag.
    pub fn snapshot_untagged(&self) -> Result<SessionSnapshot, SessionError> {
        self.keep(&mut self.table(), None, Vec::new())
    }

    /// Fails if no new snapshot could have this tag.
    pub(crate) fn check_new_tag(&self, tag: &str) -> Result<(), SessionError> {
        check_tag(tag)?;
        self.table().check_unused(tag)
    }

    /// Records which files belong to the state and takes a snapshot, both or neither.
    pub(crate) fn snapshot_with_files(
        &self,
        tag: &str,
        files: FilesystemSnapshotRef,
    ) -> Result<SessionSnapshot, SessionError> {
        check_tag(tag)?;
        let rules = self.rules();
        let mut table = self.table();
        table.check_unused(tag)?;
        self.reduce(&rules, &Arc::new(files.clone()))?;
        let taken = self.keep(&mut table, Some(tag), vec![files.clone()]);
        drop((table, rules));
        self.publish(&files);
        taken
    }

    fn keep(
        &self,
        table: &mut Table,
        tag: Option<&str>,
        files: Vec<FilesystemSnapshotRef>,
    ) -> Result<SessionSnapshot, SessionError> {
        if let Some(tag) = tag {
            table.check_unused(tag)?;
        }
        let snapshot = SessionSnapshot {
            id: SnapshotId::random(),
            tag: tag.map(str::to_owned),
            created_at: self.now(),
            files,
        };
        let slices = self.slices().of(SliceKind::State).clone();
        table.add(KeptState { snapshot: snapshot.clone(), slices, unknown: None });
        Ok(snapshot)
    }

    /// Restores the state of a snapshot; logs and later snapshots are kept.
    ///
    /// What is the same then and now costs nothing. Files stay as they are, also those that were kept
    /// together with the state and are named in what is returned; [`checkpoint::go_back`] takes both back.
    /// The listing of files goes back too, and the next call on them tells the session what they are.
    ///
    /// [`checkpoint::go_back`]: crate::checkpoint::go_back
    pub fn rollback(&self, name: impl Into<SnapshotName>) -> Result<SessionSnapshot, SessionError> {
        self.check_outside_call()?;
        let _turn = self.rules();
        let KeptState { snapshot, slices: state, .. } = self.kept(&name.into())?;
        let mut slices = self.slices();
        let old = slices.clone();
        slices.set_state(state);
        drop(slices);
        self.begin_epoch();
        drop(old);
        Ok(snapshot)
    }

    /// Returns the snapshots, oldest first.
    pub fn snapshots(&self) -> Vec<SessionSnapshot> {
        self.table().kept.values().map(|state| state.snapshot.clone()).collect()
    }

    /// Finds a snapshot by its id or its tag.
    pub fn find_snapshot(
        &self,
        name: impl Into<SnapshotName>,
    ) -> Result<SessionSnapshot, SessionError> {
        self.kept(&name.into()).map(|state| state.snapshot)
    }

    /// Deletes a snapshot; its tag is free again.
    pub fn forget_snapshot(
        &self,
        name: impl Into<SnapshotName>,
    ) -> Result<SessionSnapshot, SessionError> {
        let name = name.into();
        let mut table = self.table();
        let number = table.find(&name)?;
        let removed = table.remove(number);
        drop(table);
        removed.map(|state| state.snapshot).ok_or_else(|| not_found(&name))
    }

    /// Returns the states that are kept, oldest first.
    pub(super) fn kept_states(&self) -> Vec<KeptState> {
        self.table().kept.values().cloned().collect()
    }

    /// Adds a state of another session, unless it is here; without its tag if another state has it.
    pub(super) fn adopt(&self, mut state: KeptState) {
        let mut table = self.table();
        let snapshot = &mut state.snapshot;
        if table.by_id.contains_key(&snapshot.id) {
            return;
        }
        snapshot.tag = snapshot.tag.take().filter(|tag| !table.by_tag.contains_key(tag));
        table.add(state);
    }

    fn kept(&self, name: &SnapshotName) -> Result<KeptState, SessionError> {
        let table = self.table();
        table.kept.get(&table.find(name)?).cloned().ok_or_else(|| not_found(name))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.0.snapshots)
    }
}

fn not_found(name: &SnapshotName) -> SessionError {
    let name = match name {
        SnapshotName::Id(id) => id.to_string(),
        SnapshotName::Tag(tag) => tag.clone(),
    };
    SessionError::SnapshotNotFound { name }
}

pub(super) fn check_tag(tag: &str) -> Result<(), SessionError> {
    let why = match tag {
        "" => "a snapshot's tag cannot be empty; give one, or none",
        _ if tag.chars().count() > MAX_TAG_CHARACTERS => {
            "a snapshot's tag has at most 100 characters; give a shorter one"
        }
        _ if tag.chars().any(char::is_control) => {
            "a snapshot's tag cannot have control characters; leave them out"
        }
        _ if tag.parse::<SnapshotId>().is_ok() => {
            "a snapshot's tag cannot be what only an id looks like; give another"
        }
        _ => return Ok(()),
    };
    Err(SessionError::InvalidTag { why })
}
