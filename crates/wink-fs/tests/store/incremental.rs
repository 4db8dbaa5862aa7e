//! A snapshot costs what is new.

use std::path::Path;

use wink_fs::testkit::dump;
use wink_fs::{HostBackend, MemoryBackend, SnapshotStore};

use crate::store::support::{Scene, names, noise, path, plant, planted, put};

#[test]
fn an_unchanged_tree_writes_no_pack() {
    let scene = Scene::new();
    let mut host = HostBackend::temporary().unwrap();
    plant(&mut host);
    let first = scene.save(&host);
    for tree in [&host as &dyn wink_fs::Tree, &planted()] {
        let again = scene.save(tree);
        assert_eq!((again.tree_hash, again.reference.as_str()), (first.tree_hash, ""));
    }
    assert_eq!(names(&scene.root().join("packs")).len(), 1);
    assert_eq!(scene.store.list().unwrap().len(), 3);
}

#[test]
fn a_small_change_writes_little() {
    let scene = Scene::new();
    let mut files = planted();
    let first = scene.save(&files);
    put(&mut files, b"src/main.rs", "fn main() { changed() }\n");
    let second = scene.save(&files);
    assert!(scene.pack_bytes(&first) > 1_000_000);
    assert!(scene.pack_bytes(&second) < 4_000, "{}", scene.pack_bytes(&second));
    assert_eq!(dump(&*scene.load(&first)).unwrap(), dump(&planted()).unwrap());
    assert_eq!(dump(&*scene.load(&second)).unwrap(), dump(&files).unwrap());
}

#[test]
fn equal_contents_are_kept_once() {
    let scene = Scene::new();
    let (mut one, mut many) = (MemoryBackend::new(), MemoryBackend::new());
    for (number, bytes) in [noise(100_000, 1), noise(3_000_000, 2)].into_iter().enumerate() {
        put(&mut one, format!("{number}").as_bytes(), bytes.clone());
        for copy in 0..50 {
            put(&mut many, format!("{copy}/{number}").as_bytes(), bytes.clone());
        }
    }
    let bytes = scene.pack_bytes(&scene.save(&many));
    assert!((3_100_000..3_200_000).contains(&bytes), "{bytes}");
    assert_eq!(scene.save(&one).reference, "", "even the directory is there, as a copy");
}

#[test]
fn an_edit_of_a_large_file_writes_the_parts_around_it() {
    let scene = Scene::new();
    let mut files = MemoryBackend::new();
    let mut bytes = noise(20 * 1024 * 1024, 5);
    put(&mut files, b"large", bytes.clone());
    let first = scene.save(&files);
    bytes.splice(7_000_000..7_000_000, *b"a few bytes in the middle");
    put(&mut files, b"large", bytes);
    let second = scene.save(&files);
    assert!(scene.pack_bytes(&first) > 20_000_000);
    let written = scene.pack_bytes(&second);
    assert!((256 * 1024..9_000_000).contains(&written), "{written}");
    assert_eq!(dump(&*scene.load(&second)).unwrap(), dump(&files).unwrap());
}

#[test]
fn text_is_compressed() {
    let scene = Scene::new();
    let mut files = MemoryBackend::new();
    for number in 0..100 {
        let line = format!("line {number} of a text that repeats itself\n");
        put(&mut files, format!("{number}.txt").as_bytes(), line.repeat(200));
    }
    let bytes = scene.pack_bytes(&scene.save(&files));
    assert!(bytes < 60_000, "{bytes} of 800,000 bytes");
}

/// A pack that is gone must not be relied on, though others name what was in it.
#[test]
fn a_snapshot_after_the_loss_of_a_pack_is_whole() {
    check_after_loss(|pack| std::fs::remove_file(pack).unwrap());
}

#[test]
fn a_snapshot_after_the_damage_of_a_pack_is_whole() {
    check_after_loss(|pack| {
        let mut bytes = std::fs::read(pack).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(pack, bytes).unwrap();
    });
}

fn check_after_loss(lose: impl Fn(&Path)) {
    let mut scene = Scene::new();
    let mut files = MemoryBackend::new();
    put(&mut files, b"d/one", "1");
    put(&mut files, b"d/large", noise(5_000_000, 8));
    let first = scene.save(&files);
    put(&mut files, b"e/two", "2");
    let second = scene.save(&files);
    lose(&scene.pack(&first));
    scene.reopen();
    let third = scene.save(&files);
    assert_eq!(third.tree_hash, second.tree_hash);
    assert_eq!(dump(&*scene.load(&third)).unwrap(), dump(&files).unwrap());
    scene.load(&third).open(&path(b"d/large")).unwrap().read_all().unwrap();
    let hit: Vec<_> = scene.verify().problems.into_iter().flat_map(|p| p.snapshots).collect();
    assert!(hit.contains(&first.id) && !hit.contains(&third.id), "{hit:?}");
}
