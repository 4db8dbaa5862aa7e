//! A restore compares and counts each directory once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use wink_fs::{
    Content, ContentHash, Entry, KnownEntry, MemoryBackend, MemorySnapshots, NewSnapshot, Progress,
    RestoreOptions, Result, Snapshot, SnapshotId, SnapshotStore, Stat, Tree, TreeHash, TreePath,
    Verification, VerifyOptions, Workspace,
};

/// How often each directory of the snapshots was listed.
type Listed = Arc<Mutex<BTreeMap<(SnapshotId, String), usize>>>;

#[derive(Default)]
struct Counting {
    snapshots: MemorySnapshots,
    listed: Listed,
}

impl SnapshotStore for Counting {
    fn strategy(&self) -> &'static str {
        "counting"
    }

    fn save(&self, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot> {
        self.snapshots.save(tree, new)
    }

    fn load(&self, id: &SnapshotId) -> Result<Arc<dyn Tree>> {
        let tree = self.snapshots.load(id)?;
        Ok(Arc::new(CountedTree { tree, id: *id, listed: self.listed.clone() }))
    }

    fn describe(&self, id: &SnapshotId) -> Result<Snapshot> {
        self.snapshots.describe(id)
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        self.snapshots.list()
    }

    fn delete(&self, id: &SnapshotId) -> Result<bool> {
        self.snapshots.delete(id)
    }

    fn verify(&self, options: &VerifyOptions) -> Result<Verification> {
        self.snapshots.verify(options)
    }
}

struct CountedTree {
    tree: Arc<dyn Tree>,
    id: SnapshotId,
    listed: Listed,
}

impl CountedTree {
    fn count(&self, path: &TreePath) {
        *self.listed.lock().unwrap().entry((self.id, path.to_string())).or_default() += 1;
    }
}

impl Tree for CountedTree {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.tree.stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.count(path);
        self.tree.list(path)
    }

    fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
        self.count(path);
        self.tree.list_known(path)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.tree.open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.tree.read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.tree.known_hash(path)
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        self.tree.known_tree_hash(path)
    }
}

#[test]
fn a_restore_compares_and_counts_each_directory_once() {
    let store = Arc::new(Counting::default());
    let listed = store.listed.clone();
    let files = Workspace::builder(MemoryBackend::new());
    let files = files.snapshots(store).progress(Progress::default()).build();
    for directory in 0..30 {
        for file in 0..10 {
            files.write(&format!("d{directory}/f{file}"), "before").unwrap();
        }
    }
    let before = files.snapshot("before").unwrap();
    files.snapshot("last").unwrap();
    files.write("d1/f1", "after").unwrap();
    files.delete_all("d2").unwrap();
    listed.lock().unwrap().clear();
    let options = RestoreOptions::default().report_external(true);
    let receipt = files.restore_with(&before, &options).unwrap();
    assert_eq!((receipt.written, receipt.brought_back, receipt.unchanged), (1, 10, 289));
    let listed = listed.lock().unwrap();
    let of = |path: &str| listed.get(&(before.id, path.to_owned())).copied().unwrap_or_default();
    assert_eq!(of("d1"), 1);
}
