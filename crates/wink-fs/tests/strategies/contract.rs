//! What the contract of a snapshot strategy says, sentence by sentence.

use std::os::unix::fs::PermissionsExt;
use std::thread;

use wink_fs::{
    Backend, ErrorKind, Filesystem, HostBackend, MemoryBackend, MemorySnapshots, NewSnapshot,
    OverlayMount, Recursion, Scope, SnapshotCause, SnapshotStore, Strategy, StrategyOptions,
    TreePath, tree_hash,
};

use crate::common::size::size;
use crate::common::trees::{Random, noise, path, plant, plant_generated, put};
use crate::strategies::scene::{Scene, by_every_strategy, new, read_everything};

by_every_strategy! {
    a_loaded_tree_is_the_one_that_was_saved,
    a_private_directory_is_loaded_as_one,
    what_is_saved_is_there_after_opening_again,
    snapshots_come_in_their_order_whatever_the_clock_says,
    a_tag_names_at_most_one_snapshot,
    a_copy_keeps_its_id_and_a_second_one_is_refused_and_harms_nothing,
    a_deleted_snapshot_is_gone_with_every_file_of_its_own,
    special_files_are_left_out_and_named,
    an_unknown_id_is_not_found,
    only_as_many_as_wanted_are_kept_and_those_with_tags,
    several_writers_get_an_order_and_lose_nothing,
    pruning_loses_no_other_snapshot_while_others_are_saved,
    what_a_dead_process_left_goes_when_it_is_opened,
    an_interrupted_save_leaves_nothing,
}

fn a_loaded_tree_is_the_one_that_was_saved(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    plant(&mut scene.files);
    let snapshot = scene.save();
    let loaded = scene.store.load(&snapshot.id).unwrap();
    assert_eq!(snapshot.strategy, strategy.name());
    assert_eq!(snapshot.tree_hash, Some(tree_hash(&scene.files).unwrap()));
    assert_eq!(tree_hash(&*loaded).unwrap(), tree_hash(&scene.files).unwrap());
    assert_eq!(read_everything(&*loaded).unwrap(), read_everything(&scene.files).unwrap());
    let mut memory = MemoryBackend::new();
    memory.replace(&*loaded, &Scope::everything()).unwrap();
    assert_eq!(tree_hash(&memory).unwrap(), tree_hash(&scene.files).unwrap());
    assert_eq!(scene.verify().problems, []);
}

