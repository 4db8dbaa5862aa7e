//! A workspace keeps the snapshots it is to keep, within the space it may take.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use wink_fs::{
    ErrorKind, Event, MoveOptions, Pin, PruneOptions, Retention, Snapshot, SnapshotOptions,
    SnapshotOrigin, StateRef, Store, VerifyOptions, Workspace,
};

const SECRET: &str = "TOKEN=correct-horse-battery-staple";

/// A directory with a store beside it, and what a workspace of them tells.
struct Scene {
    directory: tempfile::TempDir,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("root")).unwrap();
        drop(Store::create_ambient(directory.path().join("store")).unwrap());
        Self { directory, events: Arc::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn open(&self, retention: Retention) -> Workspace {
        let store = Store::open_ambient(self.path("store")).unwrap();
        let events = self.events.clone();
        let builder = Workspace::host_builder(self.path("root"), store).unwrap();
        let observe = move |event: &Event| events.lock().unwrap().push(event.clone());
        builder.retention(retention).observe(observe).build()
    }

    fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }
}

fn untagged(files: &Workspace) -> Snapshot {
    files.snapshot_with(&SnapshotOptions::default()).unwrap()
}

fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

#[track_caller]
fn verify(files: &Workspace) {
    let store = files.snapshot_store().unwrap();
    assert_eq!(store.verify(&VerifyOptions::default().data(true)).unwrap().problems, []);
}

#[test]
fn ten_without_a_tag_are_kept_and_all_with_one_and_it_is_told() {
    let scene = Scene::new();
    let files = scene.open(Retention::default());
    let mut taken = Vec::new();
    for number in 0..15 {
        files.write("file", &number.to_string()).unwrap();
        taken.push(untagged(&files).id);
        files.snapshot(&format!("tag {number}")).unwrap();
    }
    let kept = files.snapshots().unwrap();
    assert_eq!(kept.iter().filter(|it| it.tag.is_some()).count(), 15);
    let left: Vec<_> = kept.iter().filter(|it| it.tag.is_none()).map(|it| it.id).collect();
    assert_eq!(left, taken[5..]);
    let told = scene.events().into_iter().filter_map(|event| match event {
        Event::SnapshotsPruned { ids } => Some(ids),
        _ => None,
    });
    assert_eq!(told.flatten().collect::<Vec<_>>(), taken[..5]);
    verify(&files);
}

#[test]
fn a_prune_takes_away_what_is_not_to_be_kept_and_gives_the_space_back() {
    let scene = Scene::new();
    let files = scene.open(Retention::everything());
    for number in 0..20 {
        files.write_bytes("file", noise(number, 50_000)).unwrap();
        untagged(&files);
    }
    let all = files.snapshots().unwrap();
    let pinned = Pin::new(all[3].id, "session");
    files.snapshot_store().unwrap().pin(&pinned).unwrap();
    let options = PruneOptions::default().retention(Retention::default().max_count(2));
    let planned = files.prune(&options.clone().dry_run(true)).unwrap();
    assert_eq!(files.snapshots().unwrap(), all);
    let before = files.usage().unwrap();
    let pruned = files.prune(&options).unwrap();
    assert_eq!((pruned.snapshots.len(), &pruned.snapshots), (17, &planned.snapshots));
    let after = files.usage().unwrap();
    assert_eq!(pruned.bytes_freed, before.bytes - after.bytes);
    assert!(pruned.reclaimed.bytes_freed > 16 * 50_000, "{pruned:?}");
    assert!(files.find_snapshot(all[3].id).is_ok());
    verify(&files);
}

#[test]
fn the_last_ten_of_what_restores_replaced_are_kept_and_those_with_a_pin() {
    let scene = Scene::new();
    let files = scene.open(Retention::default());
    files.write("file", "first").unwrap();
    let first = files.snapshot("first").unwrap();
    let mut saved = Vec::new();
    for number in 0..14 {
        files.write("file", &number.to_string()).unwrap();
        saved.push(files.restore(&first).unwrap().saved.unwrap());
        if number == 1 {
            files.snapshot_store().unwrap().pin(&Pin::new(saved[1], "session")).unwrap();
        }
    }
    let kept: Vec<_> = files.snapshots().unwrap()[1..].iter().map(|it| it.id).collect();
    assert_eq!(kept, [&saved[1..2], &saved[4..]].concat());
    let told = |id| Event::SnapshotsPruned { ids: vec![id] };
    assert!([0, 2, 3].iter().all(|at| scene.events().contains(&told(saved[*at]))));
    verify(&files);
}

