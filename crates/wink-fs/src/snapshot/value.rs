//! A snapshot, as a value.

use std::time::SystemTime;

use super::id::SnapshotId;
use super::request::NewSnapshot;
use crate::filesystem::capture::NotCaptured;
use crate::tree::hash::TreeHash;

/// The line of what forks began with, so that they push no others out; no branch is named so.
pub(crate) const FORKS: &str = "(forks)";

/// The line of the snapshots of all branches that are not there any more; no branch is named so.
pub(crate) const GONE: &str = "(gone)";

/// Says why a snapshot was taken.
///
/// ```
/// assert_eq!(wink_fs::SnapshotCause::default(), wink_fs::SnapshotCause::Requested);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum SnapshotCause {
    /// The caller asked for it.
    #[default]
    Requested,
    /// It keeps what something else was about to replace.
    Safety,
}

/// Says who asked for a snapshot: each pushes out only what it asked for itself.
///
/// ```
/// use wink_fs::{SnapshotOrigin, SnapshotOptions, Workspace};
///
/// let files = Workspace::memory();
/// let agents = files.snapshot_with(&SnapshotOptions::default().asked_by(SnapshotOrigin::Agent))?;
/// assert_eq!(agents.asked_by, SnapshotOrigin::Agent);
/// assert_eq!(files.snapshot("mine")?.asked_by, SnapshotOrigin::User);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum SnapshotOrigin {
    /// A user, or a program of theirs.
    #[default]
    User,
    /// An agent.
    Agent,
    /// Neither: wink takes it by itself, so that what an agent does can be undone.
    Auto,
}

/// Names an entry that a snapshot does not hold, and says why.
///
/// ```
/// let fifo = wink_fs::Skipped::new("run/fifo", "it is a FIFO, socket or device");
/// assert_eq!(fifo.path, "run/fifo");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub struct Skipped {
    /// Its path, as text.
    pub path: String,
    /// Why it was left out.
    pub why: String,
}

impl Skipped {
    /// Names an entry that was left out.
    pub fn new(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self { path: path.into(), why: why.into() }
    }
}

impl From<&NotCaptured> for Skipped {
    fn from(entry: &NotCaptured) -> Self {
        Self::new(entry.path.to_string(), entry.why)
    }
}

/// Describes a snapshot; it never changes.
///
/// ```
/// use std::time::SystemTime;
/// use wink_fs::{NewSnapshot, SnapshotStore, Store, Workspace};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let store = Store::create_ambient(directory.path())?;
/// let files = Workspace::memory();
/// files.write("a.txt", "hello")?;
/// let new = NewSnapshot::new(SystemTime::now()).tag("first").file_count(1).total_bytes(5);
/// let snapshot = store.save(&*files.tree(), &new)?;
/// assert_eq!((snapshot.tag.as_deref(), snapshot.file_count), (Some("first"), 1));
/// assert_eq!(store.list()?, [snapshot]);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// Its id.
    pub id: SnapshotId,
    /// Its place in the order of a store's snapshots, which no clock decides.
    pub sequence: u64,
    /// When it was taken, by the clock of that time.
    pub created_at: SystemTime,
    /// The snapshot that its state grew from.
    pub parent: Option<SnapshotId>,
    /// The name that a person gave it.
    pub tag: Option<String>,
    /// What a person said about it.
    pub message: Option<String>,
    /// Why it was taken.
    pub cause: SnapshotCause,
    /// Who asked for it.
    pub asked_by: SnapshotOrigin,
    /// The line of work that it is of; none is that of the workspace which owns the history.
    ///
    /// Another one is named after its [branch](crate::Store::on_branch). What forks began with is a line by
    /// itself, `(forks)`, and so is all of branches that are not there any more, `(gone)`. What is taken in
    /// one line pushes nothing out of another.
    pub line: Option<String>,
    /// How many files and links it holds.
    pub file_count: u64,
    /// The bytes of their contents and targets.
    pub total_bytes: u64,
    /// The backend whose files they are.
    pub backend: String,
    /// What keeps it: the strategy's name.
    pub strategy: String,
    /// What the strategy wrote for it, such as a pack's id; empty where it wrote nothing new.
    pub reference: String,
    /// The hash of the whole tree, where it is known.
    pub tree_hash: Option<TreeHash>,
    /// Whether it holds the files as of a single moment, without changes that another process made
    /// while it was taken.
    pub point_in_time: bool,
    /// What a setting keeps out of every snapshot.
    pub excluded: Vec<String>,
    /// What could not be captured.
    pub skipped: Vec<Skipped>,
}

impl Snapshot {
    /// Makes a new snapshot of what a caller knows of it; its place in the order comes later.
    pub(crate) fn of(new: &NewSnapshot, strategy: &str) -> Self {
        let NewSnapshot { tag, message, line, backend, excluded, skipped, .. } = new.clone();
        Self {
            id: new.id.unwrap_or_else(SnapshotId::random),
            sequence: 0,
            created_at: new.created_at,
            parent: new.parent,
            tag,
            message,
            cause: new.cause,
            asked_by: new.asked_by,
            line,
            file_count: new.file_count,
            total_bytes: new.total_bytes,
            backend,
            strategy: strategy.to_owned(),
            reference: String::new(),
            tree_hash: None,
            point_in_time: new.point_in_time,
            excluded,
            skipped,
        }
    }
}
