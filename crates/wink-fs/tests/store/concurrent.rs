//! Several writers of one store.

use std::thread;
use std::time::Instant;

use wink_fs::{ErrorKind, MemoryBackend, SnapshotStore, Store};

use crate::store::support::{Scene, new, put};

fn tree(number: u64) -> MemoryBackend {
    let mut files = MemoryBackend::new();
    put(&mut files, b"shared/file", "the same for all");
    put(&mut files, b"own/file", number.to_string());
    files
}

#[test]
fn writers_at_the_same_time_get_an_order_and_lose_nothing() {
    let scene = Scene::new();
    thread::scope(|scope| {
        for writer in 0..4 {
            let root = scene.root();
            scope.spawn(move || {
                let store = Store::open_ambient(root).unwrap();
                for number in 0..10 {
                    store.save(&tree(writer * 100 + number), &new()).unwrap();
                }
            });
        }
    });
    let sequences: Vec<_> = scene.store.list().unwrap().iter().map(|s| s.sequence).collect();
    assert_eq!(sequences, (1..=40).collect::<Vec<_>>());
    assert_eq!(scene.verify().problems, []);
}

#[test]
fn a_tag_that_two_want_at_once_is_given_once() {
    let scene = Scene::new();
    let results: Vec<_> = thread::scope(|scope| {
        let save = |number| scene.store.save(&tree(number), &new().tag("wanted"));
        let threads: Vec<_> = (0..4).map(|number| scope.spawn(move || save(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let refused: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert_eq!(refused.len(), 3);
    assert!(refused.iter().all(|error| error.kind() == ErrorKind::AlreadyExists));
    assert_eq!(scene.store.list().unwrap().len(), 1);
}

#[test]
fn who_holds_the_store_for_too_long_is_named() {
    let scene = Scene::new();
    let path = scene.root().join("publish.lock");
    std::fs::write(&path, "4242\n").unwrap();
    let held = std::fs::File::open(&path).unwrap();
    held.lock().unwrap();
    let started = Instant::now();
    let error = scene.store.save(&tree(1), &new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert!(error.to_string().contains("process 4242"), "{error}");
    assert!(started.elapsed().as_secs() < 60);
    assert_eq!(crate::store::support::names(&scene.root().join("packs")), [""; 0]);
    held.unlock().unwrap();
    scene.save(&tree(1));
}
