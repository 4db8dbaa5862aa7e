//! A store that was made once and is read for ever.

use std::path::{Path, PathBuf};

use wink_fs::testkit::dump;
use wink_fs::{MemoryBackend, SnapshotStore, Store, VerifyOptions, tree_hash};

use crate::store::support::{new, plant_small, put};

pub(crate) fn golden() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/golden/store-v1"].iter().collect()
}

/// The trees of the golden store's snapshots, in their order.
fn trees() -> [MemoryBackend; 2] {
    let (mut first, mut second) = (MemoryBackend::new(), MemoryBackend::new());
    plant_small(&mut first);
    plant_small(&mut second);
    put(&mut second, b"src/main.rs", "fn main() { changed() }\n");
    put(&mut second, b"large", vec![0; 9_000_000]);
    [first, second]
}

/// Makes the golden store where `WINK_GOLDEN_STORE` says; needed once for a version of the format.
#[test]
fn a_golden_store_is_made_where_it_is_asked_for() {
    let Some(place) = std::env::var_os("WINK_GOLDEN_STORE") else { return };
    let store = Store::create_ambient(&place).unwrap();
    let [first, second] = trees();
    let first = store.save(&first, &new().tag("first").file_count(7).backend("memory")).unwrap();
    store.save(&second, &new().parent(first.id).message("larger").file_count(8)).unwrap();
    for lock in ["lock", "publish.lock"] {
        std::fs::remove_file(Path::new(&place).join(lock)).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn the_store_of_version_1_is_read() {
    let directory = tempfile::tempdir().unwrap();
    copy(&golden(), directory.path());
    let store = Store::open_ambient(directory.path()).unwrap();
    let snapshots = store.list().unwrap();
    let described: Vec<_> = snapshots
        .iter()
        .map(|s| (s.sequence, s.tag.as_deref(), s.message.as_deref(), s.file_count))
        .collect();
    assert_eq!(described, [(1, Some("first"), None, 7), (2, None, Some("larger"), 8)]);
    assert_eq!(snapshots[1].parent, Some(snapshots[0].id));
    for (snapshot, tree) in snapshots.iter().zip(trees()) {
        let loaded = store.load(&snapshot.id).unwrap();
        assert_eq!(dump(&*loaded).unwrap(), dump(&tree).unwrap());
        assert_eq!(snapshot.tree_hash, Some(tree_hash(&tree).unwrap()));
    }
    let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!((found.packs, found.problems), (2, vec![]));
    let [_, second] = trees();
    assert_eq!(store.save(&second, &new()).unwrap().reference, "", "nothing is new in it");
}