#[test]
fn many_small_packs_are_merged_by_themselves() {
    let scene = Scene::new();
    let files = scene.open(Retention::everything());
    for number in 0..70 {
        files.write("file", &number.to_string()).unwrap();
        untagged(&files);
    }
    assert!(files.usage().unwrap().packs < 20);
    assert_eq!(files.snapshots().unwrap().len(), 70);
    verify(&files);
}

#[test]
fn when_space_runs_out_safety_goes_first_and_then_what_no_count_protects() {
    let scene = Scene::new();
    let retention = Retention::everything().max_bytes(1_000_000);
    let files = scene.open(retention);
    files.write_bytes("file", noise(1, 100_000)).unwrap();
    let first = untagged(&files);
    files.write_bytes("file", noise(2, 100_000)).unwrap();
    let saved = files.restore(&first).unwrap().saved.unwrap();
    for number in 3..20 {
        files.write_bytes("file", noise(number, 100_000)).unwrap();
        untagged(&files);
        assert!(files.usage().unwrap().bytes <= 1_000_000);
    }
    let gone = |event: &Event| match event {
        Event::SnapshotsPruned { ids } => ids.clone(),
        _ => Vec::new(),
    };
    let gone: Vec<_> = scene.events().iter().flat_map(gone).collect();
    assert_eq!(gone[..2], [saved, first.id]);
    let kept = files.snapshots().unwrap();
    assert!((4..9).contains(&kept.len()), "{}", kept.len());
    assert_eq!(files.current_snapshot_id().unwrap(), Some(kept[kept.len() - 1].id));
    verify(&files);
}

#[test]
fn where_nothing_may_go_a_snapshot_is_refused_and_leaves_nothing() {
    let scene = Scene::new();
    let files = scene.open(Retention::default().max_bytes(1_000_000));
    let mut number = 0;
    let refused = loop {
        number += 1;
        std::fs::write(scene.path("root/file"), noise(number, 90_000)).unwrap();
        match files.snapshot(&format!("tag {number}")) {
            Ok(_) => {}
            Err(error) => break error,
        }
        assert!(number < 12, "the space must run out");
    };
    assert_eq!(refused.kind(), ErrorKind::NoSpace);
    assert!(refused.to_string().contains("1000000 bytes"), "{refused}");
    assert_eq!(files.snapshots().unwrap().len() as u64, number - 1);
    let used = files.usage().unwrap();
    assert!(used.bytes <= 1_000_000 && used.is_nearly_full(Some(1_000_000)), "{used:?}");
    verify(&files);
}

/// Once, nine tagged snapshots of an agent pushed out the only one that a person had taken, and then no more could be
/// taken.
#[test]
fn an_agent_that_tags_its_snapshots_evicts_none_that_a_person_took() {
    let scene = Scene::new();
    let files = scene.open(Retention::default().max_bytes(1_000_000).space_first(true));
    files.write_bytes("file", noise(1, 100_000)).unwrap();
    let persons = untagged(&files);
    for number in 2..20 {
        files.write_bytes("file", noise(number, 100_000)).unwrap();
        let agents = SnapshotOptions::default().tag(format!("step {number}"));
        files.snapshot_with(&agents.asked_by(SnapshotOrigin::Agent)).unwrap();
    }
    let kept = files.snapshots().unwrap();
    assert!(kept.iter().any(|it| it.id == persons.id), "{kept:?}");
    let named = files.tag("step 19", None).and_then(|it| files.tag(&it, Some("mine"))).unwrap();
    assert_eq!(named.asked_by, SnapshotOrigin::User, "a person tagged it");
    files.write_bytes("file", noise(20, 100_000)).unwrap();
    files.snapshot("the next one").unwrap();
    verify(&files);
}

/// Everything that the store's files hold, as it was before it was packed.
fn unpacked(scene: &Scene) -> Vec<u8> {
    let mut waiting = vec![scene.path("store")];
    let mut all = Vec::new();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let bytes = std::fs::read(path).unwrap();
        for at in memchr::memmem::find_iter(&bytes, &[0x28, 0xB5, 0x2F, 0xFD]) {
            let mut frame = Vec::new();
            let mut decoder = zstd::Decoder::new(&bytes[at..]).unwrap().single_frame();
            if std::io::Read::read_to_end(&mut decoder, &mut frame).is_ok() {
                all.extend(frame);
            }
        }
        all.extend(bytes);
    }
    all
}

