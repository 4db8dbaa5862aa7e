//! A store for one test.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use wink_fs::{
    NewSnapshot, Snapshot, SnapshotId, SnapshotStore, Store, Tree, TreePath, Verification,
    VerifyOptions,
};

pub(crate) use crate::common::trees::*;

pub(crate) fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_744_000)
}

pub(crate) fn new() -> NewSnapshot {
    NewSnapshot::new(noon())
}

/// A store in a directory of its own.
pub(crate) struct Scene {
    pub(crate) store: Store,
    directory: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create_ambient(directory.path().join("store")).unwrap();
        Self { store, directory }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("store")
    }

    pub(crate) fn save(&self, tree: &dyn Tree) -> Snapshot {
        self.store.save(tree, &new()).unwrap()
    }

    pub(crate) fn load(&self, snapshot: &Snapshot) -> Arc<dyn Tree> {
        self.store.load(&snapshot.id).unwrap()
    }

    pub(crate) fn reopen(&mut self) {
        self.store = Store::open_ambient(self.root()).unwrap();
    }

    pub(crate) fn verify(&self) -> Verification {
        self.store.verify(&VerifyOptions::default().data(true)).unwrap()
    }

    pub(crate) fn pack(&self, snapshot: &Snapshot) -> PathBuf {
        self.root().join("packs").join(format!("{}.pack", snapshot.reference))
    }

    pub(crate) fn record(&self, id: &SnapshotId) -> PathBuf {
        self.root().join("snapshots").join(id.to_string())
    }

    pub(crate) fn pack_bytes(&self, snapshot: &Snapshot) -> u64 {
        self.pack(snapshot).metadata().unwrap().len()
    }
}

/// The names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Reads every content and target of a tree, which a listing alone does not.
pub(crate) fn read_everything(tree: &dyn Tree) -> wink_fs::Result<Vec<(TreePath, Vec<u8>)>> {
    let mut found = Vec::new();
    read_below(tree, &TreePath::root(), &mut found)?;
    Ok(found)
}

fn read_below(
    tree: &dyn Tree,
    directory: &TreePath,
    found: &mut Vec<(TreePath, Vec<u8>)>,
) -> wink_fs::Result<()> {
    for entry in tree.list(directory)? {
        let path = directory.join(&entry.name)?;
        let stat = tree.stat(&path)?;
        match entry.kind {
            wink_fs::Kind::Directory => read_below(tree, &path, found)?,
            wink_fs::Kind::File => {
                let content = tree.open(&path)?;
                assert_eq!(content.len(), stat.size_bytes, "{path}");
                let bytes = content.read_all().map_err(|error| {
                    wink_fs::Error::system(wink_fs::Operation::Read, error).with_path(&path)
                })?;
                found.push((path, bytes.to_vec()));
            }
            _ => {
                let target = tree.read_link(&path)?;
                assert_eq!(target.len() as u64, stat.size_bytes, "{path}");
                found.push((path, target));
            }
        }
    }
    Ok(())
}

/// Says of every file that it is another than it is.
pub(crate) struct Liar(pub(crate) wink_fs::MemoryBackend);

impl Tree for Liar {
    fn stat(&self, path: &TreePath) -> wink_fs::Result<wink_fs::Stat> {
        self.0.stat(path)
    }

    fn list(&self, path: &TreePath) -> wink_fs::Result<Vec<wink_fs::Entry>> {
        self.0.list(path)
    }

    fn open(&self, path: &TreePath) -> wink_fs::Result<wink_fs::Content> {
        self.0.open(path)
    }

    fn read_link(&self, path: &TreePath) -> wink_fs::Result<Vec<u8>> {
        self.0.read_link(path)
    }

    fn known_hash(&self, _: &TreePath) -> Option<wink_fs::ContentHash> {
        Some(wink_fs::ContentHash::of(b"something else"))
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<wink_fs::TreeHash> {
        None
    }
}
