//! A workspace on a disk, and snapshots of it beside.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use wink_fs::{
    Backend, Error, HostBackend, Kind, NewSnapshot, Operation, OverlayMount, Result, Snapshot,
    SnapshotStore, Strategy, StrategyOptions, Tree, TreePath, Verification, VerifyOptions,
};

use crate::common::disk::Disk;

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
    pub(crate) mount: Option<OverlayMount>,
    ground: Ground,
}

impl Scene {
    /// Makes it where the strategy works: `reflink` on btrfs, `overlay` on a mount, everything else wherever
    /// tests are.
    pub(crate) fn new(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Overlay => Self::over(plant_base),
            Strategy::Reflink => Self::on(strategy, Ground::Mounted(Disk::new("mkfs.btrfs -q"))),
            _ => Self::on(strategy, Ground::Directory(tempfile::tempdir().unwrap())),
        }
    }

    pub(crate) fn on_disk(strategy: Strategy, disk: Disk) -> Self {
        Self::on(strategy, Ground::Mounted(disk))
    }

    /// Mounts a workspace over a base that `fill` makes, and takes it by `overlay`.
    pub(crate) fn over(fill: impl FnOnce(&Path)) -> Self {
        let ground = Ground::Directory(tempfile::tempdir().unwrap());
        let mount = mount_overlay(&home(&ground), fill);
        Self::mounted(Strategy::Overlay, ground, Some(mount))
    }

    fn on(strategy: Strategy, ground: Ground) -> Self {
        std::fs::create_dir(home(&ground).join("root")).unwrap();
        Self::mounted(strategy, ground, None)
    }

    fn mounted(strategy: Strategy, ground: Ground, mount: Option<OverlayMount>) -> Self {
        let home = home(&ground);
        let files = HostBackend::open_ambient(home.join("root")).unwrap();
        let store = options(&home, strategy).create_ambient(home.join("root")).unwrap();
        Self { store, files, strategy, mount, ground }
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

/// Mounts a workspace over `base`, as the directory `root`.
fn mount_overlay(home: &Path, fill: impl FnOnce(&Path)) -> OverlayMount {
    let base = home.join("base");
    std::fs::create_dir(&base).unwrap();
    fill(&base);
    let mount = OverlayMount::mount_ambient(base, home.join("place")).unwrap();
    std::os::unix::fs::symlink(mount.root(), home.join("root")).unwrap();
    mount
}

/// Puts a little into a base, under names that no test has.
fn plant_base(base: &Path) {
    std::fs::create_dir_all(base.join("of-base/deep")).unwrap();
    std::fs::write(base.join("of-base/deep/file"), "of the base\n".repeat(100)).unwrap();
    std::fs::write(base.join("of-base/another"), "another of the base").unwrap();
    std::os::unix::fs::symlink("deep/file", base.join("of-base/link")).unwrap();
}

fn options(home: &Path, strategy: Strategy) -> StrategyOptions {
    StrategyOptions::new(home.join("snapshots")).strategy(strategy)
}

/// Makes a module for each strategy, with a test of each function named; attributes before the names are for the
/// strategies that need no mount.
macro_rules! by_every_strategy {
    ($(#[$attribute:meta])* $($case:ident),* $(,)?) => {
        crate::strategies::scene::by_every_strategy! {
            @each [$(#[$attribute])*] [$($case)*] store: Store, copy: Copy, archive: Archive, git: Git
        }
        crate::strategies::scene::by_every_strategy! {
            @each [#[ignore = "needs root"]] [$($case)*] reflink: Reflink, overlay: Overlay
        }
    };
    (@each $attributes:tt $cases:tt $($module:ident: $strategy:ident),*) => {
        $(crate::strategies::scene::by_every_strategy!(@one $attributes $cases $module $strategy);)*
    };
    (@one $attributes:tt [$($case:ident)*] $module:ident $strategy:ident) => {
        mod $module {
            $(crate::strategies::scene::by_every_strategy!(@test $attributes $case $strategy);)*
        }
    };
    (@test [$($attribute:tt)*] $case:ident $strategy:ident) => {
        #[test]
        $($attribute)*
        fn $case() {
            super::$case(wink_fs::Strategy::$strategy)
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
