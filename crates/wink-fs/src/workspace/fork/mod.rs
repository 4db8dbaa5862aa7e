//! Forks: independent workspaces that begin with the files of a state, and merging them.

pub(crate) mod merge;
pub(crate) mod persist;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::history::History;
use super::{Shared, StateRef, Workspace};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::host::HostBackend;
use crate::memory::{self, MemoryBackend};
use crate::snapshot::{FORKS, NewSnapshot, Pin, SnapshotId, SnapshotStore};
use crate::tree::Tree;
use crate::tree::scope::{Exclusions, Scope};
use crate::{Backend, Replaced};

/// How long a state is kept for a fork whose process died and cannot let it go.
const PINNED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How many merges are remembered, for those who take them back.
const MERGES: usize = 16;

/// The state a workspace was forked from.
pub(super) struct Origin {
    snapshot: SnapshotId,
    tree: Arc<dyn Tree>,
    merges: Mutex<Vec<Merge>>,
    _pinned: Pinned,
}

/// A state of a fork that was brought in, and what was there before the last merge up to it that changed anything.
pub(super) type InEffect = (Arc<dyn Tree>, Option<SnapshotId>);

/// A state of a fork that was brought into a workspace.
struct Merge {
    into: Weak<Shared>,
    tree: Arc<dyn Tree>,
    /// The snapshot of what was there before, if anything was changed.
    saved: Option<SnapshotId>,
}

impl Origin {
    pub(super) fn snapshot(&self) -> SnapshotId {
        self.snapshot
    }

    /// Returns the last state that a workspace has of the fork: where the two began to differ.
    pub(super) fn base_for(&self, files: &Workspace) -> Result<Arc<dyn Tree>> {
        let last = self.last_merge(files)?;
        Ok(last.map_or_else(|| self.beginning(files), |(tree, _)| tree))
    }

    /// Returns the last state that was brought into a workspace and is in effect there, with the snapshot that
    /// tells for how long.
    pub(super) fn last_merge(&self, files: &Workspace) -> Result<Option<InEffect>> {
        let merges = self.merges();
        let here = merges.iter().filter(|it| it.into.as_ptr() == files.as_ptr());
        let mut saved = None;
        files.last_in_effect(here.map(|it| {
            saved = it.saved.or(saved);
            (it.saved, (it.tree.clone(), saved))
        }))
    }

    /// Returns the forked state as it is stored now: the user may have pruned paths from it since.
    fn beginning(&self, files: &Workspace) -> Arc<dyn Tree> {
        let kept = files.0.history.as_ref().map(|it| it.snapshots.load(&self.snapshot));
        kept.and_then(Result::ok).unwrap_or_else(|| self.tree.clone())
    }

    /// Remembers that a state was brought into a workspace, or that its conflicts were decided.
    pub(super) fn merged(
        &self,
        files: &Workspace,
        theirs: &dyn Tree,
        saved: Option<SnapshotId>,
    ) -> Result<()> {
        let (into, tree) = (Arc::downgrade(&files.0), memory::kept(theirs)?);
        let mut merges = self.merges();
        merges.retain(|it| it.into.strong_count() > 0);
        merges.push(Merge { into, tree, saved });
        let oldest = merges.len().saturating_sub(MERGES);
        merges.drain(..oldest);
        Ok(())
    }

