//! What the strategy `git` writes is a repository that git can read.

use std::process::Command;

use wink_fs::{
    Backend, ErrorKind, HostBackend, PruneOptions, Retention, Snapshot, SnapshotOptions, Strategy,
    Workspace, tree_hash,
};

use crate::common::trees::{noise, plant_small, put};
use crate::strategies::scene::{Scene, new};

fn git(scene: &Scene, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(scene.snapshots().join("repository")).args(arguments);
    let done = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    let text = [done.stdout, done.stderr].concat();
    (done.status.success(), String::from_utf8_lossy(&text).into_owned())
}

fn planted() -> Scene {
    let mut scene = Scene::new(Strategy::Git);
    plant_small(&mut scene.files);
    put(&mut scene.files, b"large", noise(1_500_000, 1));
    put(&mut scene.files, b"a-b", "git sorts a directory `a` after this");
    put(&mut scene.files, b"a/b", "content");
    scene
}

fn save_with(scene: &Scene, parent: Option<&Snapshot>, tag: &str) -> Snapshot {
    let mut new = new().tag(tag).message("what a person said");
    new.parent = parent.map(|parent| parent.id);
    scene.save_as(&new).unwrap()
}

#[test]
fn git_reads_every_snapshot() {
    let mut scene = planted();
    let first = save_with(&scene, None, "first");
    put(&mut scene.files, b"src/main.rs", "changed\n");
    let second = save_with(&scene, Some(&first), "second");
    let (_, log) = git(&scene, &["log", "--format=%H %s"]);
    let expected = format!("{} second\n{} first\n", second.reference, first.reference);
    assert_eq!(log, expected);
    let listed = git(&scene, &["ls-tree", "-r", "-t", &first.reference]).1;
    for row in ["100755 blob", "120000 blob", "040000 tree", "\thollow\n", "\tbin/run\n"] {
        assert!(listed.contains(row), "{row} in {listed}");
    }
    assert_eq!(git(&scene, &["show", "main:src/main.rs"]).1, "changed\n");
    let by_id = format!("refs/snapshots/{}:link", first.id);
    assert_eq!(git(&scene, &["show", &by_id]).1, "../outside");
    let changed = git(&scene, &["diff", "--name-only", &first.reference, "main"]).1;
    assert_eq!(changed, "src/main.rs\n");
    assert_eq!(git(&scene, &["fsck", "--strict", "--full"]), (true, String::new()));
}

#[test]
fn a_repository_in_the_workspace_is_data_and_fsck_says_only_that_it_is_there() {
    let mut scene = planted();
    put(&mut scene.files, b".git/HEAD", "ref: refs/heads/main\n");
    put(&mut scene.files, b"sub/.git", "gitdir: /etc\n");
    let snapshot = scene.save();
    let listed = git(&scene, &["ls-tree", "-r", &snapshot.reference]).1;
    assert!(listed.contains("\t.git/HEAD\n") && listed.contains("\tsub/.git\n"), "{listed}");
    let (_, said) = git(&scene, &["fsck", "--full"]);
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.lines().all(|line| line.contains("hasDotgit")), "{said}");
}

