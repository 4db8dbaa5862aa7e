//! Events for observers.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::filesystem::Removed;
use crate::filesystem::layer::{Call, Layer};
use crate::filesystem::replace_plan::ReplacePlan;
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::tree::scope::Scope;

/// A successful change.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use wink_fs::{Event, MemoryBackend, Workspace};
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let sink = seen.clone();
/// let files = Workspace::builder(MemoryBackend::new())
///     .observe(move |event| sink.lock().unwrap().push(event.clone()))
///     .build();
/// files.write("a.txt", "hello")?;
/// assert!(matches!(seen.lock().unwrap()[0], Event::FileWritten { bytes_written: 5, .. }));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum Event {
    /// A file has new content.
    FileWritten { path: TreePath, bytes_written: u64 },
    /// A directory was made.
    DirectoryCreated { path: TreePath },
    /// A symbolic link was made.
    LinkCreated { path: TreePath },
    /// A file's mode changed.
    ModeChanged { path: TreePath },
    /// An entry was removed, with everything below it.
    FileDeleted { path: TreePath, files: u64, directories: u64 },
    /// An entry moved, with everything below it.
    Renamed { from: TreePath, to: TreePath },
    /// Paths, and everything below them, were replaced; the root stands for all files.
    Replaced { paths: Vec<TreePath> },
    /// A snapshot was taken.
    SnapshotTaken { id: SnapshotId },
    /// Files were restored from a snapshot.
    Restored { id: SnapshotId },
    /// Snapshots were pruned.
    SnapshotsPruned { ids: Vec<SnapshotId> },
    /// Paths were removed from snapshots.
    PathsPruned { snapshots: Vec<SnapshotId>, paths: BTreeSet<String> },
    /// An interrupted call was rolled back, except where another program changed something since. Changes of an
    /// interrupted program are left as they are. An undo undoes what is left.
    Recovered { taken_back: Vec<TreePath>, left: Vec<TreePath> },
    /// An interrupted replacement (a restore, an import) was finished, except for `left`: another program changed that
    /// since, or its new content is missing. An undo undoes it.
    ReplacementFinished { name: String, finished: Vec<TreePath>, left: Vec<TreePath> },
    /// An interrupted replacement cannot be finished for now, for example because the files are read-only. The first
    /// call that can write finishes it.
    ReplacementUnfinished { name: String },
    /// An operation was done, but not everything that follows it, such as deleting snapshots that it made unnecessary.
    /// The next operation does that.
    HousekeepingFailed { name: String, reason: String },
    /// A program wrote into an entry that was out of view, or a call was interrupted after it displaced the entry, and
    /// its path is taken now. It waits at `place` until the path is free.
    EntryWaits { path: TreePath, place: PathBuf },
    /// Such an entry is back at its path.
    EntryReturned { path: TreePath },
}

impl Event {
    fn of(call: &Call<'_>, removed: Removed) -> Option<Self> {
        Some(match *call {
            Call::Put { path, staged, .. } => {
                Self::FileWritten { path: path.clone(), bytes_written: staged.bytes_supplied() }
            }
            Call::CreateDir { path } => Self::DirectoryCreated { path: path.clone() },
            Call::Symlink { path, .. } => Self::LinkCreated { path: path.clone() },
            Call::SetMode { path, .. } => Self::ModeChanged { path: path.clone() },
            Call::Remove { path, .. } => {
                let Removed { files, directories } = removed;
                Self::FileDeleted { path: path.clone(), files, directories }
            }
            Call::Rename { from, to, .. } => Self::Renamed { from: from.clone(), to: to.clone() },
            Call::Install { path, .. } => Self::Replaced { paths: vec![path.clone()] },
            Call::Replace { scope, plan } => Self::Replaced { paths: replaced_paths(scope, plan) },
            _ => return None,
        })
    }
}

/// Returns the paths that differ, or those that may.
fn replaced_paths(scope: &Scope, plan: Option<&ReplacePlan<'_>>) -> Vec<TreePath> {
    match (plan, scope.starts()) {
        (Some(plan), _) => plan.differences.iter().map(|it| it.path.clone()).collect(),
        (None, []) => vec![TreePath::root()],
        (None, paths) => paths.to_vec(),
    }
}

type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// The observers, called for every change in order.
///
/// ```
/// use wink_fs::{Filesystem, Layered, MemoryBackend, Observers, TreePath};
///
/// let observers = Observers::default().and(|event| assert!(!format!("{event:?}").is_empty()));
/// let mut files = Layered::new(MemoryBackend::new(), observers);
/// files.create_dir(&TreePath::parse("src")?)?;
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Default)]
pub struct Observers {
    all: Vec<Observer>,
    /// Whether changes are reported as a whole at the end.
    is_quiet: AtomicBool,
}

impl Observers {
    /// Adds an observer, called after those added before.
    #[must_use]
    pub fn and(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.all.push(Box::new(observer));
        self
    }
}

impl Observers {
    /// Calls all observers.
    pub(crate) fn tell(&self, event: &Event) {
        self.all.iter().for_each(|observer| observer(event));
    }

    /// Runs changes without reporting each; only the writer may do so.
    pub(crate) fn quietly<T>(&self, work: impl FnOnce() -> T) -> T {
        self.is_quiet.store(true, Ordering::Relaxed);
        let done = work();
        self.is_quiet.store(false, Ordering::Relaxed);
        done
    }
}

impl Layer for Observers {
    fn after(&self, call: &Call<'_>, removed: Removed) {
        if self.all.is_empty() || self.is_quiet.load(Ordering::Relaxed) {
            return;
        }
        if let Some(event) = Event::of(call, removed) {
            self.tell(&event);
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Observers({})", self.all.len())
    }
}
