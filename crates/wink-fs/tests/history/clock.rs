//! A clock that is wrong by years, stands still and jumps changes no order and nothing that is kept.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use wink_fs::{
    Clock, ErrorKind, MemoryBackend, PruneOptions, Retention, Snapshot, SnapshotCause, SnapshotId,
    SnapshotOptions, Store, VerifyOptions, Workspace,
};

use crate::history::scene::{Scene, on_both};

const DAY: u64 = 24 * 60 * 60;
const YEAR: u64 = 365 * DAY;

/// Says another time at each look: ten years ahead, right, a day behind, the same, before 1970.
struct Jumping(AtomicUsize);

impl Clock for Jumping {
    fn now(&self) -> SystemTime {
        let right = SystemTime::UNIX_EPOCH + Duration::from_secs(56 * YEAR);
        let behind = right - Duration::from_secs(DAY);
        let moments = [
            right + Duration::from_secs(10 * YEAR),
            right,
            behind,
            behind,
            SystemTime::UNIX_EPOCH - Duration::from_secs(DAY),
        ];
        moments[self.0.fetch_add(1, Ordering::Relaxed) % moments.len()]
    }
}

/// Opens the scene's workspace with a wrong clock.
fn open(scene: &Scene) -> Workspace {
    open_at(scene, 0)
}

fn open_at(scene: &Scene, moment: usize) -> Workspace {
    let clock = Arc::new(Jumping(AtomicUsize::new(moment)));
    if scene.path("store").exists() {
        let store = Store::open_ambient(scene.path("store")).unwrap();
        Workspace::host_builder(scene.path("root"), store).unwrap().clock(clock).build()
    } else {
        Workspace::builder(MemoryBackend::new()).clock(clock).build()
    }
}

fn ids(snapshots: &[Snapshot], cause: SnapshotCause) -> Vec<SnapshotId> {
    snapshots.iter().filter(|it| it.cause == cause).map(|it| it.id).collect()
}

/// Says the time that the test sets, in minutes.
#[derive(Default)]
struct Minutes(AtomicUsize);

impl Clock for Minutes {
    fn now(&self) -> SystemTime {
        let minutes = self.0.load(Ordering::Relaxed) as u64;
        SystemTime::UNIX_EPOCH + Duration::from_secs(YEAR + 60 * minutes)
    }
}

/// Once, an age named the newest snapshot of that time: after a restore, what the restore had discarded.
#[test]
fn an_age_names_the_state_that_the_workspace_was_in() {
    let clock = Arc::new(Minutes::default());
    let at = |minute| clock.0.store(minute, Ordering::Relaxed);
    let files = Workspace::builder(MemoryBackend::new()).clock(clock.clone()).build();
    let one = files.snapshot("one").unwrap();
    at(10);
    files.write("a", "2").unwrap();
    let two = files.snapshot("two").unwrap();
    at(20);
    files.write("a", "not in a snapshot that was asked for").unwrap();
    let saved = files.restore(&one).unwrap().saved.unwrap();
    at(30);
    let aged = |age: &str| files.find_snapshot(age).unwrap().id;
    assert_eq!(aged("1m ago"), one.id, "restored ten minutes ago");
    assert_eq!(files.find_snapshot("@-").unwrap().id, one.id);
    assert_eq!(aged("11m ago"), two.id, "before the restore");
    assert_eq!(aged("21m ago"), one.id, "before the second");
    assert!(files.find_snapshot("31m ago").is_err());
    files.write("a", "3").unwrap();
    let three = files.snapshot("three").unwrap();
    at(40);
    assert_eq!(["1m ago", "11m ago", "25m ago"].map(aged), [three.id, one.id, two.id]);
    files.restore(saved).unwrap();
    at(50);
    assert_eq!(aged("1m ago"), saved, "it was restored by its id");
    files.undo().unwrap();
    at(60);
    assert_eq!(aged("1m ago"), three.id);
}

/// Once, `prune --keep 1` with a clock that ran three days behind deleted three snapshots.
#[test]
fn nothing_is_pruned_on_request_while_the_clock_is_behind() {
    let clock = Arc::new(Minutes::default());
    let at = |minute| clock.0.store(minute, Ordering::Relaxed);
    let files = Workspace::builder(MemoryBackend::new()).clock(clock.clone()).build();
    at(100);
    for number in 0..3 {
        files.write("a", &number.to_string()).unwrap();
        files.snapshot_with(&SnapshotOptions::default()).unwrap();
    }
    let one = PruneOptions::default().retention(Retention::default().max_count(1));
    at(10);
    let refused = files.prune(&one).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("the clock is behind"), "{refused}");
    assert_eq!(files.snapshots().unwrap().len(), 3);
    at(100);
    assert_eq!(files.prune(&one).unwrap().snapshots.len(), 2);
}