fn a_private_directory_is_loaded_as_one(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    put(&mut scene.files, b"d/keys/file", "secret");
    let keys = scene.root().join("d/keys");
    std::fs::set_permissions(&keys, PermissionsExt::from_mode(0o700)).unwrap();
    let expected = tree_hash(&scene.files).unwrap();
    let snapshot = scene.save();
    assert_eq!(snapshot.tree_hash, Some(expected));
    let loaded = scene.store.load(&snapshot.id).unwrap();
    assert!(loaded.stat(&path(b"d/keys")).unwrap().mode.private);
    assert_eq!(tree_hash(&*loaded).unwrap(), expected);
    scene.files.remove(&path(b"d"), Recursion::Recursive).unwrap();
    scene.files.replace(&*loaded, &Scope::everything()).unwrap();
    assert_eq!(std::fs::metadata(&keys).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(tree_hash(&scene.files).unwrap(), expected);
}

fn what_is_saved_is_there_after_opening_again(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    plant(&mut scene.files);
    let snapshot = scene.save();
    let auto = StrategyOptions::new(scene.snapshots()).strategy(Strategy::Auto);
    let auto = auto.open_ambient().unwrap();
    assert_eq!(auto.strategy(), strategy.name());
    assert_eq!(auto.list().unwrap(), std::slice::from_ref(&snapshot));
    assert_eq!(auto.describe(&snapshot.id).unwrap(), snapshot);
    let loaded = auto.load(&snapshot.id).unwrap();
    assert_eq!(read_everything(&*loaded).unwrap(), read_everything(&scene.files).unwrap());
}

fn snapshots_come_in_their_order_whatever_the_clock_says(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    let mut ids = Vec::new();
    for number in 0..4 {
        put(&mut scene.files, b"file", number.to_string());
        let mut new = new();
        new.created_at -= std::time::Duration::from_secs(number);
        ids.push(scene.save_as(&new).unwrap().id);
    }
    let listed = scene.reopened().list().unwrap();
    assert_eq!(listed.iter().map(|it| it.id).collect::<Vec<_>>(), ids);
    assert_eq!(listed.iter().map(|it| it.sequence).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

fn a_tag_names_at_most_one_snapshot(strategy: Strategy) {
    let scene = Scene::new(strategy);
    scene.save_as(&new().tag("one")).unwrap();
    for tag in ["one", "-f", ""] {
        let kind = scene.save_as(&new().tag(tag)).unwrap_err().kind();
        let expected = if tag == "one" { "AlreadyExists" } else { "InvalidArgument" };
        assert_eq!(format!("{kind:?}"), expected);
    }
    assert_eq!(scene.store.list().unwrap().len(), 1);
}

fn a_copy_keeps_its_id_and_a_second_one_is_refused_and_harms_nothing(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    put(&mut scene.files, b"file", "original");
    let elsewhere = MemorySnapshots::default();
    let original = elsewhere.save(&scene.files, &new().tag("one")).unwrap();
    let copy = scene.save_as(&NewSnapshot::copy_of(&original)).unwrap();
    assert_eq!((copy.id, copy.created_at), (original.id, original.created_at));
    assert_eq!((copy.tag, copy.cause), (original.tag.clone(), original.cause));

    put(&mut scene.files, b"file", "another");
    let mut again = NewSnapshot::copy_of(&original);
    again.tag = None;
    assert_eq!(scene.save_as(&again).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let refused = elsewhere.save(&scene.files, &again).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    for store in [&elsewhere as &dyn SnapshotStore, &*scene.reopened()] {
        let content = store.load(&original.id).unwrap().open(&path(b"file")).unwrap();
        assert_eq!(content.read_all().unwrap(), "original");
    }
    assert_eq!(scene.verify().problems, []);
}

fn a_deleted_snapshot_is_gone_with_every_file_of_its_own(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    plant(&mut scene.files);
    let first = scene.save();
    put(&mut scene.files, b"another", crate::common::trees::noise(2_000_000, 5));
    let second = scene.save();
    assert!(scene.store.delete(&second.id).unwrap());
    assert!(!scene.store.delete(&second.id).unwrap());
    assert_eq!(scene.store.load(&second.id).err().unwrap().kind(), ErrorKind::SnapshotNotFound);
    assert_eq!(scene.reopened().list().unwrap(), std::slice::from_ref(&first));
    let whole = scene.store.load(&first.id).unwrap();
    assert_eq!(tree_hash(&*whole).unwrap(), first.tree_hash.unwrap());
    read_everything(&*whole).unwrap();
    let name = second.id.to_string();
    if strategy != Strategy::Store {
        let left = crate::strategies::scene::all_files(&scene.snapshots());
        assert!(!left.iter().any(|path| path.to_string_lossy().contains(&name)), "{left:?}");
    }
}

fn special_files_are_left_out_and_named(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    put(&mut scene.files, b"d/file", "content");
    let fifo = scene.root().join("d/fifo");
    crate::common::disk::run("mkfifo", [fifo]);
    // The live tree shows it, which a capture does not.
    let snapshot = scene.store.save(&*scene.files.live(), &new()).unwrap();
    let skipped: Vec<_> = snapshot.skipped.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(skipped, ["d/fifo"]);
    let loaded = scene.store.load(&snapshot.id).unwrap();
    assert_eq!(loaded.list(&path(b"d")).unwrap().len(), 1);
}

fn an_unknown_id_is_not_found(strategy: Strategy) {
    let scene = Scene::new(strategy);
    let id = wink_fs::SnapshotId::random();
    assert_eq!(scene.store.load(&id).err().unwrap().kind(), ErrorKind::SnapshotNotFound);
    assert_eq!(scene.store.describe(&id).unwrap_err().kind(), ErrorKind::SnapshotNotFound);
    assert!(!scene.store.delete(&id).unwrap());
}

fn only_as_many_as_wanted_are_kept_and_those_with_tags(strategy: Strategy) {
    let scene = Scene::new(strategy);
    let store = scene.options().max_snapshots(2).open_ambient().unwrap();
    let save = |new| store.save(&*scene.files.live(), &new).unwrap().id;
    let tagged = save(new().tag("kept"));
    let safety = save(new().cause(SnapshotCause::Safety));
    let plain: Vec<_> = (0..5).map(|_| save(new())).collect();
    let left: Vec<_> = store.list().unwrap().iter().map(|it| it.id).collect();
    assert_eq!(left, [tagged, safety, plain[3], plain[4]]);
    let none = scene.options().max_snapshots(0).open_ambient().unwrap();
    let newest = none.save(&*scene.files.live(), &new()).unwrap().id;
    assert_eq!(none.list().unwrap().last().unwrap().id, newest, "the newest stays");
}

fn several_writers_get_an_order_and_lose_nothing(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    put(&mut scene.files, b"file", "content");
    let options = scene.options().max_snapshots(100);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                // Each opens it as another process would, which also sweeps.
                for _ in 0..5 {
                    let store = options.open_ambient().unwrap();
                    store.save(&*scene.files.live(), &new()).unwrap();
                }
            });
        }
    });
    let sequences: Vec<_> = scene.store.list().unwrap().iter().map(|it| it.sequence).collect();
    assert_eq!(sequences, (1..=15).collect::<Vec<_>>());
    assert_eq!(scene.verify().problems, []);
}

