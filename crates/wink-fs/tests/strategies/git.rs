//! What the strategy `git` writes is a repository that git can read.

use std::process::Command;

use wink_fs::{Backend, Snapshot, Strategy, Workspace};

use crate::scene::{Scene, new};
use crate::trees::{noise, plant_small, put};

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
    let files = crate::scene::all_files(&scene.snapshots().join("repository/objects"));
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

#[test]
fn git_tidying_up_takes_nothing_away() {
    let mut scene = planted();
    let first = scene.save();
    put(&mut scene.files, b"src/main.rs", "changed");
    let second = scene.save();
    assert!(git(&scene, &["gc", "--prune=now", "--aggressive"]).0);
    for snapshot in [first, second] {
        crate::scene::read_everything(&*scene.reopened().load(&snapshot.id).unwrap()).unwrap();
    }
    assert_eq!(scene.verify().problems, []);
}

#[test]
fn what_a_lost_pack_held_is_written_again_by_the_next_snapshot() {
    let scene = planted();
    scene.save();
    let pack = scene.snapshots().join("repository/objects/pack");
    for file in crate::scene::all_files(&pack) {
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
        crate::scene::read_everything(&*loaded).unwrap(),
        crate::scene::read_everything(&scene.files).unwrap()
    );
    let files = Workspace::builder(wink_fs::HostBackend::open_ambient(scene.root()).unwrap());
    let files = files.snapshots(scene.reopened()).build();
    assert_eq!(files.restore(&first).unwrap().written, 1);
}
