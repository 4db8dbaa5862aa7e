//! From what is configured to what keeps snapshots.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Strategy;
use super::archive;
#[cfg(target_os = "linux")]
use super::copy::{self, CopyKeeper, Way};
#[cfg(unix)]
use super::git;
use super::keeper::Keeper;
use super::kept::{self, Fill, KeptSnapshots};
#[cfg(target_os = "linux")]
use super::overlay;
use super::retention::Limited;
use crate::error::{Error, Operation, Result};
use crate::snapshot::SnapshotStore;
use crate::store::disk::Disk;
use crate::store::{Store, format};

/// Says how the snapshots of a directory are kept, where, and how many.
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
    /// The way they are kept.
    pub strategy: Strategy,
    /// The directory they are kept in, outside of what they are of.
    pub snapshot_dir: PathBuf,
    /// How many snapshots are kept that a caller asked for and gave no tag; the oldest are removed.
    pub max_snapshots: usize,
}

impl StrategyOptions {
    /// Names the directory of the snapshots; ten are kept, in the store.
    pub fn new(snapshot_dir: impl Into<PathBuf>) -> Self {
        let (strategy, snapshot_dir) = (Strategy::default(), snapshot_dir.into());
        Self { strategy, snapshot_dir, max_snapshots: 10 }
    }

    /// Sets the way they are kept.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets how many snapshots are kept that a caller asked for and gave no tag; at least the newest is.
    #[must_use]
    pub fn max_snapshots(mut self, max_snapshots: usize) -> Self {
        self.max_snapshots = max_snapshots;
        self
    }

    /// Begins to keep snapshots of a directory in a new or empty one, with the ambient authority of the
    /// process.
    ///
    /// A strategy that the machine or the directory is not made for is Unsupported, with the reason. What
    /// [`Strategy::Auto`] is here is decided now, and kept.
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

    /// Opens the snapshots that are kept already, with the ambient authority of the process.
    ///
    /// `auto` is the strategy they are kept by; any other must be that one. A directory without
    /// snapshots is NotFound: an empty one may be the place of a disk that is not mounted.
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
                Ok(self.limited(KeptSnapshots::open(path, strategy, keeper)?))
            }
        }
    }

    fn limited(&self, store: impl SnapshotStore + 'static) -> Arc<dyn SnapshotStore> {
        Arc::new(Limited::new(store, self.max_snapshots))
    }
}

/// Chooses by what the directory and the machine are made for; finding out leaves nothing behind.
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
    // It works everywhere, so that `copy`, the last, is never reached.
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
    kept::create(path, strategy, directories, fill)
}

fn keeper(path: &Path, strategy: Strategy) -> io::Result<Box<dyn Keeper>> {
    let disk = Disk::new(path);
    Ok(match strategy {
        Strategy::Archive => Box::new(archive::ArchiveKeeper::new(disk)),
        #[cfg(unix)]
        Strategy::Git => Box::new(git::GitKeeper::new(disk)),
        #[cfg(target_os = "linux")]
        Strategy::Copy => Box::new(CopyKeeper::new(disk, Way::Copy)),
        #[cfg(target_os = "linux")]
        Strategy::Reflink => Box::new(CopyKeeper::new(disk, Way::Clone)),
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