fn pruning_loses_no_other_snapshot_while_others_are_saved(strategy: Strategy) {
    let scene = Scene::new(strategy);
    let options = scene.options().max_snapshots(100);
    thread::scope(|scope| {
        for writer in 0..2 {
            let (options, home) = (&options, scene.home());
            scope.spawn(move || {
                let store = options.open_ambient().unwrap();
                let mut files = planted_at(home.join(writer.to_string()), None);
                for number in 0..12 {
                    // What was forgotten comes back every now and then.
                    put(&mut files, b"changes", noise(20_000, number % 3));
                    let saved = store.save(&*files.live(), &new()).unwrap();
                    if number % 4 != 0 {
                        assert!(store.delete(&saved.id).unwrap());
                    }
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..10 {
                options.open_ambient().unwrap().reclaim().unwrap();
            }
        });
    });
    let store = options.open_ambient().unwrap();
    store.reclaim().unwrap();
    let left = store.list().unwrap();
    assert_eq!(left.len(), 6);
    for snapshot in left {
        let loaded = store.load(&snapshot.id).unwrap();
        assert_eq!(Some(tree_hash(&*loaded).unwrap()), snapshot.tree_hash);
        read_everything(&*loaded).unwrap();
    }
    assert_eq!(scene.verify().problems, []);
}

fn what_a_dead_process_left_goes_when_it_is_opened(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    plant(&mut scene.files);
    let kept = scene.save();
    let name = scene.save().id.to_string();
    // As if it had died just before it published, when no cache knows of it.
    let record = scene.snapshots().join("snapshots").join(&name);
    std::fs::rename(&record, record.with_file_name(format!(".{name}.tmp"))).unwrap();
    let _ = std::fs::remove_dir_all(scene.snapshots().join("cache"));
    let reopened = scene.reopened();
    let left = crate::strategies::scene::all_files(&scene.snapshots());
    assert!(!left.iter().any(|path| path.to_string_lossy().contains(&name)), "{left:?}");
    read_everything(&*reopened.load(&kept.id).unwrap()).unwrap();
    assert_eq!(scene.verify().problems, []);
}

fn an_interrupted_save_leaves_nothing(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    put(&mut scene.files, b"a", "first");
    put(&mut scene.files, b"b/changes", "before");
    let capture = scene.files.capture(&Default::default()).unwrap();
    let data = || -> Vec<_> {
        let files = crate::strategies::scene::all_files(&scene.snapshots()).into_iter();
        files.filter(|path| !path.to_string_lossy().ends_with("lock")).collect()
    };
    let before = data();
    std::fs::write(scene.root().join("b/changes"), "another program writes meanwhile").unwrap();
    let error = scene.store.save(&*capture.tree, &new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!(data(), before);
    assert!(scene.store.list().unwrap().is_empty());
}

/// All strategies on one btrfs, on a mount over a base there, for the same trees.
#[test]
#[ignore = "needs root"]
fn generated_trees_have_the_same_hash_by_all_strategies_and_after_restore() {
    const ALL: [Strategy; 6] = [
        Strategy::Store,
        Strategy::Copy,
        Strategy::Archive,
        Strategy::Git,
        Strategy::Overlay,
        Strategy::Reflink,
    ];
    let (disks, trees) = size((1, 48), (10, 100));
    for seeds in (0..disks).map(|disk| disk * trees..(disk + 1) * trees) {
        check_generated(ALL, seeds);
    }
}

fn check_generated<const N: usize>(all: [Strategy; N], seeds: std::ops::Range<u64>) {
    let disk = crate::common::disk::Disk::in_memory("mkfs.btrfs -q");
    let home = disk.path("mounted");
    let mut files = planted_at(home.join("root"), None);
    let base = planted_at(home.join("base"), Some(seeds.start));
    let mount = OverlayMount::mount_ambient(home.join("base"), home.join("place")).unwrap();
    let mut merged = HostBackend::open_ambient(mount.root()).unwrap();
    let stores = all.map(|strategy| {
        let options = StrategyOptions::new(home.join(strategy.name())).strategy(strategy);
        options.max_snapshots(2).create_ambient(mount.root()).unwrap()
    });
    let untouched = tree_hash(&base).unwrap();
    for seed in seeds {
        plant_generated(&mut files, &mut Random(seed));
        let hash = tree_hash(&files).unwrap();
        let plain = files.capture(&Default::default()).unwrap();
        merged.replace(&*plain.tree, &Scope::everything()).unwrap();
        let mounted = merged.capture(&Default::default()).unwrap();
        let save = |strategy| if strategy == Strategy::Overlay { &mounted } else { &plain };
        let saved: Vec<_> = (all.iter().zip(&stores))
            .map(|(strategy, store)| store.save(&*save(*strategy).tree, &new()).unwrap())
            .collect();
        clear(&mut files);
        for (saved, store) in saved.iter().zip(&stores) {
            assert_eq!(saved.tree_hash, Some(hash), "{seed} by {}", saved.strategy);
            let mut memory = MemoryBackend::new();
            let loaded = store.load(&saved.id).unwrap();
            memory.replace(&*loaded, &Scope::everything()).unwrap();
            assert_eq!(tree_hash(&memory).unwrap(), hash, "{seed} by {}", saved.strategy);
        }
        // On the host each time by another one, because each time takes a while.
        let at = seed as usize % N;
        let loaded = stores[at].load(&saved[at].id).unwrap();
        let back = if all[at] == Strategy::Overlay { &mut merged } else { &mut files };
        clear(back);
        back.replace(&*loaded, &Scope::everything()).unwrap();
        assert_eq!(tree_hash(back).unwrap(), hash, "{seed} by {}", all[at]);
        clear(&mut files);
    }
    assert_eq!(tree_hash(&base).unwrap(), untouched, "the base is as it was");
}

/// Makes a directory with a generated tree, or nothing, in it.
fn planted_at(path: std::path::PathBuf, seed: Option<u64>) -> HostBackend {
    std::fs::create_dir(&path).unwrap();
    let mut files = HostBackend::open_ambient(path).unwrap();
    if let Some(seed) = seed {
        plant_generated(&mut files, &mut Random(seed));
    }
    files
}

fn clear(files: &mut HostBackend) {
    for entry in wink_fs::Tree::list(files, &TreePath::root()).unwrap() {
        let path = TreePath::root().join(&entry.name).unwrap();
        files.remove(&path, Recursion::Recursive).unwrap();
    }
}