on_both! {
    fault_29_snapshots_are_in_the_order_in_which_they_were_taken,
    fault_29_undo_and_redo_follow_the_order_of_the_calls,
    fault_29_the_newest_are_kept_and_all_that_have_a_tag,
}

fn fault_29_snapshots_are_in_the_order_in_which_they_were_taken(scene: Scene) {
    let files = open(&scene);
    let taken: Vec<Snapshot> = (0..7)
        .map(|round| {
            files.write("a", &round.to_string()).unwrap();
            files.snapshot(&format!("round-{round}")).unwrap()
        })
        .collect();
    assert!(!taken.is_sorted_by_key(|it| it.created_at), "the clock jumped");
    let times: BTreeSet<_> = taken.iter().map(|it| it.created_at).collect();
    assert!(times.len() < taken.len(), "and stood still");
    assert_eq!(files.snapshots().unwrap(), taken);
    for (older, newer) in taken.iter().zip(&taken[1..]) {
        assert_eq!((newer.parent, newer.sequence), (Some(older.id), older.sequence + 1));
    }
    assert_eq!(files.current_snapshot_id().unwrap(), Some(taken[6].id));
    for (round, snapshot) in taken.iter().enumerate() {
        files.restore(snapshot).unwrap();
        assert_eq!(files.read("a").unwrap().content, round.to_string());
    }
    let verified = files.snapshot_store().unwrap().verify(&VerifyOptions::default().data(true));
    assert_eq!(verified.unwrap().problems, []);
}

fn fault_29_undo_and_redo_follow_the_order_of_the_calls(scene: Scene) {
    let files = open(&scene);
    (0..10).for_each(|round| drop(files.write("a", &round.to_string()).unwrap()));
    let operations = files.operations().unwrap();
    assert!(!operations.is_sorted_by_key(|it| it.at), "the clock jumped");
    let sequences: Vec<_> = operations.iter().map(|it| it.sequence).collect();
    assert_eq!(sequences, (1..=10).collect::<Vec<_>>());
    for round in (0..9).rev() {
        files.undo().unwrap();
        assert_eq!(files.read("a").unwrap().content, round.to_string());
    }
    for round in 1..10 {
        files.redo().unwrap();
        assert_eq!(files.read("a").unwrap().content, round.to_string());
    }
}

/// Nothing is thrown away for its age, and of what is thrown away the first made is the first.
fn fault_29_the_newest_are_kept_and_all_that_have_a_tag(scene: Scene) {
    let files = open(&scene);
    let mut tagged = Vec::new();
    for round in 0..3 {
        files.write("a", &round.to_string()).unwrap();
        tagged.push(files.snapshot(&format!("round-{round}")).unwrap().id);
    }
    let restore = |round: usize| files.restore(tagged[round % 3]).unwrap().saved.unwrap();
    let saved: Vec<SnapshotId> = (0..15).map(restore).collect();
    let kept = files.snapshots().unwrap();
    assert_eq!(ids(&kept, SnapshotCause::Requested), tagged);
    assert_eq!(ids(&kept, SnapshotCause::Safety), saved[5..]);
    (0..200).for_each(|round| drop(files.write("a", &round.to_string()).unwrap()));
    let operations = files.operations().unwrap();
    assert_eq!((operations.len(), operations[0].sequence), (200, 19));
}

/// One process after another, each with another idea of the time.
#[test]
fn fault_29_those_who_come_later_go_on_where_the_last_one_ended() {
    let scene = Scene::host();
    for round in 0..4 {
        let files = open_at(&scene, round);
        files.write("a", &round.to_string()).unwrap();
        files.snapshot(&format!("round-{round}")).unwrap();
    }
    let tags: Vec<_> = scene.files.snapshots().unwrap().into_iter().map(|it| it.tag).collect();
    assert_eq!(tags, (0..4).map(|round| Some(format!("round-{round}"))).collect::<Vec<_>>());
    scene.files.undo().unwrap();
    assert_eq!(scene.files.read("a").unwrap().content, "2");
}
