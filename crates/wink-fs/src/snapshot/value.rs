//! A snapshot, as a value.

use std::time::SystemTime;

use super::id::SnapshotId;
use super::request::NewSnapshot;
use crate::filesystem::capture::NotCaptured;
use crate::path::TreePath;
use crate::tree::hash::TreeHash;
use crate::tree::scope::Exclusions;

/// Groups the first snapshots of forks, so that they do not expire snapshots of the workspace. No fork can have this name.
pub(crate) const FORKS: &str = "(forks)";

/// Groups the snapshots of all deleted forks. No fork can have this name.
pub(crate) const GONE: &str = "(gone)";

/// Why a snapshot was taken.
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

/// Who asked for a snapshot: each pushes out only its own.
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
    /// Whether the snapshot is incomplete without it: it should be there, and is damaged or could not be read. A
    /// restore leaves such a path alone, and names it.
    pub is_missing: bool,
    /// What it was, by which a store finds it again once it is stored again.
    pub(crate) was: Option<String>,
}

impl Skipped {
    /// Names an entry that no snapshot holds, such as a socket, or that was deleted from the history.
    pub fn new(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self { path: path.into(), why: why.into(), is_missing: false, was: None }
    }

    /// Names an entry that the snapshot should hold.
    pub fn missing(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self { is_missing: true, ..Self::new(path, why) }
    }
}

impl From<&NotCaptured> for Skipped {
    fn from(entry: &NotCaptured) -> Self {
        let NotCaptured { path, why, is_missing } = entry;
        Self { is_missing: *is_missing, ..Self::new(path.to_string(), *why) }
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
    /// The [fork](crate::Store::for_fork) that took it; `None` for the workspace that owns the history.
    ///
    /// The first snapshots of forks count as one fork, `(forks)`, and so do the snapshots of all deleted
    /// forks, `(gone)`. Retention applies to each fork separately.
    pub fork: Option<String>,
    /// How many files and links it holds.
    pub file_count: u64,
    /// The bytes of their contents and targets.
    pub total_bytes: u64,
    /// The backend whose files they are.
    pub backend: String,
    /// What keeps it: the strategy's name.
    pub strategy: String,
    /// What the strategy wrote for it, such as a pack's id; empty if it wrote nothing new.
    pub reference: String,
    /// The hash of the whole tree, if known.
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
    /// Returns what it should hold and does not; a snapshot with such paths is incomplete.
    ///
    /// ```
    /// let snapshot = wink_fs::Workspace::memory().snapshot("complete")?;
    /// assert_eq!(snapshot.missing().count(), 0);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn missing(&self) -> impl Iterator<Item = &Skipped> {
        self.skipped.iter().filter(|it| it.is_missing)
    }

    /// Returns the patterns that a setting excludes; [`excluded`](Self::excluded) also has missing paths, which
    /// a restore leaves alone like excluded ones.
    pub fn excluded_by_setting(&self) -> impl Iterator<Item = &str> {
        let missing = |pattern: &&str| {
            let is_it = |it: &Skipped| {
                TreePath::parse(&it.path)
                    .is_ok_and(|path| Exclusions::pattern_of(&path) == *pattern)
            };
            !self.missing().any(is_it)
        };
        self.excluded.iter().map(String::as_str).filter(missing)
    }

    /// Sets or removes its tag. Agents tag only what they take, so a tag that is set later is a person's, and the
    /// snapshot counts as one that a person asked for.
    pub(crate) fn retag(&mut self, tag: Option<&str>) {
        self.tag = tag.map(str::to_owned);
        if tag.is_some() {
            self.asked_by = SnapshotOrigin::User;
        }
    }

    /// Makes a new snapshot of what a caller knows of it; its place in the order comes later.
    pub(crate) fn of(new: &NewSnapshot, strategy: &str) -> Self {
        let NewSnapshot { tag, message, fork, backend, excluded, skipped, .. } = new.clone();
        Self {
            id: new.id.unwrap_or_else(SnapshotId::random),
            sequence: 0,
            created_at: new.created_at,
            parent: new.parent,
            tag,
            message,
            cause: new.cause,
            asked_by: new.asked_by,
            fork,
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
