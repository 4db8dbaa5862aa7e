//! References to states, and the one resolver of their names.

use std::iter::successors;
use std::time::{Duration, SystemTime};
use std::{error, fmt};

use super::History;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::snapshot::{Snapshot, SnapshotCause, SnapshotId, StateName};
use crate::workspace::Workspace;

/// A state of a workspace: the current files, or those of a snapshot.
///
/// A text is a [name](StateName), which [`Workspace::resolve`] resolves when the state is needed.
///
/// ```
/// use wink_fs::{StateRef, Workspace};
///
/// let files = Workspace::memory();
/// let first = files.snapshot("first")?;
/// let second = files.snapshot("second")?;
/// assert!(files.diff("first", &second)?.is_empty());
/// assert!(files.diff(first.id.short().as_str(), StateRef::Live)?.is_empty());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StateRef {
    /// The files as they are now.
    Live,
    /// The files of a snapshot.
    Snapshot(SnapshotId),
    /// The files as an operation left them.
    AfterOperation(u64),
    /// The files before an operation.
    BeforeOperation(u64),
    /// The state that has this name.
    Named(String),
}

/// Writes the name by which every interface finds the state.
impl fmt::Display for StateRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live => f.write_str("@"),
            Self::Snapshot(id) => id.fmt(f),
            Self::AfterOperation(number) => write!(f, "op:{number}"),
            Self::BeforeOperation(number) => write!(f, "op:{number}-"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// A state that was found.
pub(crate) enum State {
    Live,
    Snapshot(Box<Snapshot>),
    /// No snapshot was taken of it.
    OfOperation {
        number: u64,
        side: Side,
    },
}

/// A state of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl From<&str> for StateRef {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

impl From<&Snapshot> for StateRef {
    fn from(snapshot: &Snapshot) -> Self {
        snapshot.id.into()
    }
}

impl From<SnapshotId> for StateRef {
    fn from(id: SnapshotId) -> Self {
        Self::Snapshot(id)
    }
}

/// An error: a name that resolves to no state, and why.
///
/// ```
/// use wink_fs::{Unresolved, Workspace};
///
/// let files = Workspace::memory();
/// files.snapshot("first")?;
/// let error = files.resolve("@-3").unwrap_err();
/// assert!(matches!(error.why, Unresolved::NoAncestor { ancestors: 1 }));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ResolveError {
    /// The name.
    pub name: String,
    /// Why it resolves to no state.
    pub why: Unresolved,
}

/// Why a name resolves to no state.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unresolved {
    /// It is no tag, no fork, no id and no beginning of one.
    Unknown,
    /// It is the beginning of several ids.
    Ambiguous(Vec<Snapshot>),
    /// It is the tag of the first snapshot and the fork that is at the second.
    TagAndFork(Box<[Snapshot; 2]>),
    /// It is the beginning of an id, but has fewer characters than [`SnapshotId::MIN_PREFIX`].
    TooShort,
    /// No snapshot of this workspace is that old.
    TooYoung {
        /// The oldest snapshot, if there is one.
        oldest: Option<Box<Snapshot>>,
    },
    /// The current files have fewer ancestors.
    NoAncestor {
        /// How many snapshots lead to the current files.
        ancestors: usize,
    },
    /// The operation is not in the log; `None` if the number of the name does not parse.
    UnknownOperation(Option<u64>),
    /// No snapshot holds the files as this operation left them.
    NoSnapshotAfter(u64),
    /// No snapshot holds the files as they were before this operation.
    NoSnapshotBefore(u64),
    /// It names an event, and events are not kept.
    Event,
    /// The history could not be read.
    Failed(Error),
}

impl ResolveError {
    /// Returns the state if it is that of an operation of which no snapshot was taken: it can be looked at with
    /// [`Workspace::tree_at`] and compared, but not restored.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// let state = files.resolve("op:1").unwrap_err().state().unwrap();
    /// assert_eq!(files.diff("op:1-", state)?.added.len(), 1);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn state(&self) -> Option<StateRef> {
        match self.why {
            Unresolved::NoSnapshotAfter(number) => Some(StateRef::AfterOperation(number)),
            Unresolved::NoSnapshotBefore(number) => Some(StateRef::BeforeOperation(number)),
            _ => None,
        }
    }
}

