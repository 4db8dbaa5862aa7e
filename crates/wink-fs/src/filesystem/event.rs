//! Events that tell observers what happened.

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

/// Tells of one successful change.
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
    /// What is kept of a file's permissions changed.
    ModeChanged { path: TreePath },
    /// An entry was removed, with all that was below it.
    FileDeleted { path: TreePath, files: u64, directories: u64 },
    /// An entry moved, with all that is below it.
    Renamed { from: TreePath, to: TreePath },
    /// What is at some paths, and below them, was made that of another tree; the root stands for all files.
    Replaced { paths: Vec<TreePath> },
    /// The files were kept.
    SnapshotTaken { id: SnapshotId },
    /// Files were made those of a snapshot.
    Restored { id: SnapshotId },
    /// Snapshots were taken away that are not to be kept.
    SnapshotsPruned { ids: Vec<SnapshotId> },
    /// Paths were taken out of snapshots.
    PathsPruned { snapshots: Vec<SnapshotId>, paths: BTreeSet<String> },
    /// The changes of a call whose process died were rolled back, except where another program changed something
    /// since. What a program had changed is left as it is, with what others changed since. An undo takes back what
    /// is left.
    Recovered { taken_back: Vec<TreePath>, left: Vec<TreePath> },
    /// A replacement (a restore, an import) whose process died was finished, except for what is left: another program
    /// changed that since, or its new content was not found. An undo takes back what was finished.
    ReplacementFinished { name: String, finished: Vec<TreePath>, left: Vec<TreePath> },
    /// A replacement whose process died cannot be finished for now, as where the files are read-only. The first call
    /// that finds them writable finishes and records it.
    ReplacementUnfinished { name: String },
    /// A program wrote into an entry that was out of view already, or a call that took it out of view did not end, and
    /// something else is in its place now. It waits at a place of the host until the path is free.
    EntryWaits { path: TreePath, place: PathBuf },
    /// Such an entry came back into view, since nothing was in its place.
    EntryReturned { path: TreePath },
    /// The history takes nine tenths of the space that it may, or more: soon no snapshot is taken.
    StoreNearlyFull { bytes: u64, max_bytes: u64 },
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

/// Returns where something is different where that was found out, else where it may be.
fn replaced_paths(scope: &Scope, plan: Option<&ReplacePlan<'_>>) -> Vec<TreePath> {
    match (plan, scope.starts()) {
        (Some(plan), _) => plan.differences.iter().map(|it| it.path.clone()).collect(),
        (None, []) => vec![TreePath::root()],
        (None, paths) => paths.to_vec(),
    }
}

type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// Tells observers of every change, in the order in which the changes happen.
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
    /// Whether changes are told of as a whole when they are all made.
    is_quiet: AtomicBool,
}

impl Observers {
    /// Adds one that is told after those added before it.
    #[must_use]
    pub fn and(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.all.push(Box::new(observer));
        self
    }
}

impl Observers {
    /// Tells all of them.
    pub(crate) fn tell(&self, event: &Event) {
        self.all.iter().for_each(|observer| observer(event));
    }

    /// Makes changes of which none is told by itself; the only writer does that.
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