#[test]
fn a_path_that_is_taken_out_is_gone_from_every_byte_of_the_history() {
    let scene = Scene::new();
    let files = scene.open(Retention::everything());
    let padding = "a line that packs well\n".repeat(40_000);
    files.write("large", &padding).unwrap();
    files.write("config/.env", SECRET).unwrap();
    files.write("config/public", "public").unwrap();
    let first = files.snapshot("first").unwrap();
    files.write("config/.env", &format!("{SECRET} and a new one")).unwrap();
    files.write("later", "later").unwrap();
    files.snapshot("second").unwrap();
    files.delete_all("config").unwrap();
    files.snapshot("third").unwrap();
    let has_secret = || memchr::memmem::find(&unpacked(&scene), SECRET.as_bytes()).is_some();
    assert!(has_secret());

    let would = files.would_prune_path("config/.env").unwrap();
    assert!(has_secret(), "nothing was taken out yet");
    let redacted = files.prune_path("config/.env").unwrap();
    assert_eq!((redacted.snapshots.len(), redacted.operations.len()), (2, 2), "{redacted:?}");
    let same = |id| redacted.snapshots.contains(id);
    assert!(would.snapshots.len() == 2 && would.snapshots.iter().all(same), "{would:?}");
    assert_eq!((would.paths, would.operations), (redacted.paths, redacted.operations));
    assert!(!has_secret());
    let found = files.find_snapshot("first").unwrap();
    assert_eq!((found.id, found.sequence, found.file_count), (first.id, 1, first.file_count - 1));
    assert_eq!(found.total_bytes, first.total_bytes - SECRET.len() as u64);
    assert_eq!(found.skipped[0].path, "config/.env");
    let old = files.tree_at("second").unwrap();
    let content = old.open(&files.path("config/public").unwrap()).unwrap();
    assert_eq!(content.read_all().unwrap(), "public");
    assert_eq!(Some(wink_fs::tree_hash(&*old).unwrap()), files.snapshots().unwrap()[1].tree_hash);
    verify(&files);
    let told = |event: &Event| matches!(event, Event::PathsPruned { snapshots, .. } if snapshots.len() == 2);
    assert!(scene.events().iter().any(told));
    assert!(files.prune_path("config/.env").unwrap().snapshots.is_empty());
}

/// Once a move that first failed for want of a parent kept a copy that counted as one of any path.
#[test]
fn a_path_that_nothing_matches_forgets_no_operation() {
    let scene = Scene::new();
    let files = scene.open(Retention::everything());
    files.write("f", "one").unwrap();
    files.write("g", "two").unwrap();
    files.rename("f", "new/f").unwrap();
    let over = MoveOptions::default().replace(true);
    files.rename_with("g", "new/f", &over).unwrap();
    for pattern in ["nothing-*", "new/g"] {
        assert_eq!(files.would_prune_path(pattern).unwrap().operations, [0; 0]);
        assert_eq!(files.prune_path(pattern).unwrap().operations, [0; 0]);
    }
    files.undo().unwrap();
    assert_eq!(files.read("new/f").unwrap().content, "one");
    files.undo().unwrap();
    assert_eq!(files.read("f").unwrap().content, "one");

    files.rename("f", "again/f").unwrap();
    let moved = files.operations().unwrap().iter().map(|it| it.sequence).max().unwrap();
    assert!(files.prune_path("f").unwrap().operations.contains(&moved), "it keeps a copy of f");
}

/// Writes a secret over and over, so that only operations keep it, and takes it away.
fn leak(files: &Workspace) {
    files.write("config/.env", SECRET).unwrap();
    files.write("config/.env", "nothing").unwrap();
    files.write("plain", "1").unwrap();
    files.write("plain", "2").unwrap();
}

fn has_secret(scene: &Scene) -> bool {
    memchr::memmem::find(&unpacked(scene), SECRET.as_bytes()).is_some()
}

impl Scene {
    /// Opens another workspace that shares the snapshots.
    fn fork(&self, name: &str) -> Workspace {
        self.fork_with(name, Retention::default())
    }

