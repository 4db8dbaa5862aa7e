//! What goes into a store comes out of it.

use wink_fs::testkit::dump;
use wink_fs::{
    ErrorKind, Filesystem, HostBackend, Kind, MemoryBackend, SnapshotStore, Store, Tree, tree_hash,
};

use crate::store::support::{
    Random, Scene, new, noise, path, plant, plant_generated, planted, put, read_everything,
};

/// Saves a tree and checks that what is loaded, also by another process, is the same.
#[track_caller]
fn check(scene: &mut Scene, tree: &dyn Tree) {
    let snapshot = scene.save(tree);
    assert_eq!(snapshot.tree_hash, Some(tree_hash(tree).unwrap()));
    scene.reopen();
    let loaded = scene.load(&snapshot);
    assert_eq!(dump(&*loaded).unwrap(), dump(tree).unwrap());
    assert_eq!(read_everything(&*loaded).unwrap(), read_everything(tree).unwrap());
    assert_eq!(tree_hash(&*loaded).unwrap(), tree_hash(tree).unwrap());
}

#[test]
fn a_tree_of_everything_comes_back_from_every_backend() {
    let mut host = HostBackend::temporary().unwrap();
    plant(&mut host);
    for tree in [&planted() as &dyn Tree, &host] {
        let mut scene = Scene::new();
        check(&mut scene, tree);
        assert_eq!(scene.verify().problems, []);
    }
}

#[test]
fn generated_trees_come_back() {
    let mut scene = Scene::new();
    for seed in 0..100 {
        let mut files = MemoryBackend::new();
        plant_generated(&mut files, &mut Random(seed));
        check(&mut scene, &files);
    }
    let found = scene.verify();
    assert_eq!((found.snapshots, found.problems), (100, vec![]));
}

#[test]
fn an_empty_tree_is_a_snapshot_too() {
    check(&mut Scene::new(), &MemoryBackend::new());
}

#[test]
fn files_of_every_size_come_back() {
    const MIB: usize = 1024 * 1024;
    let mut files = MemoryBackend::new();
    for size in [0, 1, 128 * 1024 - 1, 128 * 1024, 256 * 1024, MIB - 1, MIB, MIB + 1, 20 * MIB] {
        put(&mut files, format!("noise-{size}").as_bytes(), noise(size, size as u64));
        put(&mut files, format!("zeros-{size}").as_bytes(), vec![0; size]);
    }
    let mut scene = Scene::new();
    check(&mut scene, &files);
    assert_eq!(scene.verify().problems, []);
}

#[test]
fn large_files_are_read_at_any_position() {
    let mut files = MemoryBackend::new();
    let bytes = noise(9_000_000, 3);
    put(&mut files, b"large", bytes.clone());
    let scene = Scene::new();
    let tree = scene.load(&scene.save(&files));
    let content = tree.open(&path(b"large")).unwrap();
    for at in [8_999_990, 5, 4_000_000, 4_000_100, 0, 3_000_000] {
        let expected = &bytes[at..(at + 1_500_000).min(bytes.len())];
        assert_eq!(content.read_range(at as u64, 1_500_000).unwrap(), expected, "at {at}");
    }
    assert_eq!(content.read_at(&mut [0; 10], 9_000_000).unwrap(), 0);
}

#[test]
fn a_snapshot_of_a_snapshot_is_the_same_tree_and_writes_nothing() {
    let scene = Scene::new();
    let first = scene.save(&planted());
    let second = scene.save(&*scene.load(&first));
    assert_eq!((second.tree_hash, second.reference.as_str()), (first.tree_hash, ""));
    let other = Scene::new();
    let copied = other.save(&*scene.load(&first));
    assert_eq!(dump(&*other.load(&copied)).unwrap(), dump(&planted()).unwrap());
    assert_eq!(other.verify().problems, []);
}

#[test]
fn a_snapshot_keeps_the_contract_of_a_tree() {
    let scene = Scene::new();
    let tree = scene.load(&scene.save(&planted()));
    let kind = |result: wink_fs::Result<_>| result.map(drop).unwrap_err().kind();
    assert_eq!(kind(tree.open(&path(b"src"))), ErrorKind::IsADirectory);
    assert_eq!(kind(tree.open(&path(b"link"))), ErrorKind::PermissionDenied);
    assert_eq!(kind(tree.open(&path(b"link/x"))), ErrorKind::PermissionDenied);
    assert_eq!(kind(tree.open(&path(b"empty/x"))), ErrorKind::NotFound);
    assert_eq!(kind(tree.open(&path(b"missing"))), ErrorKind::NotFound);
    assert_eq!(tree.list(&path(b"empty")).unwrap_err().kind(), ErrorKind::NotADirectory);
    assert_eq!(tree.list(&path(b"link")).unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert_eq!(tree.read_link(&path(b"src")).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(tree.stat(&path(b"")).unwrap().kind, Kind::Directory);
    assert_eq!(tree.known_hash(&path(b"src")), None);
    assert_eq!(tree.known_tree_hash(&path(b"empty")), None);
}

#[test]
fn what_is_no_file_is_left_out_and_named() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("d")).unwrap();
    std::fs::write(directory.path().join("d/file"), "kept").unwrap();
    for name in ["fifo", "d/fifo"] {
        let fifo = directory.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, fifo, rustix::fs::Mode::RWXU).unwrap();
    }
    let scene = Scene::new();
    let snapshot = scene.save(&HostBackend::open_ambient(directory.path()).unwrap());
    let skipped: Vec<_> = snapshot.skipped.iter().map(|skipped| skipped.path.as_str()).collect();
    assert_eq!(skipped, ["d/fifo", "fifo"]);
    assert_eq!(dump(&*scene.load(&snapshot)).unwrap(), ["d/", r#"d/file "kept""#]);
}

#[test]
fn what_was_loaded_outlives_the_store_value() {
    let scene = Scene::new();
    let snapshot = scene.save(&planted());
    let store = Store::open_ambient(scene.root()).unwrap();
    let tree = store.load(&snapshot.id).unwrap();
    drop(store);
    assert_eq!(dump(&*tree).unwrap(), dump(&planted()).unwrap());
}

#[test]
fn a_tree_that_changes_while_it_is_looked_at_is_a_conflict() {
    let mut files = MemoryBackend::new();
    files.create_dir(&path(b"d")).unwrap();
    put(&mut files, b"d/file", "what is there");
    let scene = Scene::new();
    let error = scene.store.save(&crate::store::support::Liar(files), &new()).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some("d/file")));
    assert!(error.current_hash().is_some());
    assert_eq!(crate::store::support::names(&scene.root().join("packs")), [""; 0]);
    assert_eq!(scene.store.list().unwrap(), []);
}

/// Programs make trees that are as deep as a path can be long; a walk must not run out of stack.
#[test]
fn the_deepest_tree_comes_back() {
    let mut host = HostBackend::temporary().unwrap();
    let deepest = [&b"d/".repeat(2_046)[..], b"file"].concat();
    put(&mut host, &deepest, "deep");
    let scene = Scene::new();
    let snapshot = scene.save(&host);
    let loaded = scene.load(&snapshot);
    assert_eq!(loaded.open(&path(&deepest)).unwrap().read_all().unwrap(), "deep");
    assert_eq!(scene.verify().problems, []);
}
