//! Snapshots by their order, ids and tags.

use std::time::Duration;

use wink_fs::{
    ErrorKind, MemoryBackend, Skipped, SnapshotCause, SnapshotId, SnapshotOrigin, SnapshotStore,
    Store,
};

use crate::store::support::{Scene, new, noon, planted, put};

#[test]
fn a_snapshot_is_listed_as_it_was_returned() {
    let mut scene = Scene::new();
    let parent = scene.save(&MemoryBackend::new());
    let request = new()
        .parent(parent.id)
        .tag("before \"the\" change")
        .message("two\nlines")
        .cause(SnapshotCause::Safety)
        .asked_by(SnapshotOrigin::Agent)
        .file_count(3)
        .total_bytes(14)
        .backend("memory")
        .point_in_time(true)
        .excluded(vec![".git".into()])
        .skipped(vec![Skipped::new("a", "it is a socket")]);
    let snapshot = scene.store.save(&planted(), &request).unwrap();
    assert_eq!((snapshot.parent, snapshot.created_at), (Some(parent.id), noon()));
    assert_eq!((snapshot.strategy.as_str(), snapshot.sequence), ("store", 2));
    assert_eq!(scene.store.list().unwrap(), [parent.clone(), snapshot.clone()]);
    scene.reopen();
    assert_eq!(scene.store.list().unwrap(), [parent, snapshot]);
}

#[test]
fn order_is_that_of_taking_whatever_the_clock_says() {
    let mut scene = Scene::new();
    let mut taken = Vec::new();
    for hours in [5, 1, 9, 9, 0] {
        let mut request = new();
        request.created_at = noon() - Duration::from_secs(3600 * hours);
        taken.push(scene.store.save(&MemoryBackend::new(), &request).unwrap().id);
    }
    scene.reopen();
    let listed: Vec<_> = scene.store.list().unwrap().iter().map(|snapshot| snapshot.id).collect();
    assert_eq!(listed, taken);
}

#[test]
fn a_tag_names_one_snapshot() {
    let scene = Scene::new();
    let tagged = |tag: &str| scene.store.save(&MemoryBackend::new(), &new().tag(tag));
    let first = tagged("v1").unwrap();
    assert_eq!(tagged("v1").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(tagged("-v").unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(tagged(&first.id.to_string()).unwrap_err().kind(), ErrorKind::InvalidArgument);
    tagged("v2").unwrap();
    assert!(scene.store.delete(&first.id).unwrap());
    tagged("v1").unwrap();
    assert_eq!(scene.store.list().unwrap().len(), 2);
}

#[test]
fn a_deleted_snapshot_is_gone_and_the_others_are_not() {
    let scene = Scene::new();
    let mut files = MemoryBackend::new();
    let first = scene.save(&files);
    put(&mut files, b"a", "x");
    let second = scene.save(&files);
    assert!(scene.store.delete(&first.id).unwrap());
    assert!(!scene.store.delete(&first.id).unwrap());
    let error = scene.store.load(&first.id).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SnapshotNotFound);
    assert_eq!(scene.store.list().unwrap(), [second]);
    assert!(!scene.store.delete(&SnapshotId::random()).unwrap());
    assert_eq!(scene.verify().problems, []);
}

#[test]
fn a_time_no_calendar_knows_is_refused_and_leaves_nothing() {
    let scene = Scene::new();
    let mut request = new();
    request.created_at += Duration::from_secs(400_000_000_000);
    let error = scene.store.save(&planted(), &request).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(crate::store::support::names(&scene.root().join("packs")), [""; 0]);
}

fn cache_lines(scene: &Scene) -> usize {
    std::fs::read_to_string(scene.root().join("cache/catalog")).unwrap().lines().count()
}

#[test]
fn a_list_from_the_cache_is_that_of_the_records() {
    let scene = Scene::new();
    let all: Vec<_> = (0..20).map(|_| scene.save(&MemoryBackend::new())).collect();
    assert_eq!(cache_lines(&scene), 20);
    let opened = || Store::open_ambient(scene.root()).unwrap();
    assert_eq!(opened().list().unwrap(), all);
    let another = opened().save(&MemoryBackend::new(), &new()).unwrap();
    assert_eq!(cache_lines(&scene), 21, "a process that came later adds its line");
    scene.store.delete(&all[3].id).unwrap();
    let left: Vec<_> = all.into_iter().chain([another]).filter(|it| it.sequence != 4).collect();
    assert_eq!(opened().list().unwrap(), left);
    assert_eq!(scene.store.list().unwrap(), left);
}

#[test]
fn only_records_are_the_truth() {
    let scene = Scene::new();
    let all: Vec<_> = (0..20).map(|_| scene.save(&MemoryBackend::new())).collect();
    let cache = scene.root().join("cache/catalog");
    let text = std::fs::read_to_string(&cache).unwrap();
    let forged = text.replace("\"sequence\":7,", "\"sequence\":77,");
    assert_ne!(forged, text);
    for other in [&forged[..], "", "nothing\n\n of this\n", &text[..text.len() / 2]] {
        std::fs::write(&cache, other).unwrap();
        assert_eq!(Store::open_ambient(scene.root()).unwrap().list().unwrap(), all);
    }
    std::fs::write(scene.record(&all[5].id), "damaged").unwrap();
    std::fs::write(&cache, &text).unwrap();
    let listed = Store::open_ambient(scene.root()).unwrap().list().unwrap();
    assert_eq!(listed.len(), 19, "a record that is another than it was is read itself");
    assert_eq!(scene.store.list().unwrap().len(), 19, "also where it was read before");
    std::fs::remove_dir_all(scene.root().join("cache")).unwrap();
    Store::open_ambient(scene.root()).unwrap().save(&MemoryBackend::new(), &new()).unwrap();
    assert_eq!(cache_lines(&scene), 20, "it is made anew");
}

#[test]
fn the_cache_does_not_grow_for_ever() {
    let scene = Scene::new();
    for _ in 0..300 {
        let snapshot = scene.save(&MemoryBackend::new());
        scene.store.delete(&snapshot.id).unwrap();
    }
    assert!(cache_lines(&scene) < 80, "{}", cache_lines(&scene));
}
