//! Damage is put aside, the rest is whole, and nothing is deleted.

use std::collections::BTreeSet;
use std::path::Path;

use wink_fs::{
    ErrorKind, MemoryBackend, Pin, Snapshot, SnapshotStore, Store, VerifyOptions, tree_hash,
};

use crate::common::size::size;
use crate::store::support::{Random, Scene, names, new, noise, put, read_everything};

type Contents = Vec<(wink_fs::TreePath, Vec<u8>)>;

/// A store with some snapshots that share what they have in common, and what is in them.
fn scene() -> (Scene, Vec<(Snapshot, Contents)>, MemoryBackend) {
    let scene = Scene::new();
    let mut files = MemoryBackend::new();
    put(&mut files, b"large", vec![7; 1_200_000]);
    let mut saved = Vec::new();
    for round in 0..4u64 {
        for number in 0..12 {
            let path = format!("d{}/{number}", number % 3);
            put(&mut files, path.as_bytes(), noise(900, number + 100 * (round / 2 + number % 2)));
        }
        put(&mut files, b"of-each", noise(500, 1_000 + round));
        saved.push((scene.save(&files), read_everything(&files).unwrap()));
    }
    scene.store.pin(&Pin::new(saved[0].0.id, "test")).unwrap();
    (scene, saved, files)
}

/// The contents of all files of a store but for its locks, caches and its list of packs.
fn held(root: &Path) -> BTreeSet<Vec<u8>> {
    let mut held = BTreeSet::new();
    for directory in ["packs", "snapshots", "pins", "quarantine"] {
        let directory = root.join(directory);
        for name in if directory.exists() { names(&directory) } else { Vec::new() } {
            held.insert(std::fs::read(directory.join(name)).unwrap());
        }
    }
    held
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for name in names(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
}

/// Damages one file at random; returns which, and whether the store can still be opened.
fn damage(root: &Path, random: &mut Random) -> String {
    let directories = ["packs", "packs", "packs", "snapshots", "pins", "."];
    let directory = root.join(directories[random.below(directories.len())]);
    let mut files = names(&directory);
    files.retain(|name| directory.join(name).is_file() && !name.ends_with("lock"));
    // Without that file nothing says that a directory is a store.
    files.retain(|name| name != "format");
    let file = directory.join(&files[random.below(files.len())]);
    let mut bytes = std::fs::read(&file).unwrap();
    let at = random.below(bytes.len());
    match random.below(6) {
        0 => bytes.truncate(at),
        1 => {
            std::fs::remove_file(&file).unwrap();
            return format!("{} removed", file.display());
        }
        _ => bytes[at] ^= 1 << random.below(8),
    }
    std::fs::write(&file, bytes).unwrap();
    format!("{} at {at}", file.display())
}

#[test]
fn fault_18_damages_are_put_aside_and_no_wrong_byte_is_read() {
    let (whole, saved, files) = scene();
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let (mut random, mut lost, mut kept) = (Random(18), 0, 0);
    let trials = size(200, 1_000);
    for trial in 0..trials {
        let root = place.path().join("store");
        let _ = std::fs::remove_dir_all(&root);
        copy(&whole.root(), &root);
        let what = format!("trial {trial}: {}", damage(&root, &mut random));
        let before = held(&root);
        let store = Store::open_ambient(&root).unwrap();
        let repaired = store.repair().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(held(&root).is_superset(&before), "{what}: something was deleted");
        let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
        assert_eq!(found.problems, [], "{what}");
        let listed = store.list().unwrap();
        for (snapshot, contents) in &saved {
            if listed.contains(snapshot) {
                let tree = store.load(&snapshot.id).unwrap();
                assert!(read_everything(&*tree).unwrap() == *contents, "{what}");
                kept += 1;
            } else if repaired.lost.contains(&snapshot.id) {
                lost += 1;
            } else {
                assert!(what.ends_with("removed"), "{what}: {} is gone silently", snapshot.id);
            }
        }
        check_next(&store, &files, &what);
    }
    assert!(lost > trials / 10 && kept > 2 * trials, "{lost} were lost and {kept} kept");
}

/// What is missing is stored again with the next snapshot.
fn check_next(store: &Store, files: &MemoryBackend, what: &str) {
    let next = store.save(files, &new()).unwrap();
    let tree = store.load(&next.id).unwrap();
    assert_eq!(tree_hash(&*tree).unwrap(), tree_hash(files).unwrap(), "{what}");
    assert!(read_everything(&*tree).unwrap() == read_everything(files).unwrap(), "{what}");
}

#[test]
fn a_whole_store_is_left_alone() {
    let (scene, saved, _) = scene();
    let before = held(&scene.root());
    assert_eq!(scene.store.repair().unwrap(), wink_fs::Repaired::default());
    assert_eq!((held(&scene.root()), scene.store.list().unwrap().len()), (before, saved.len()));
}

#[test]
fn what_is_whole_of_a_damaged_pack_is_saved() {
    let (scene, saved, _) = scene();
    let pack = scene.pack(&saved[0].0);
    let mut bytes = std::fs::read(&pack).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&pack, bytes).unwrap();
    let repaired = scene.store.repair().unwrap();
    assert!(repaired.objects_saved > 0, "{repaired:?}");
    assert!(repaired.quarantined.iter().any(|name| name.contains(&saved[0].0.reference)));
    assert!(!pack.exists());
    assert_eq!(scene.verify().problems, []);
    assert_eq!(scene.store.repair().unwrap(), wink_fs::Repaired::default(), "once is enough");
    scene.store.reclaim().unwrap();
}

#[test]
fn a_strategy_that_cannot_repair_says_so() {
    let error = wink_fs::MemorySnapshots::default().repair().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