    fn merges(&self) -> MutexGuard<'_, Vec<Merge>> {
        self.merges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a snapshot from being pruned while a fork reads from it.
struct Pinned {
    snapshots: Arc<dyn SnapshotStore>,
    pin: Pin,
}

impl Pinned {
    fn new(history: &History, id: SnapshotId) -> Result<Self> {
        let pin = Pin::new(id, format!("fork {}", uuid::Uuid::new_v4()));
        let pin = pin.expires(history.clock.now() + PINNED);
        match history.snapshots.pin(&pin) {
            // The store has no pins: the snapshot stays as long as no process deletes it.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            pinned => pinned?,
        }
        Ok(Self { snapshots: history.snapshots.clone(), pin })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Where it fails, the pin stops to count by itself.
        let _ = self.snapshots.unpin(&self.pin.snapshot, &self.pin.owner);
    }
}

impl Workspace {
    /// Makes an independent workspace of a state, which shares its files and makes none.
    ///
    /// A fork is in memory: it begins with the files of the state, which are read from where they are stored
    /// when a caller opens them, and changes in the fork change nothing elsewhere. It has the limits,
    /// exclusions and retention of this workspace and a history of its own, and goes when its last handle
    /// does; until then, but no longer than a week, the state is [pinned](Pin).
    /// [`merge`](Self::merge) brings what was done in it back, [`materialise`](Self::materialise) makes it
    /// a directory. Of [`StateRef::Live`] a snapshot is taken first.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "hello")?;
    /// let attempt = files.fork(&files.snapshot("start")?)?;
    /// attempt.write("a.txt", "changed")?;
    /// assert_eq!(files.read("a.txt")?.content, "hello");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn fork(&self, at: impl Into<StateRef>) -> Result<Self> {
        let failed = |error: Error| error.during(Operation::Fork);
        let history = self.history(Operation::Fork)?;
        let snapshot = match history.find(&at.into()).map_err(failed)? {
            None => {
                let new = NewSnapshot::new(history.clock.now()).message("fork").fork(FORKS);
                self.take(history, &new)?
            }
            Some(snapshot) => snapshot,
        };
        let pinned = Pinned::new(history, snapshot.id).map_err(failed)?;
        let tree = history.snapshots.load(&snapshot.id).map_err(failed)?;
        let mut builder = Self::builder(MemoryBackend::over(&tree).map_err(failed)?);
        builder.guard = self.turn()?.layer().clone().read_only(false);
        builder.excluded = history.excluded.known();
        builder.retention = Some(history.retention.clone());
        builder.actor = history.actor.clone();
        let (snapshot, merges) = (snapshot.id, Mutex::default());
        builder.origin = Some(Origin { snapshot, tree, merges, _pinned: pinned });
        Ok(builder.build())
    }

    /// Returns the snapshot this workspace is a fork of, if it is one.
    pub fn forked_from(&self) -> Option<SnapshotId> {
        self.0.origin.as_ref().map(|origin| origin.snapshot)
    }

    fn as_ptr(&self) -> *const Shared {
        Arc::as_ptr(&self.0)
    }

    /// Returns the state this workspace is a fork of.
    pub(super) fn origin(&self, operation: Operation) -> Result<&Origin> {
        self.0.origin.as_ref().ok_or_else(|| {
            Error::new(operation, ErrorKind::InvalidArgument)
                .with_detail("it is no fork; name a workspace that `fork` made")
        })
    }

    /// Writes the files into a directory of the host that is new or empty, with the ambient authority of
    /// the process.
    ///
    /// ```
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let place = directory.path().join("attempt");
    /// let files = wink_fs::Workspace::memory();
    /// files.write("src/a.rs", "fn a() {}")?;
    /// assert_eq!(files.materialise(&place)?.written, 1);
    /// assert_eq!(std::fs::read_to_string(place.join("src/a.rs")).unwrap(), "fn a() {}");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn materialise(&self, directory: impl AsRef<Path>) -> Result<Replaced> {
        let failed = |error: Error| error.during(Operation::Fork);
        let excluded = self.0.history.as_ref().map(|it| it.excluded.known()).unwrap_or_default();
        let capture = self.backend(&mut *self.turn()?).capture(&excluded).map_err(failed)?;
        make_directory(directory.as_ref()).map_err(failed)?;
        let mut target = HostBackend::open_ambient(directory).map_err(failed)?;
        if target.capture(&Exclusions::default()).map_err(failed)?.totals != Default::default() {
            return Err(not_empty());
        }
        target.replace(&*capture.tree, &Scope::everything()).map_err(failed)
    }
}

#[allow(clippy::disallowed_methods, reason = "the caller names a directory with ambient authority")]
fn make_directory(path: &Path) -> Result<()> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(|error| Error::system(Operation::Fork, error)),
    }
}

fn not_empty() -> Error {
    Error::new(Operation::Fork, ErrorKind::AlreadyExists)
        .with_detail("the directory is not empty; name a new one, or an empty one")
}
