//! A workspace on a disk, and snapshots of it beside.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use wink_fs::{
    Backend, Error, HostBackend, Kind, NewSnapshot, Operation, Result, Snapshot, SnapshotStore,
    Strategy, StrategyOptions, Tree, TreePath, Verification, VerifyOptions,
};

use crate::disk::Disk;

pub(crate) fn new() -> NewSnapshot {
    NewSnapshot::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_744_000))
}

/// Where it all is; the fields go in their order.
enum Ground {
    Directory(TempDir),
    Mounted(Disk),
}

pub(crate) struct Scene {
    pub(crate) store: Arc<dyn SnapshotStore>,
    pub(crate) files: HostBackend,
    pub(crate) strategy: Strategy,
    ground: Ground,
}

impl Scene {
    /// Makes it where the strategy works: `reflink` on btrfs, everything else wherever tests are.
    pub(crate) fn new(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Reflink => Self::on(strategy, Ground::Mounted(Disk::new("mkfs.btrfs -q"))),
            _ => Self::on(strategy, Ground::Directory(tempfile::tempdir().unwrap())),
        }
    }

    pub(crate) fn on_disk(strategy: Strategy, disk: Disk) -> Self {
        Self::on(strategy, Ground::Mounted(disk))
    }

    fn on(strategy: Strategy, ground: Ground) -> Self {
        let home = home(&ground);
        std::fs::create_dir(home.join("root")).unwrap();
        let files = HostBackend::open_ambient(home.join("root")).unwrap();
        let store = options(&home, strategy).create_ambient(home.join("root")).unwrap();
        Self { store, files, strategy, ground }
    }

    pub(crate) fn home(&self) -> PathBuf {
        home(&self.ground)
    }

    pub(crate) fn snapshots(&self) -> PathBuf {
        self.home().join("snapshots")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.home().join("root")
    }

    pub(crate) fn options(&self) -> StrategyOptions {
        options(&self.home(), self.strategy)
    }

    /// Opens the snapshots as another process would.
    pub(crate) fn reopened(&self) -> Arc<dyn SnapshotStore> {
        self.options().open_ambient().unwrap()
    }

    pub(crate) fn save(&self) -> Snapshot {
        self.save_as(&new()).unwrap()
    }

    pub(crate) fn save_as(&self, new: &NewSnapshot) -> Result<Snapshot> {
        let capture = self.files.capture(&Default::default()).unwrap();
        self.store.save(&*capture.tree, &new.clone().captured(&capture))
    }

    pub(crate) fn verify(&self) -> Verification {
        self.reopened().verify(&VerifyOptions::default().data(true)).unwrap()
    }
}

fn home(ground: &Ground) -> PathBuf {
    match ground {
        Ground::Directory(directory) => directory.path().to_path_buf(),
        Ground::Mounted(disk) => disk.path("mounted"),
    }
}

fn options(home: &Path, strategy: Strategy) -> StrategyOptions {
    StrategyOptions::new(home.join("snapshots")).strategy(strategy)
}

/// Makes a module for each strategy, with a test of each function named.
macro_rules! by_every_strategy {
    ($($case:ident),* $(,)?) => {
        by_every_strategy!(@each [$($case)*] store: Store, copy: Copy, archive: Archive, git: Git, reflink: Reflink);
    };
    (@each $cases:tt $($module:ident: $strategy:ident),*) => {
        $(by_every_strategy!(@one $cases $module $strategy);)*
    };
    (@one [$($case:ident)*] $module:ident $strategy:ident) => {
        mod $module {
            $(#[test] fn $case() { super::$case(wink_fs::Strategy::$strategy) })*
        }
    };
}

pub(crate) use by_every_strategy;

/// Reads every content and target of a tree, which a listing alone does not.
pub(crate) fn read_everything(tree: &dyn Tree) -> Result<Vec<(TreePath, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut directories = vec![TreePath::root()];
    while let Some(directory) = directories.pop() {
        for entry in tree.list(&directory)? {
            let path = directory.join(&entry.name)?;
            match entry.kind {
                Kind::Directory => directories.push(path),
                Kind::File => {
                    let content = tree.open(&path)?.read_all();
                    let content = content.map_err(|error| Error::system(Operation::Read, error))?;
                    assert_eq!(content.len() as u64, tree.stat(&path)?.size_bytes, "{path}");
                    found.push((path, content.to_vec()));
                }
                _ => found.push((path.clone(), tree.read_link(&path)?)),
            }
        }
    }
    Ok(found)
}

/// The paths of all files below a directory, sorted.
pub(crate) fn all_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.symlink_metadata().unwrap() {
            found if found.is_dir() => files.append(&mut all_files(&path)),
            found if found.is_file() => files.push(path),
            _ => {}
        }
    }
    files.sort();
    files
}