impl From<ResolveError> for Error {
    fn from(error: ResolveError) -> Self {
        let why = match error.why {
            Unresolved::Failed(error) => return error,
            Unresolved::UnknownOperation(Some(sequence)) => return not_logged(sequence),
            Unresolved::Unknown => "no snapshot has this tag or id; list the snapshots there are",
            Unresolved::Ambiguous(_) => {
                "several snapshots have ids that begin so; give more of the id"
            }
            Unresolved::TagAndFork(_) => "it is a tag and a fork; give the id of the snapshot",
            Unresolved::TooShort => {
                "this is too short for an id, which is named by its first four characters; give more of the id"
            }
            _ => "no snapshot is that state; list the snapshots there are",
        };
        not_found(&error.name, why)
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` names no state", self.name)
    }
}

impl error::Error for ResolveError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.why {
            Unresolved::Failed(error) => Some(error),
            _ => None,
        }
    }
}

fn not_found(name: &str, why: &str) -> Error {
    Error::new(Operation::Restore, ErrorKind::SnapshotNotFound)
        .with_path_text(name)
        .with_detail(why)
}

pub(super) fn not_logged(sequence: u64) -> Error {
    Error::new(Operation::Restore, ErrorKind::NotFound).with_detail(format!(
        "no operation {sequence} is kept; list the operations to see which are"
    ))
}

impl Workspace {
    /// Resolves a [name of a state](StateName) to its snapshot; `None` is the current files.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let first = files.snapshot("first")?;
    /// for name in ["first", "@-", &first.id.short()] {
    ///     assert_eq!(files.resolve(name)?.as_ref(), Some(&first));
    /// }
    /// assert_eq!(files.resolve("@")?, None);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn resolve(&self, name: &str) -> Result<Option<Snapshot>, ResolveError> {
        self.resolve_with_fork(name, None)
    }

    /// Resolves a name that may be that of a fork, which is at a snapshot of this history.
    ///
    /// The caller knows its forks: it looks for one if [`StateName::given`] says that the name can be one.
    pub fn resolve_with_fork(
        &self,
        name: &str,
        fork: Option<SnapshotId>,
    ) -> Result<Option<Snapshot>, ResolveError> {
        let resolved = self.history(Operation::Restore).map_err(Unresolved::Failed);
        let resolved = resolved.and_then(|history| history.resolve(name, fork));
        resolved.map_err(|why| ResolveError { name: name.to_owned(), why })
    }

    /// Finds the snapshot that is meant.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let (one, two) = (files.snapshot("one")?, files.snapshot("two")?);
    /// for (name, expected) in [("one", &one), (&*one.id.short(), &one), ("@-", &two), ("@-2", &one)] {
    ///     assert_eq!(files.find_snapshot(name)?.id, expected.id);
    /// }
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn find_snapshot(&self, at: impl Into<StateRef>) -> Result<Snapshot> {
        self.history(Operation::Restore)?.find_snapshot(&at.into())
    }

    /// Returns the snapshots that lead to the current files, the last one first.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let (one, two) = (files.snapshot("one")?, files.snapshot("two")?);
    /// assert_eq!(files.ancestry()?, [two, one]);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn ancestry(&self) -> Result<Vec<Snapshot>> {
        self.history(Operation::List)?.ancestry()
    }
}

impl History {
    /// Finds a state to be looked at, whether there is a snapshot of it or not.
    pub(crate) fn find_state(&self, at: &StateRef) -> Result<State> {
        let (number, side) = match at {
            StateRef::AfterOperation(number) => (Some(*number), Side::After),
            StateRef::BeforeOperation(number) => (Some(*number), Side::Before),
            StateRef::Named(name) => match StateName::parse(name) {
                StateName::Operation(number) => (number, Side::After),
                StateName::BeforeOperation(number) => (number, Side::Before),
                _ => (None, Side::After),
            },
            _ => (None, Side::After),
        };
        let found = match (number, side) {
            (None, _) => {
                return Ok(self.find(at)?.map_or(State::Live, |it| State::Snapshot(it.into())));
            }
            (Some(number), Side::After) => self.snapshot_after(number)?,
            (Some(number), Side::Before) => self.saved_before(number)?,
        };
        Ok(match (found, number) {
            (Some(snapshot), _) => State::Snapshot(snapshot.into()),
            (None, number) => State::OfOperation { number: number.unwrap_or_default(), side },
        })
    }

    /// Returns the snapshot of a state; `None` is the live files.
    pub(crate) fn find(&self, at: &StateRef) -> Result<Option<Snapshot>> {
        match at {
            StateRef::Live => Ok(None),
            StateRef::Snapshot(id) => {
                let found = self.snapshots.describe(id).map(Some);
                found.map_err(|error| error.with_path_text(&id.to_string()))
            }
            named => {
                let name = named.to_string();
                let found = self.resolve(&name, None);
                found.map_err(|why| ResolveError { name, why }.into())
            }
        }
    }

    /// Returns the same where only a snapshot will do.
    pub(crate) fn find_snapshot(&self, at: &StateRef) -> Result<Snapshot> {
        self.find(at)?.ok_or_else(|| {
            not_found("@", "no snapshot is that state; list the snapshots there are")
        })
    }

    fn resolve(
        &self,
        name: &str,
        fork: Option<SnapshotId>,
    ) -> Result<Option<Snapshot>, Unresolved> {
        match StateName::parse(name) {
            StateName::Live => return Ok(None),
            StateName::Event => Err(Unresolved::Event),
            StateName::Ancestor(None) => Err(Unresolved::Unknown),
            StateName::Ancestor(Some(steps)) => self.ancestor(steps),
            StateName::Operation(sequence) => {
                self.of_kept_operation(sequence, Self::snapshot_after, Unresolved::NoSnapshotAfter)
            }
            StateName::BeforeOperation(sequence) => {
                self.of_kept_operation(sequence, Self::saved_before, Unresolved::NoSnapshotBefore)
            }
            StateName::Ago(age) => self.taken_before(age),
            StateName::Given(name) => self.given(name, fork),
        }
        .map(Some)
    }

    fn ancestor(&self, steps: usize) -> Result<Snapshot, Unresolved> {
        let mut ancestry = self.ancestry()?;
        if steps > ancestry.len() {
            return Err(Unresolved::NoAncestor { ancestors: ancestry.len() });
        }
        Ok(ancestry.swap_remove(steps - 1))
    }

    fn of_kept_operation(
        &self,
        sequence: Option<u64>,
        find: impl FnOnce(&Self, u64) -> Result<Option<Snapshot>>,
        none: impl FnOnce(u64) -> Unresolved,
    ) -> Result<Snapshot, Unresolved> {
        let unknown = Unresolved::UnknownOperation(sequence);
        let Some(sequence) = sequence else { return Err(unknown) };
        match find(self, sequence) {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(unknown),
            found => found?.ok_or_else(|| none(sequence)),
        }
    }

    /// Returns the snapshot that was taken before an operation replaced files, if it is one that does.
    fn saved_before(&self, sequence: u64) -> Result<Option<Snapshot>> {
        let operations = self.oplog.list()?;
        let operation = operations.into_iter().find(|it| it.sequence == sequence);
        let operation = operation.ok_or_else(|| not_logged(sequence))?;
        match operation.saved().map(|id| self.snapshots.describe(&id)) {
            Some(Err(error)) if error.kind() == ErrorKind::SnapshotNotFound => Ok(None),
            saved => saved.transpose(),
        }
    }

    /// Finds the last snapshot that led to the files of that time.
    fn taken_before(&self, age: Duration) -> Result<Snapshot, Unresolved> {
        let limit = self.clock.now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
        let all = self.snapshots.list()?;
        let ours = || all.iter().filter(|it| self.is_of_this_fork(it));
        // The next snapshot, also one that was saved before a restore, has as its parent the snapshot that was taken or
        // restored last before that time. The newest one of that time need not be it: a restore may have discarded it.
        let head = match ours().find(|it| it.created_at > limit) {
            Some(next) => next.parent,
            None => self.head()?,
        };
        let in_time = |it: &&Snapshot| it.created_at <= limit;
        let found = ancestors(&all, head).find(in_time);
        // A prune may have deleted the parent.
        let newest = || ours().filter(in_time).rfind(|it| it.cause != SnapshotCause::Safety);
        let oldest = || Unresolved::TooYoung { oldest: all.first().cloned().map(Box::new) };
        found.or_else(newest).cloned().ok_or_else(oldest)
    }

    /// Finds a snapshot by its id, its tag, the fork that is at it, or the beginning of its id.
    fn given(&self, name: &str, fork: Option<SnapshotId>) -> Result<Snapshot, Unresolved> {
        if let Ok(id) = name.parse() {
            return match self.snapshots.describe(&id) {
                Err(error) if error.kind() == ErrorKind::SnapshotNotFound => {
                    Err(Unresolved::Unknown)
                }
                found => Ok(found?),
            };
        }
        let mut all = self.snapshots.list()?;
        let tagged = all.iter().position(|it| it.tag.as_deref() == Some(name));
        let tagged = tagged.map(|at| all.swap_remove(at));
        let fork = fork.map(|id| self.snapshots.describe(&id)).transpose()?;
        match (tagged, fork) {
            (Some(tagged), Some(fork)) if tagged.id != fork.id => {
                return Err(Unresolved::TagAndFork(Box::new([tagged, fork])));
            }
            (Some(named), _) | (None, Some(named)) => return Ok(named),
            (None, None) => {}
        }
        all.retain(|it| !name.is_empty() && it.id.begins_with(name));
        match all.len() {
            0 => Err(Unresolved::Unknown),
            _ if name.len() < SnapshotId::MIN_PREFIX => Err(Unresolved::TooShort),
            1 => Ok(all.swap_remove(0)),
            _ => Err(Unresolved::Ambiguous(all)),
        }
    }

    /// Returns the snapshots that lead to the current files, the last one first.
    pub(crate) fn ancestry(&self) -> Result<Vec<Snapshot>> {
        let all = self.snapshots.list()?;
        // The one that was restored last may be gone.
        let is_ours =
            |it: &&Snapshot| self.is_of_this_fork(it) && it.cause != SnapshotCause::Safety;
        let newest = || all.iter().rfind(is_ours).map(|it| it.id);
        let head = self.head()?.or_else(newest);
        Ok(ancestors(&all, head).cloned().collect())
    }
}

/// Returns a snapshot and those that led to it, the last one first.
fn ancestors(all: &[Snapshot], head: Option<SnapshotId>) -> impl Iterator<Item = &Snapshot> {
    let by_id = |id: Option<SnapshotId>| all.iter().find(|it| Some(it.id) == id);
    successors(by_id(head), move |it| by_id(it.parent)).take(all.len())
}

impl From<Error> for Unresolved {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
