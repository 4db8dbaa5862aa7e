//! What a caller knows of a snapshot that is to be taken.

use std::time::SystemTime;

use super::id::SnapshotId;
use super::value::{Skipped, Snapshot, SnapshotCause, SnapshotOrigin};
use crate::filesystem::capture::Capture;
use crate::util::progress::Progress;

/// The metadata of a snapshot before it is saved.
///
/// ```
/// use std::time::SystemTime;
/// use wink_fs::NewSnapshot;
///
/// let new = NewSnapshot::new(SystemTime::UNIX_EPOCH).tag("before").backend("memory");
/// assert_eq!((new.tag.as_deref(), new.file_count), (Some("before"), 0));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NewSnapshot {
    /// Its id, if it is a copy of one that is kept elsewhere; none means a new one.
    pub id: Option<SnapshotId>,
    /// When it was taken.
    pub created_at: SystemTime,
    /// The snapshot that its state grew from.
    pub parent: Option<SnapshotId>,
    /// The name that a person gives it.
    pub tag: Option<String>,
    /// What a person says about it.
    pub message: Option<String>,
    /// Why it is taken.
    pub cause: SnapshotCause,
    /// Who asks for it.
    pub asked_by: SnapshotOrigin,
    /// The fork that takes it; `None` for the workspace itself.
    pub fork: Option<String>,
    /// How many files and links it holds.
    pub file_count: u64,
    /// The bytes of their contents and targets.
    pub total_bytes: u64,
    /// The backend whose files they are.
    pub backend: String,
    /// Whether it holds the files as of a single moment, without changes that another process made
    /// while it was taken.
    pub point_in_time: bool,
    /// What a setting keeps out of every snapshot.
    pub excluded: Vec<String>,
    /// What the tree left out already.
    pub skipped: Vec<Skipped>,
    /// Where it is said how many files must be read, by who keeps it and knows that.
    pub progress: Option<Progress>,
}

impl NewSnapshot {
    /// Starts with the time it is taken at.
    pub fn new(created_at: SystemTime) -> Self {
        Self {
            id: None,
            created_at,
            parent: None,
            tag: None,
            message: None,
            cause: SnapshotCause::Requested,
            asked_by: SnapshotOrigin::User,
            fork: None,
            file_count: 0,
            total_bytes: 0,
            backend: String::new(),
            point_in_time: false,
            excluded: Vec::new(),
            skipped: Vec::new(),
            progress: None,
        }
    }

    /// Returns the metadata of another store's snapshot, to save it here under the same id.
    ///
    /// ```
    /// use wink_fs::{MemorySnapshots, NewSnapshot, SnapshotStore, Store, Workspace};
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// let files = Workspace::memory();
    /// let taken = files.snapshot("first")?;
    /// let elsewhere = Store::create_ambient(directory.path())?;
    /// let copy = elsewhere.save(&*files.tree_at(&taken)?, &NewSnapshot::copy_of(&taken))?;
    /// assert_eq!((copy.id, copy.tag), (taken.id, taken.tag));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn copy_of(snapshot: &Snapshot) -> Self {
        let Snapshot { tag, message, backend, excluded, skipped, .. } = snapshot.clone();
        Self {
            id: Some(snapshot.id),
            created_at: snapshot.created_at,
            parent: snapshot.parent,
            tag,
            message,
            cause: snapshot.cause,
            asked_by: snapshot.asked_by,
            fork: None,
            file_count: snapshot.file_count,
            total_bytes: snapshot.total_bytes,
            backend,
            point_in_time: snapshot.point_in_time,
            excluded,
            skipped,
            progress: None,
        }
    }

    /// Takes over what a capture says of itself.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// use wink_fs::{Backend, MemoryBackend, NewSnapshot};
    ///
    /// let capture = MemoryBackend::new().capture(&Default::default())?;
    /// let new = NewSnapshot::new(SystemTime::UNIX_EPOCH).captured(&capture);
    /// assert!(new.point_in_time && new.file_count == 0);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn captured(mut self, capture: &Capture) -> Self {
        self.file_count = capture.totals.files;
        self.total_bytes = capture.totals.bytes;
        self.point_in_time = capture.point_in_time;
        self.skipped = capture.not_captured.iter().map(Skipped::from).collect();
        self
    }

    /// Sets the snapshot that its state grew from.
    #[must_use]
    pub fn parent(mut self, parent: SnapshotId) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Sets the name that a person gives it: 1 to 100 characters, unique in its store.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Sets what a person says about it.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets why it is taken.
    #[must_use]
    pub fn cause(mut self, cause: SnapshotCause) -> Self {
        self.cause = cause;
        self
    }

    /// Sets who asks for it.
    #[must_use]
    pub fn asked_by(mut self, asked_by: SnapshotOrigin) -> Self {
        self.asked_by = asked_by;
        self
    }

    /// Sets the fork that takes it.
    #[must_use]
    pub fn fork(mut self, fork: impl Into<String>) -> Self {
        self.fork = Some(fork.into());
        self
    }

    /// Sets how many files and links it holds.
    #[must_use]
    pub fn file_count(mut self, file_count: u64) -> Self {
        self.file_count = file_count;
        self
    }

    /// Sets the bytes of their contents and targets.
    #[must_use]
    pub fn total_bytes(mut self, total_bytes: u64) -> Self {
        self.total_bytes = total_bytes;
        self
    }

    /// Sets the backend whose files they are.
    #[must_use]
    pub fn backend(mut self, backend: impl Into<String>) -> Self {
        self.backend = backend.into();
        self
    }

    /// Sets whether it holds the files as of a single moment, without changes that another process made
    /// while it was taken.
    #[must_use]
    pub fn point_in_time(mut self, point_in_time: bool) -> Self {
        self.point_in_time = point_in_time;
        self
    }

    /// Sets what a setting keeps out of every snapshot.
    #[must_use]
    pub fn excluded(mut self, excluded: Vec<String>) -> Self {
        self.excluded = excluded;
        self
    }

    /// Sets what the tree left out already; a store adds what it leaves out itself.
    #[must_use]
    pub fn skipped(mut self, skipped: Vec<Skipped>) -> Self {
        self.skipped = skipped;
        self
    }
}
