//! Damage of every file of a store, bit by bit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wink_fs::{
    Error, ErrorKind, MemoryBackend, Snapshot, SnapshotStore, Store, Tree, VerifyOptions,
};

use crate::common::size::size;
use crate::store::support::{Random, Scene, noise, plant_small, put, read_everything};

type Contents = Vec<(wink_fs::TreePath, Vec<u8>)>;

/// A store with two snapshots, and what is in them.
struct Whole {
    scene: Scene,
    snapshots: Vec<(Snapshot, Contents)>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Whole {
    fn new() -> Self {
        let scene = Scene::new();
        let mut files = MemoryBackend::new();
        plant_small(&mut files);
        put(&mut files, b"large", vec![0; 5_000_000]);
        let first = (scene.save(&files), read_everything(&files).unwrap());
        put(&mut files, b"src/new.rs", noise(3_000, 1));
        put(&mut files, b"src/main.rs", "fn main() { other() }\n".repeat(40));
        let second = (scene.save(&files), read_everything(&files).unwrap());
        let files = scene_files(&scene.root());
        Self { scene, snapshots: vec![first, second], files }
    }

    /// Says how the damage that was done shows itself; it must, and no wrong byte may be loaded.
    fn look(&self, what: &str) {
        let store = match Store::open_ambient(self.scene.root()) {
            Ok(store) => store,
            Err(error) => return assert_damage(&error, what),
        };
        let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
        assert!(!found.problems.is_empty(), "{what}: not noticed");
        for listed in store.list().unwrap() {
            assert!(self.snapshots.iter().any(|(known, _)| *known == listed), "{what}: {listed:?}");
        }
        for (snapshot, contents) in &self.snapshots {
            match store.load(&snapshot.id) {
                Ok(tree) => check_contents(&*tree, contents, what),
                Err(error) => assert_damage(&error, what),
            }
        }
    }

    fn damage(&self, file: &Path, bytes: &[u8], what: &str) {
        std::fs::write(file, bytes).unwrap();
        self.look(what);
        std::fs::write(file, &self.files[file]).unwrap();
    }
}

fn scene_files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for directory in ["", "packs", "snapshots"] {
        for entry in std::fs::read_dir(root.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() && !path.to_str().unwrap().ends_with("lock") {
                files.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[track_caller]
fn assert_damage(error: &Error, what: &str) {
    let kinds = [ErrorKind::Corrupt, ErrorKind::SnapshotIncompatible];
    assert!(kinds.contains(&error.kind()), "{what}: {error}");
}

/// Checks that every content is the right one or refused.
fn check_contents(tree: &dyn Tree, contents: &Contents, what: &str) {
    for (path, expected) in contents {
        let found = match tree.open(path) {
            Ok(content) => content
                .read_all()
                .map(|bytes| bytes.to_vec())
                .map_err(|error| Error::system(wink_fs::Operation::Read, error)),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => tree.read_link(path),
            Err(error) => Err(error),
        };
        match found {
            Ok(found) => assert!(found == *expected, "{what}: wrong bytes of {path}"),
            Err(error) => assert_damage(&error, what),
        }
    }
}

#[test]
fn fault_18_flips_and_truncations_are_noticed_and_load_no_wrong_byte() {
    let whole = Whole::new();
    assert_eq!(whole.scene.verify().problems, []);
    let files: Vec<_> = whole.files.iter().collect();
    let mut random = Random(18);
    for trial in 0..size(200, 1_000) {
        let (file, bytes) = files[random.below(files.len())];
        let mut damaged = bytes.clone();
        let at = random.below(bytes.len());
        match trial % 5 {
            0 => damaged.truncate(at),
            _ => damaged[at] ^= 1 << random.below(8),
        }
        let name = file.file_name().unwrap().display();
        whole.damage(file, &damaged, &format!("trial {trial}: {name} at {at}"));
    }
    assert_eq!(whole.scene.verify().problems, []);
}

#[test]
fn fault_18_bytes_added_to_any_file_are_noticed() {
    let whole = Whole::new();
    for (file, bytes) in &whole.files {
        let longer = [&bytes[..], b"\n"].concat();
        whole.damage(file, &longer, &format!("{}", file.display()));
    }
}

#[test]
fn fault_18_a_lost_pack_is_noticed_and_leaves_other_snapshots_usable() {
    let scene = Scene::new();
    let (mut files, mut other) = (MemoryBackend::new(), MemoryBackend::new());
    plant_small(&mut files);
    put(&mut other, b"other", "other");
    let (first, second) = (scene.save(&files), scene.save(&other));
    std::fs::remove_file(scene.pack(&first)).unwrap();
    let store = Store::open_ambient(scene.root()).unwrap();
    let error = store.load(&first.id).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("directory"), "{error}");
    assert_eq!(read_everything(&*store.load(&second.id).unwrap()).unwrap().len(), 1);
    for options in [VerifyOptions::default(), VerifyOptions::default().data(true)] {
        let found = store.verify(&options).unwrap();
        assert!(!found.problems.is_empty());
        assert!(found.problems.iter().all(|problem| problem.snapshots == [first.id]));
    }
    assert_eq!(store.list().unwrap(), [first, second], "the record is whole");
}

#[test]
fn fault_19_a_damaged_record_is_named_and_leaves_other_snapshots_usable() {
    let scene = Scene::new();
    let (first, second) = (scene.save(&MemoryBackend::new()), scene.save(&MemoryBackend::new()));
    let record = scene.record(&first.id);
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("\"sequence\":1", "\"sequence\":7")).unwrap();
    let store = Store::open_ambient(scene.root()).unwrap();
    assert_eq!(store.list().unwrap(), std::slice::from_ref(&second));
    let error = store.load(&first.id).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains(&first.id.to_string()), "{error}");
    let problems = store.verify(&VerifyOptions::default()).unwrap().problems;
    assert_eq!((problems.len(), &problems[0].snapshots[..]), (1, &[first.id][..]));
    store.load(&second.id).unwrap();
    assert_eq!(scene.save(&MemoryBackend::new()).sequence, 3, "snapshots are still taken");
}

#[test]
fn a_subset_is_a_part_and_all_parts_are_everything() {
    let scene = Scene::new();
    let mut files = MemoryBackend::new();
    for number in 0..200 {
        put(&mut files, format!("{number}").as_bytes(), noise(1_000 + number, number as u64));
    }
    let snapshot = scene.save(&files);
    let part = |n| VerifyOptions::default().data(true).subset(n, 4);
    let bytes: Vec<_> =
        (1..=4).map(|n| scene.store.verify(&part(n)).unwrap().bytes_checked).collect();
    assert_eq!(bytes.iter().sum::<u64>(), scene.verify().bytes_checked);
    assert!(bytes.iter().all(|bytes| *bytes > 0));
    for n in [0, 5] {
        let error = scene.store.verify(&part(n)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
    let mut pack = std::fs::read(scene.pack(&snapshot)).unwrap();
    pack[100] ^= 1;
    std::fs::write(scene.pack(&snapshot), pack).unwrap();
    let noticed = (1..=4).filter(|n| !scene.store.verify(&part(*n)).unwrap().problems.is_empty());
    assert!(noticed.count() > 0);
    let structure = scene.store.verify(&VerifyOptions::default()).unwrap();
    assert_eq!(structure.bytes_checked, 0);
}
