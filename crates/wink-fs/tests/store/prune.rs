//! Snapshots go, their space comes back, and the others are as they were.

use std::time::Duration;

use wink_fs::{
    ErrorKind, MemoryBackend, Pin, Retention, Snapshot, SnapshotId, SnapshotStore, Store, Tree,
    TreePath, tree_hash,
};

use crate::store::support::{Random, Scene, names, new, noise, noon, put};

/// Saves a tree again and again, with a change of some files each time.
fn history(scene: &Scene, count: u64) -> Vec<Snapshot> {
    let mut files = MemoryBackend::new();
    for number in 0..60 {
        put(&mut files, path(number).as_bytes(), noise(2_000, number));
    }
    put(&mut files, b"large/file", noise(3_000_000, 1));
    let mut random = Random(7);
    let mut save = |round: u64| {
        for _ in 0..3 {
            let number = random.below(60) as u64;
            put(&mut files, path(number).as_bytes(), noise(2_000, 1_000 * round + number));
        }
        scene.save(&files)
    };
    (1..=count).map(&mut save).collect()
}

fn path(number: u64) -> String {
    format!("d{}/e{}/{number}", number % 4, number % 7)
}

fn keep_last(store: &Store, count: usize) -> Vec<SnapshotId> {
    let retention = Retention::default().max_count(count);
    let gone = store.forget(&|all, pins| retention.expired(all, pins, noon())).unwrap();
    gone.iter().map(|it| it.id).collect()
}

fn store_bytes(scene: &Scene) -> u64 {
    scene.store.usage().unwrap().bytes
}

#[track_caller]
fn check_whole(scene: &Scene, kept: &[Snapshot]) {
    assert_eq!(scene.verify().problems, []);
    let store = Store::open_ambient(scene.root()).unwrap();
    assert_eq!(store.list().unwrap(), kept);
    for snapshot in kept {
        let tree = store.load(&snapshot.id).unwrap();
        crate::store::support::read_everything(&*tree).unwrap();
        assert_eq!(Some(tree_hash(&*tree).unwrap()), snapshot.tree_hash);
    }
}

#[test]
fn what_goes_gives_its_space_back_and_the_rest_stays() {
    let scene = Scene::new();
    let all = history(&scene, 40);
    let before = store_bytes(&scene);
    assert_eq!(keep_last(&scene.store, 3).len(), 37);
    assert!(store_bytes(&scene) > before / 2, "forgetting alone frees nothing much");
    let reclaimed = scene.store.reclaim().unwrap();
    assert!(reclaimed.packs_removed >= 30 && reclaimed.bytes_freed > 100_000, "{reclaimed:?}");
    check_whole(&scene, &all[37..]);
    let fresh = Scene::new();
    all[37..].iter().for_each(|it| drop(fresh.save(&*scene.load(it))));
    let (pruned, least) = (store_bytes(&scene), store_bytes(&fresh));
    assert!(pruned < least + least / 3, "{pruned} bytes where {least} are needed");
}

#[test]
fn many_small_packs_become_one() {
    let scene = Scene::new();
    let all = history(&scene, 70);
    scene.store.reclaim().unwrap();
    assert!(names(&scene.root().join("packs")).len() <= 2);
    check_whole(&scene, &all);
    assert_eq!(scene.store.reclaim().unwrap(), wink_fs::Reclaimed::default(), "nothing is left");
}

/// A pack stays for what is large in it, and with it a directory that names a file which is gone.
#[test]
fn a_snapshot_after_a_prune_writes_again_what_went() {
    let scene = Scene::new();
    let mut files = MemoryBackend::new();
    put(&mut files, b"d/x", noise(5_000, 1));
    let first = scene.save(&files);
    put(&mut files, b"d/y", noise(5_000, 2));
    put(&mut files, b"large", noise(2_000_000, 3));
    let second = scene.save(&files);
    let mut other = MemoryBackend::new();
    put(&mut other, b"large", noise(2_000_000, 3));
    let third = scene.save(&other);
    for gone in [&first, &second] {
        scene.store.delete(&gone.id).unwrap();
    }
    scene.store.reclaim().unwrap();
    assert!(!scene.pack(&first).exists() && scene.pack(&second).exists());
    let again = scene.store.save(&Knowing(files), &new()).unwrap();
    assert_eq!(again.tree_hash, second.tree_hash);
    check_whole(&scene, &[third, again]);
}

/// Says of every directory what its hash is, as captures do whose index has it.
struct Knowing(MemoryBackend);

impl Tree for Knowing {
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
        None
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<wink_fs::TreeHash> {
        let scene = Scene::new();
        let whole = scene.save(&self.0);
        scene.load(&whole).known_tree_hash(path)
    }
}

/// A list that no snapshot needs stays in a pack, and the parts that it names go with another.
#[test]
fn an_unneeded_list_without_its_parts_is_no_damage() {
    let scene = Scene::new();
    let mut files = MemoryBackend::new();
    let mut large = noise(3_000_000, 1);
    put(&mut files, b"large", large.clone());
    let first = scene.save(&files);
    large.extend(noise(1_500_000, 2));
    put(&mut files, b"large", large.clone());
    put(&mut files, b"stays", noise(9_000_000, 3));
    let second = scene.save(&files);
    let mut other = MemoryBackend::new();
    put(&mut other, b"stays", noise(9_000_000, 3));
    let third = scene.save(&other);
    for gone in [&first, &second] {
        scene.store.delete(&gone.id).unwrap();
    }
    scene.store.reclaim().unwrap();
    assert!(!scene.pack(&first).exists() && scene.pack(&second).exists());
    check_whole(&scene, std::slice::from_ref(&third));
    let again = scene.save(&files);
    check_whole(&scene, &[third, again]);
}