    fn fork_with(&self, name: &str, retention: Retention) -> Workspace {
        let root = self.path(name);
        std::fs::create_dir_all(&root).unwrap();
        let store = Store::open_ambient(self.path("store")).unwrap().for_fork(name).unwrap();
        Workspace::host_builder(root, store).unwrap().retention(retention).build()
    }
}

#[test]
fn a_path_is_removed_from_the_operations_of_every_fork() {
    for asked_in_fork in [false, true] {
        let scene = Scene::new();
        let (main, one, two) =
            (scene.open(Retention::everything()), scene.fork("one"), scene.fork("two"));
        leak(&main);
        leak(&one);
        one.snapshot("of a fork").unwrap();
        two.write("plain", "1").unwrap();
        assert!(has_secret(&scene));
        let asked = if asked_in_fork { &one } else { &main };
        let would = asked.would_prune_path("**/.env").unwrap();
        let redacted = asked.prune_path("**/.env").unwrap();
        assert_eq!(redacted.operations, [2]);
        assert_eq!(would.elsewhere, redacted.elsewhere);
        let other = if asked_in_fork { "" } else { "one" };
        assert_eq!(redacted.elsewhere.into_iter().collect::<Vec<_>>(), [(other.into(), vec![2])]);
        assert!(!has_secret(&scene), "asked in a fork: {asked_in_fork}");
        for files in [&main, &one] {
            assert_eq!(files.operations().unwrap().len(), 3, "the others stay");
            files.undo().unwrap();
            assert_eq!(files.read("plain").unwrap().content, "1");
            assert_eq!(files.read("config/.env").unwrap().content, "nothing");
        }
        verify(&main);
    }
}

#[test]
fn a_path_is_taken_out_of_operations_that_are_not_listed_any_more() {
    let scene = Scene::new();
    let files = scene.fork("one");
    leak(&files);
    // One of more than are listed, and one whose record is damaged.
    let number = |number: u32| files.write("plain", &number.to_string()).unwrap();
    (0..199).for_each(|it| drop(number(it)));
    assert!(files.operations().unwrap().iter().all(|it| it.sequence > 2));
    files.write("config/.env", SECRET).unwrap();
    files.write("config/.env", "nothing").unwrap();
    let last = files.operations().unwrap().pop().unwrap().sequence;
    let record = scene.path(&format!("store/branches/one/operations/{last}.op"));
    std::fs::write(record, "damaged").unwrap();
    assert!(has_secret(&scene));
    let redacted = scene.open(Retention::everything()).prune_path("**/.env").unwrap();
    assert_eq!(redacted.elsewhere["one"], [2, last - 1, last]);
    assert!(!has_secret(&scene));
}

#[test]
fn a_path_stays_while_a_call_of_a_fork_must_be_rolled_back_with_it() {
    let scene = Scene::new();
    let main = scene.open(Retention::everything());
    leak(&scene.fork("one"));
    // As if the process had died before it wrote the operation down.
    let record = scene.path("store/branches/one/operations/2.op");
    let others = [1, 3, 4].map(|it| scene.path(&format!("store/branches/one/operations/{it}.op")));
    std::fs::rename(&record, record.with_extension("begun")).unwrap();
    assert!(others.iter().all(|it| it.exists()));
    let error = main.prune_path("**/.env").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(error.to_string().contains("`one`"), "{error}");
    assert!(main.prune_path("plain").is_ok());
    // The next process that opens the fork rolls the call back, and then the path can go.
    let fork = scene.fork("one");
    fork.write("other", "1").unwrap();
    assert_eq!(fork.read("config/.env").unwrap().content, SECRET);
    fork.delete("config/.env").unwrap();
    assert!(!main.prune_path("**/.env").unwrap().elsewhere["one"].is_empty());
    assert!(!record.with_extension("begun").exists());
    assert!(!has_secret(&scene));
}

#[test]
fn a_path_is_not_removed_while_another_process_works_in_a_fork() {
    let scene = Scene::new();
    let (main, fork) = (scene.open(Retention::everything()), scene.fork("one"));
    leak(&fork);
    let path = fork.path("config/.env").unwrap();
    fork.as_agent("work", |files| {
        assert_eq!(main.prune_path("**/.env").unwrap_err().kind(), ErrorKind::Locked);
        files.remove(&path, wink_fs::Recursion::OnlyEmpty)
    })
    .unwrap();
    assert_eq!(main.prune_path("**/.env").unwrap().elsewhere["one"].len(), 2);
}