fn object_bytes(scene: &Scene) -> u64 {
    let files = crate::strategies::scene::all_files(&scene.snapshots().join("repository/objects"));
    files.iter().map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
fn only_what_is_new_is_written() {
    let mut scene = planted();
    scene.save();
    let first = object_bytes(&scene);
    scene.save();
    let second = object_bytes(&scene);
    assert!(second - first < 2_000, "an unchanged snapshot is a commit: {}", second - first);
    put(&mut scene.files, b"src/main.rs", "changed");
    scene.save();
    let third = object_bytes(&scene);
    assert!(third - second < 3_000, "a blob, two trees and a commit: {}", third - second);
}

/// Takes snapshots that each have something large of their own, and something that all have.
fn take_many(scene: &mut Scene, count: u64) -> Vec<Snapshot> {
    let mut taken: Vec<Snapshot> = Vec::new();
    for number in 0..count {
        put(&mut scene.files, b"own", noise(200_000, 100 + number));
        put(&mut scene.files, b"d/of-some", noise(50_000, number / 4));
        taken.push(save_with(scene, taken.last(), &format!("tag-{number}")));
    }
    taken
}

fn check_whole(scene: &Scene, kept: &[&Snapshot]) {
    let store = scene.reopened();
    assert_eq!(store.list().unwrap().iter().collect::<Vec<_>>(), kept);
    assert_eq!(scene.verify().problems, []);
    for snapshot in kept {
        let loaded = store.load(&snapshot.id).unwrap();
        assert_eq!(Some(tree_hash(&*loaded).unwrap()), snapshot.tree_hash);
        let mut back = HostBackend::temporary().unwrap();
        back.replace(&*loaded, &wink_fs::Scope::everything()).unwrap();
        assert_eq!(Some(tree_hash(&back).unwrap()), snapshot.tree_hash);
    }
}

#[test]
fn a_prune_gives_the_space_back_and_keeps_every_other_snapshot() {
    let mut scene = planted();
    scene.save();
    let one = object_bytes(&scene);
    scene.store = scene.options().max_snapshots(100).open_ambient().unwrap();
    let taken = take_many(&mut scene, 12);
    let (first, kept) = (scene.store.list().unwrap()[0].clone(), [&taken[3], &taken[11]]);
    for snapshot in taken.iter().filter(|it| !kept.contains(it)).chain([&first]) {
        assert!(scene.store.delete(&snapshot.id).unwrap());
    }
    let (before, used) = (object_bytes(&scene), scene.store.usage().unwrap());
    let done = scene.store.reclaim().unwrap();
    let after = object_bytes(&scene);
    assert!(before > one + 12 * 200_000 && after < one + 2 * 300_000, "{one} {before} {after}");
    assert_eq!(done.bytes_freed, before - after);
    assert_eq!((done.packs_removed, done.packs_written), (11, 1), "those of the two others stay");
    let left = scene.store.usage().unwrap();
    assert_eq!((used.packs, left.packs), (13, 3));
    assert!(used.bytes - left.bytes >= done.bytes_freed / 10 * 9);
    check_whole(&scene, &kept);
    assert_eq!(git(&scene, &["fsck", "--strict", "--full"]), (true, String::new()));
    let log = git(&scene, &["log", "--format=%s", "--all"]).1;
    let mut titles: Vec<_> = log.lines().collect();
    titles.sort_unstable();
    assert_eq!(titles, ["tag-11", "tag-3"], "a parent that is gone is not looked for");

    let again = scene.store.reclaim().unwrap();
    assert_eq!((again.packs_removed, again.bytes_freed), (0, 0), "there is nothing left to do");
    put(&mut scene.files, b"src/main.rs", "changed");
    let next = save_with(&scene, Some(kept[1]), "next");
    assert!(object_bytes(&scene) - after < 4_000, "only what is new is written");
    check_whole(&scene, &[kept[0], kept[1], &next]);
    assert!(git(&scene, &["gc", "--prune=now"]).0);
    check_whole(&scene, &[kept[0], kept[1], &next]);
}

#[test]
fn what_is_pruned_to_nothing_takes_nothing() {
    let mut scene = planted();
    for snapshot in take_many(&mut scene, 3) {
        scene.store.delete(&snapshot.id).unwrap();
    }
    assert_eq!(scene.store.reclaim().unwrap().packs_removed, 3);
    assert_eq!(object_bytes(&scene), 0);
    let saved = scene.save();
    check_whole(&scene, &[&saved]);
}

#[test]
fn a_workspace_says_how_much_a_prune_gave_back() {
    let scene = planted();
    let files = HostBackend::open_ambient(scene.root()).unwrap();
    let files = Workspace::builder(files).snapshots(scene.reopened()).build();
    for number in 0..4 {
        files.write_bytes("own", noise(200_000, 50 + number)).unwrap();
        files.snapshot_with(&SnapshotOptions::default()).unwrap();
    }
    let options = PruneOptions::default().retention(Retention::default().max_count(1));
    let pruned = files.prune(&options).unwrap();
    assert_eq!(pruned.snapshots.len(), 3);
    assert!(pruned.bytes_freed > 3 * 200_000, "{}", pruned.bytes_freed);
}

#[test]
fn many_packs_become_one_by_themselves() {
    let scene = planted();
    let files = HostBackend::open_ambient(scene.root()).unwrap();
    let store = scene.options().max_snapshots(1_000).open_ambient().unwrap();
    let files = Workspace::builder(files).snapshots(store).build();
    let hashes: Vec<_> = (0..66)
        .map(|number| {
            files.write("src/main.rs", &number.to_string()).unwrap();
            files.snapshot(&format!("tag-{number}")).unwrap().tree_hash
        })
        .collect();
    assert!(files.usage().unwrap().packs < 5, "{:?}", files.usage().unwrap());
    for (number, hash) in hashes.into_iter().enumerate() {
        assert_eq!(
            Some(tree_hash(&*files.tree_at(&*format!("tag-{number}")).unwrap()).unwrap()),
            hash
        );
    }
    assert_eq!(scene.verify().problems, []);
}

#[test]
fn nothing_is_pruned_where_something_is_damaged() {
    let mut scene = planted();
    let taken = take_many(&mut scene, 3);
    scene.store.delete(&taken[0].id).unwrap();
    let pack = scene.snapshots().join("repository/objects/pack");
    let packs = crate::strategies::scene::all_files(&pack).into_iter();
    let pack = packs.filter(|file| file.extension().is_some_and(|it| it == "pack"));
    let pack = pack.max_by_key(|file| file.metadata().unwrap().len()).unwrap();
    let whole = std::fs::read(&pack).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    std::fs::write(&pack, &damaged).unwrap();
    let before = object_bytes(&scene);
    assert_eq!(scene.reopened().reclaim().unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(object_bytes(&scene), before);
    std::fs::write(&pack, &whole).unwrap();
    assert!(scene.reopened().reclaim().unwrap().bytes_freed > 100_000);
    check_whole(&scene, &[&taken[1], &taken[2]]);
}

#[test]
fn git_tidying_up_takes_nothing_away() {
    let mut scene = planted();
    let first = scene.save();
    put(&mut scene.files, b"src/main.rs", "changed");
    let second = scene.save();
    assert!(git(&scene, &["gc", "--prune=now", "--aggressive"]).0);
    for snapshot in [first, second] {
        crate::strategies::scene::read_everything(&*scene.reopened().load(&snapshot.id).unwrap())
            .unwrap();
    }
    assert_eq!(scene.verify().problems, []);
}

#[test]
fn what_a_lost_pack_held_is_written_again_by_the_next_snapshot() {
    let scene = planted();
    scene.save();
    let pack = scene.snapshots().join("repository/objects/pack");
    for file in crate::strategies::scene::all_files(&pack) {
        std::fs::remove_file(file).unwrap();
    }
    assert_eq!(scene.verify().problems.len(), 1);
    scene.save();
    assert_eq!(scene.verify().problems, []);
}

#[test]
fn a_workspace_with_an_index_reads_only_what_changed() {
    let mut scene = planted();
    let capture = scene.files.capture(&Default::default()).unwrap();
    let first = scene.store.save(&*capture.tree, &new()).unwrap();
    scene.files.learn(&*capture.tree, &*scene.store.load(&first.id).unwrap());
    put(&mut scene.files, b"src/main.rs", "changed");
    let second = scene.save();
    let loaded = scene.store.load(&second.id).unwrap();
    assert_eq!(
        crate::strategies::scene::read_everything(&*loaded).unwrap(),
        crate::strategies::scene::read_everything(&scene.files).unwrap()
    );
    let files = Workspace::builder(wink_fs::HostBackend::open_ambient(scene.root()).unwrap());
    let files = files.snapshots(scene.reopened()).build();
    assert_eq!(files.restore(&first).unwrap().written, 1);
}