#[test]
fn random_histories_prunes_and_returns_lose_nothing() {
    for seed in 0..12 {
        let scene = Scene::new();
        let mut random = Random(seed);
        let mut files = MemoryBackend::new();
        put(&mut files, b"big", noise(1_500_000, seed));
        let mut kept: Vec<Snapshot> = Vec::new();
        for _ in 0..30 {
            match random.below(6) {
                0 => drop(scene.store.reclaim().unwrap()),
                1 if kept.len() > 1 => {
                    let gone = kept.remove(random.below(kept.len() - 1));
                    assert!(scene.store.delete(&gone.id).unwrap());
                }
                _ => {
                    // Few contents, so that states come back that were pruned.
                    let (path, seed) = (random.below(4), random.below(3) as u64);
                    put(&mut files, format!("d/{path}/x").as_bytes(), noise(30_000, seed));
                    kept.push(scene.save(&files));
                }
            }
        }
        scene.store.reclaim().unwrap();
        check_whole(&scene, &kept);
    }
}

#[test]
fn pins_hold_what_they_are_on_until_they_expire() {
    let scene = Scene::new();
    let all = history(&scene, 3);
    let pin = |owner| Pin::new(all[0].id, owner);
    scene.store.pin(&pin("session").expires(noon() + Duration::from_secs(10))).unwrap();
    scene.store.pin(&pin("someone")).unwrap();
    assert_eq!(scene.store.pins().unwrap().len(), 2);
    assert_eq!(keep_last(&scene.store, 1), [all[1].id]);
    assert!(scene.store.unpin(&all[0].id, "someone").unwrap());
    assert!(!scene.store.unpin(&all[0].id, "someone").unwrap());
    assert_eq!(keep_last(&scene.store, 1), []);
    scene.store.pin(&pin("session").expires(noon())).unwrap();
    assert_eq!(keep_last(&scene.store, 1), [all[0].id]);
    assert_eq!(scene.store.pins().unwrap(), [], "its pins go with it");
    let error = scene.store.pin(&pin("late")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SnapshotNotFound);
}

#[test]
fn a_damaged_pin_is_noticed_and_holds() {
    let scene = Scene::new();
    let all = history(&scene, 2);
    scene.store.pin(&Pin::new(all[0].id, "session")).unwrap();
    let file = scene.root().join("pins").join(&names(&scene.root().join("pins"))[0]);
    std::fs::write(file, "nothing").unwrap();
    assert_eq!(scene.verify().problems.len(), 1);
    assert_eq!(keep_last(&scene.store, 1), []);
    assert!(scene.store.unpin(&all[0].id, "session").unwrap(), "its name says whose it is");
}

#[test]
fn a_damaged_record_or_object_stops_a_prune_and_nothing_is_deleted() {
    let scene = Scene::new();
    let all = history(&scene, 5);
    scene.store.delete(&all[1].id).unwrap();
    let packs = names(&scene.root().join("packs"));
    let record = std::fs::read(scene.record(&all[2].id)).unwrap();
    std::fs::write(scene.record(&all[2].id), b"damaged").unwrap();
    let error = scene.store.reclaim().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    std::fs::write(scene.record(&all[2].id), record).unwrap();
    std::fs::remove_file(scene.pack(&all[3])).unwrap();
    let store = Store::open_ambient(scene.root()).unwrap();
    assert_eq!(store.reclaim().unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(names(&scene.root().join("packs")).len(), packs.len() - 1);
}

#[test]
fn a_tree_that_was_loaded_before_a_prune_is_read_to_its_end() {
    let scene = Scene::new();
    let all = history(&scene, 80);
    let tree = Store::open_ambient(scene.root()).unwrap().load(&all[79].id).unwrap();
    scene.store.reclaim().unwrap();
    crate::store::support::read_everything(&*tree).unwrap();
    assert_eq!(Some(tree_hash(&*tree).unwrap()), all[79].tree_hash);
}

#[test]
fn numbers_are_not_given_again() {
    let scene = Scene::new();
    let all = history(&scene, 3);
    scene.store.reclaim().unwrap();
    all[1..].iter().for_each(|it| assert!(scene.store.delete(&it.id).unwrap()));
    assert_eq!(scene.save(&MemoryBackend::new()).sequence, 4);
}

#[test]
fn fault_19_a_damaged_roster_costs_time_and_no_data() {
    let scene = Scene::new();
    let all = history(&scene, 70);
    keep_last(&scene.store, 2);
    scene.store.reclaim().unwrap();
    let roster = scene.root().join("roster");
    std::fs::write(&roster, "nothing").unwrap();
    assert_eq!(scene.verify().problems.len(), 1);
    let again = scene.save(&*scene.load(&all[69]));
    assert_eq!(again.tree_hash, all[69].tree_hash);
    scene.store.reclaim().unwrap();
    check_whole(&scene, &[all[68].clone(), all[69].clone(), again]);
}

#[test]
fn a_lost_pack_of_a_snapshot_that_went_is_noticed_and_stored_again() {
    let scene = Scene::new();
    let mut files = MemoryBackend::new();
    put(&mut files, b"a/file", noise(5_000, 1));
    let first = scene.save(&files);
    put(&mut files, b"b/file", noise(5_000, 2));
    scene.save(&files);
    scene.store.delete(&first.id).unwrap();
    std::fs::remove_file(scene.pack(&first)).unwrap();
    let store = Store::open_ambient(scene.root()).unwrap();
    assert!(!scene.verify().problems.is_empty());
    put(&mut files, b"c/file", noise(5_000, 3));
    let third = store.save(&files, &new()).unwrap();
    crate::store::support::read_everything(&*store.load(&third.id).unwrap()).unwrap();
}