#[test]
fn ten_untagged_snapshots_are_kept_by_default() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create_ambient(directory.path().join("store")).unwrap();
    std::fs::create_dir(directory.path().join("root")).unwrap();
    let host = Workspace::host_with_store(directory.path().join("root"), store).unwrap();
    for files in [Workspace::memory(), host] {
        let take = || untagged(&files).id;
        files.snapshot("kept").unwrap();
        let taken: Vec<_> = (0..13).map(|_| take()).collect();
        let mut left: Vec<_> = files.snapshots().unwrap().iter().map(|it| it.id).collect();
        assert_eq!(files.find_snapshot("kept").unwrap().id, left.remove(0));
        assert_eq!(left, taken[3..]);
    }
}

#[test]
fn a_workspace_keeps_as_many_as_the_strategy_is_told_to() {
    let directory = tempfile::tempdir().unwrap();
    let options = wink_fs::StrategyOptions::new(directory.path().join("snapshots"));
    let options = options.max_snapshots(12);
    let snapshots = options.create_ambient(directory.path()).unwrap();
    let files = Workspace::builder(wink_fs::MemoryBackend::new()).snapshots(snapshots).build();
    for _ in 0..15 {
        untagged(&files);
    }
    assert_eq!(files.snapshots().unwrap().len(), 12);
}

#[test]
fn where_space_comes_first_the_oldest_go_although_the_count_would_keep_them() {
    let scene = Scene::new();
    let files =
        scene.open(Retention::default().max_count(500).max_bytes(1_000_000).space_first(true));
    files.write_bytes("large", noise(0, 100_000)).unwrap();
    files.snapshot("kept").unwrap();
    let taken: Vec<_> = (1..30)
        .map(|number| {
            files.write_bytes("large", noise(number, 100_000)).unwrap();
            untagged(&files).id
        })
        .collect();
    assert!(files.usage().unwrap().bytes <= 1_000_000);
    let mut left: Vec<_> = files.snapshots().unwrap().iter().map(|it| it.id).collect();
    assert_eq!(left.remove(0), files.find_snapshot("kept").unwrap().id);
    assert!(left.len() > 1 && taken.ends_with(&left), "the newest of {} stay", taken.len());
    verify(&files);
}

#[test]
fn what_a_fork_reads_from_stays_as_long_as_the_fork() {
    let scene = Scene::new();
    let files = scene.open(Retention::default().max_count(1));
    files.write("a", &"content ".repeat(1000)).unwrap();
    let start = untagged(&files);
    let fork = files.fork(&start).unwrap();
    files.write("a", "other").unwrap();
    untagged(&files);
    files.prune(&PruneOptions::default()).unwrap();
    assert_eq!(fork.read("a").unwrap().content, "content ".repeat(1000));
    drop(fork);
    files.prune(&PruneOptions::default()).unwrap();
    let left: Vec<_> = files.snapshots().unwrap().iter().map(|it| it.id).collect();
    assert!(left.len() == 1 && !left.contains(&start.id));
}

/// Takes snapshots, and restores each, so that as much for safety is kept as can be.
fn work(files: &Workspace, rounds: u64) {
    for round in 0..rounds {
        files.write("work", &round.to_string()).unwrap();
        let kept = untagged(files);
        files.write("work", "changed").unwrap();
        files.restore(&kept).unwrap();
    }
}

/// The snapshots of a fork counted as those of the workspace that it was forked from.
#[test]
fn the_snapshots_of_a_fork_expire_none_of_the_workspace() {
    let scene = Scene::new();
    let main = scene.open(Retention::default());
    std::fs::create_dir(scene.path("fork")).unwrap();
    let store = Store::open_ambient(scene.path("store")).unwrap().for_fork("attempt").unwrap();
    let fork = Workspace::host_with_store(scene.path("fork"), store).unwrap();
    work(&main, 10);
    let kept = main.snapshots().unwrap();
    work(&fork, 25);
    let all = main.snapshots().unwrap();
    assert!(kept.iter().all(|it| all.contains(it)), "all of the first are there");
    let of = |fork: Option<&str>| all.iter().filter(|it| it.fork.as_deref() == fork).count();
    assert_eq!((of(None), of(Some("attempt")), all.len()), (20, 20, 40));
    for _ in 0..2 * 10 {
        main.undo().unwrap();
    }

    work(&main, 25);
    let all = fork.snapshots().unwrap();
    let of = |fork: Option<&str>| all.iter().filter(|it| it.fork.as_deref() == fork).count();
    assert_eq!((of(None), of(Some("attempt"))), (20, 20));
    assert!(fork.undo().unwrap().conflicts.is_empty());
    assert!(main.prune(&PruneOptions::default()).unwrap().snapshots.is_empty());
    verify(&main);
}

