//! Makes a snapshot store from settings.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Strategy;
use super::archive;
#[cfg(target_os = "linux")]
use super::copy::{self, CopyKeeper, CopyMethod};
#[cfg(unix)]
use super::git;
use super::keeper::Keeper;
#[cfg(target_os = "linux")]
use super::overlay;
use super::retention::Limited;
use super::snapshots::{self, Fill, StrategySnapshots};
use crate::error::{Error, Operation, Result};
use crate::snapshot::SnapshotStore;
use crate::store::disk::Disk;
use crate::store::{Store, format};

/// How and where the snapshots of a directory are kept, and how many.
///
/// ```
/// use wink_fs::{HostBackend, Strategy, StrategyOptions, Workspace};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let (root, snapshots) = (directory.path().join("root"), directory.path().join("snapshots"));
/// # Workspace::host(directory.path())?.mkdir("root")?;
/// let options = StrategyOptions::new(&snapshots).strategy(Strategy::Copy).max_snapshots(20);
/// options.create_ambient(&root)?;
///
/// let files = Workspace::builder(HostBackend::open_ambient(&root)?)
///     .snapshots(options.open_ambient()?)
///     .build();
/// files.write("a.txt", "before")?;
/// let before = files.snapshot("before")?;
/// files.write("a.txt", "after")?;
/// files.restore(&before)?;
/// assert_eq!(files.read("a.txt")?.content, "before");
/// assert_eq!(before.strategy, "copy");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct StrategyOptions {
    /// How they are kept.
    pub strategy: Strategy,
    /// Where they are kept, outside of the workspace.
    pub snapshot_dir: PathBuf,
    /// How many untagged snapshots by users and agents are kept; the oldest are removed.
    pub max_snapshots: usize,
}

impl StrategyOptions {
    /// Names the directory of the snapshots; the defaults are ten snapshots, in the store.
    pub fn new(snapshot_dir: impl Into<PathBuf>) -> Self {
        let strategy = Strategy::default();
        let snapshot_dir = snapshot_dir.into();
        Self { strategy, snapshot_dir, max_snapshots: 10 }
    }

    /// Sets how they are kept.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets how many untagged snapshots are kept; the newest always is.
    #[must_use]
    pub fn max_snapshots(mut self, max_snapshots: usize) -> Self {
        self.max_snapshots = max_snapshots;
        self
    }

    /// Makes a snapshot store for a workspace in a new or empty directory, with the ambient authority of the process.
    ///
    /// A strategy that does not fit the machine or the directory is Unsupported, with the reason. [`Strategy::Auto`] is
    /// resolved now, for good.
    pub fn create_ambient(&self, root: impl AsRef<Path>) -> Result<Arc<dyn SnapshotStore>> {
        let strategy = match self.strategy {
            Strategy::Auto => best(&self.snapshot_dir, root.as_ref()),
            strategy => strategy,
        };
        if strategy == Strategy::Store {
            return Ok(self.limited(Store::create_ambient(&self.snapshot_dir)?));
        }
        let made = make(&self.snapshot_dir, strategy, root.as_ref());
        made.map_err(|error| Error::system(Operation::OpenStore, error))?;
        self.open_as(strategy)
    }

    /// Opens an existing snapshot store, with the ambient authority of the process.
    ///
    /// With `auto`, its strategy is used; any other must be the same. A directory without snapshots is NotFound: an
    /// empty one may be the mount point of a disk that is not mounted.
    pub fn open_ambient(&self) -> Result<Arc<dyn SnapshotStore>> {
        match self.strategy {
            Strategy::Auto => {
                let found = format::read(&Disk::new(&self.snapshot_dir))?;
                self.open_as(found.strategy.parse()?)
            }
            strategy => self.open_as(strategy),
        }
    }

    fn open_as(&self, strategy: Strategy) -> Result<Arc<dyn SnapshotStore>> {
        let path = &self.snapshot_dir;
        match strategy {
            Strategy::Store => Ok(self.limited(Store::open_ambient(path)?)),
            _ => {
                let keeper = keeper(path, strategy);
                let keeper = keeper.map_err(|error| Error::system(Operation::OpenStore, error))?;
                Ok(self.limited(StrategySnapshots::open(path, strategy, keeper)?))
            }
        }
    }

    fn limited(&self, store: impl SnapshotStore + 'static) -> Arc<dyn SnapshotStore> {
        Arc::new(Limited::new(store, self.max_snapshots))
    }
}

/// Chooses the strategy that fits; the probes leave nothing behind.
fn best(snapshot_dir: &Path, root: &Path) -> Strategy {
    #[cfg(target_os = "linux")]
    if super::reflink::is_possible(snapshot_dir, root) {
        return Strategy::Reflink;
    }
    #[cfg(unix)]
    if git::is_repository(root) {
        return Strategy::Git;
    }
    #[cfg(target_os = "linux")]
    if overlay::base_of(root).is_ok() {
        return Strategy::Overlay;
    }
    let _ = (snapshot_dir, root);
    // It works everywhere, so `copy`, the last one, is never reached.
    Strategy::Archive
}

fn make(path: &Path, strategy: Strategy, root: &Path) -> io::Result<()> {
    let nothing: Fill = Box::new(|_| Ok(()));
    let (directories, fill): (&[&str], Fill) = match strategy {
        Strategy::Archive => (&[archive::DIRECTORY], nothing),
        #[cfg(unix)]
        Strategy::Git => (&git::DIRECTORIES, Box::new(git::make)),
        #[cfg(target_os = "linux")]
        Strategy::Copy => (&[copy::DIRECTORY], nothing),
        #[cfg(target_os = "linux")]
        Strategy::Reflink => {
            super::reflink::probe(path)?;
            (&[copy::DIRECTORY], nothing)
        }
        #[cfg(target_os = "linux")]
        Strategy::Overlay => {
            let base = overlay::base_of(root)?;
            (&[copy::DIRECTORY], Box::new(move |disk| overlay::make(disk, &base)))
        }
        _ => return Err(not_here(strategy)),
    };
    let _ = root;
    snapshots::create(path, strategy, directories, fill)
}

fn keeper(path: &Path, strategy: Strategy) -> io::Result<Box<dyn Keeper>> {
    let disk = Disk::new(path);
    Ok(match strategy {
        Strategy::Archive => Box::new(archive::ArchiveKeeper::new(disk)),
        #[cfg(unix)]
        Strategy::Git => Box::new(git::GitKeeper::new(disk)),
        #[cfg(target_os = "linux")]
        Strategy::Copy => Box::new(CopyKeeper::new(disk, CopyMethod::Copy)),
        #[cfg(target_os = "linux")]
        Strategy::Reflink => Box::new(CopyKeeper::new(disk, CopyMethod::Clone)),
        #[cfg(target_os = "linux")]
        Strategy::Overlay => Box::new(overlay::OverlayKeeper::new(disk)),
        _ => return Err(not_here(strategy)),
    })
}

fn not_here(strategy: Strategy) -> io::Error {
    crate::error::worded(
        io::ErrorKind::Unsupported,
        format!("the strategy `{strategy}` is not there on this system; use `store`"),
    )
}