/// Once, the oldest snapshots went, no matter which fork had taken them and how much space they were allowed
/// to take.
#[test]
fn a_fork_frees_space_only_by_its_own_snapshots() {
    let scene = Scene::new();
    let main = scene.open(Retention::everything());
    let fork = scene.fork_with("attempt", Retention::everything().max_bytes(1_000_000));
    let mut seed = 0;
    let mut take = |files: &Workspace| {
        seed += 1;
        files.write_bytes("large", noise(seed, 100_000)).unwrap();
        untagged(files).id
    };
    let kept: Vec<_> = (0..4).map(|_| take(&main)).collect();
    let taken: Vec<_> = (0..12).map(|_| take(&fork)).collect();
    assert!(fork.usage().unwrap().bytes <= 1_000_000);
    let left: Vec<_> = main.snapshots().unwrap().iter().map(|it| it.id).collect();
    assert_eq!(left[..4], kept);
    assert!(left.len() > 4 && taken.ends_with(&left[4..]), "the newest of the fork stay");
    verify(&fork);
}

#[test]
fn of_deleted_forks_only_the_last_snapshots_stay() {
    let scene = Scene::new();
    let main = scene.open(Retention::default());
    let own: Vec<_> = (0..10).map(|_| untagged(&main).id).collect();
    for name in ["one", "two", "three"] {
        std::fs::create_dir(scene.path(name)).unwrap();
        let store = Store::open_ambient(scene.path("store")).unwrap().for_fork(name).unwrap();
        let fork = Workspace::host_with_store(scene.path(name), store).unwrap();
        (0..8).for_each(|_| drop(untagged(&fork)));
    }
    assert_eq!(main.snapshots().unwrap().len(), 10 + 3 * 8);
    for name in ["one", "two"] {
        std::fs::remove_dir_all(scene.path("store/branches").join(name)).unwrap();
    }
    untagged(&main);
    let all = main.snapshots().unwrap();
    let of = |fork: Option<&str>| all.iter().filter(|it| it.fork.as_deref() == fork).count();
    assert_eq!((of(None), of(Some("three")), of(Some("(gone)")), all.len()), (10, 8, 10, 28));
    assert!(own[1..].iter().all(|id| all.iter().any(|it| it.id == *id)));
}

#[test]
fn what_forks_begin_with_pushes_nothing_out() {
    let scene = Scene::new();
    for files in [Workspace::memory(), scene.open(Retention::default())] {
        let kept: Vec<_> = (0..10).map(|_| untagged(&files).id).collect();
        let forks: Vec<_> = (0..12).map(|_| files.fork(StateRef::Live).unwrap()).collect();
        let ids = || files.snapshots().unwrap().iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(ids()[..10], kept);
        assert_eq!(ids().len(), 22, "those of the forks are pinned");
        drop(forks);
        drop(files.fork(StateRef::Live).unwrap());
        assert_eq!(ids()[..10], kept);
        assert_eq!(ids().len(), 20, "of what forks began with as many are kept as of others");
    }
}

#[test]
fn the_snapshot_that_the_files_grew_from_is_never_pruned() {
    let files = Workspace::memory();
    let own = files.snapshot_with(&SnapshotOptions::default()).unwrap().id;
    let fork = files.fork(own).unwrap();
    fork.write("a", "theirs").unwrap();
    files.keep_fork(&fork, "kept").unwrap().unwrap();
    drop(fork);
    let one = PruneOptions::default().retention(Retention::default().max_count(1));
    assert!(files.prune(&one.clone().dry_run(true)).unwrap().snapshots.is_empty());
    files.prune(&one).unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(own));
}
