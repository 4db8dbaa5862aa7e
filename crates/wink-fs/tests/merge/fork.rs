//! A fork begins as the state it was made of, and shares no changes with other workspaces.

use wink_fs::{
    ErrorKind, FileMode, MemoryBackend, MergeOptions, OnConflict, StateRef, Workspace, tree_hash,
};

use crate::common::trees;
use crate::merge::scene::{Scene, lines, opened, write};

fn plant(files: &Workspace) {
    let planted = files.as_owner("plant", |files| {
        trees::plant(files);
        Ok(())
    });
    planted.unwrap();
}

#[test]
fn a_fork_has_the_files_of_its_state_and_makes_none() {
    for scene in Scene::both() {
        plant(&scene.files);
        let kept = scene.files.snapshot("kept").unwrap();
        let before = lines(&scene.files);
        let fork = scene.files.fork(&kept).unwrap();
        scene.files.delete_all("src").unwrap();
        assert_eq!(lines(&fork), before);
        assert_eq!(fork.forked_from(), Some(kept.id));
        assert_eq!(fork.read("README.md").unwrap().content, "# One of everything\n");
        assert!(fork.stat("bin/run").unwrap().mode.executable);
    }
}

#[test]
fn what_is_done_in_a_fork_stays_in_it() {
    for scene in Scene::both() {
        write(&scene.files, &[("a", Some("1")), ("d/b", Some("2"))]);
        let before = lines(&scene.files);
        let fork = scene.fork();
        write(&fork, &[("a", Some("changed")), ("d", None), ("new", Some(""))]);
        fork.set_mode("a", FileMode::default().executable(true)).unwrap();
        assert_eq!(lines(&scene.files), before);
        fork.undo().unwrap();
        assert!(!fork.stat("a").unwrap().mode.executable);
    }
}

#[test]
fn a_fork_has_a_history_and_forks_of_its_own() {
    for scene in Scene::both() {
        write(&scene.files, &[("a", Some("1"))]);
        let fork = scene.fork();
        write(&fork, &[("a", Some("2"))]);
        let second = fork.fork(StateRef::Live).unwrap();
        write(&second, &[("b", Some("3"))]);
        assert!(fork.merge(&second).unwrap().applied);
        assert!(scene.files.merge(&fork).unwrap().applied);
        assert_eq!(scene.files.read("a").unwrap().content, "2");
        assert_eq!(scene.files.read("b").unwrap().content, "3");
    }
}

#[test]
fn only_a_fork_can_be_merged() {
    let files = Workspace::memory();
    let error = files.merge(&Workspace::memory()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(files.fork("nothing").unwrap_err().kind(), ErrorKind::SnapshotNotFound);
}

#[test]
fn a_fork_becomes_a_directory_only_where_nothing_is() {
    for scene in Scene::both() {
        plant(&scene.files);
        let fork = scene.fork();
        fork.write("src/main.rs", "fn main() { run() }\n").unwrap();
        fork.materialise(scene.path("made")).unwrap();
        let made = opened(scene.path("made"));
        assert_eq!(tree_hash(&*made.tree()).unwrap(), tree_hash(&*fork.tree()).unwrap());
        let error = fork.materialise(scene.path("made")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    }
}

/// What a fork reads is checked as everything is that a store gives back.
#[test]
fn a_damaged_store_gives_a_fork_no_wrong_byte() {
    let scene = Scene::on_disk();
    scene.files.write_bytes("a", trees::noise(10_000, 3)).unwrap();
    let fork = scene.fork();
    for pack in std::fs::read_dir(scene.path("store/packs")).unwrap() {
        let path = pack.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        // All blocks; the tables behind them stay.
        let tables = bytes.len() - 300;
        bytes[12..tables].iter_mut().for_each(|byte| *byte ^= 1);
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!(fork.read_bytes("a").unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_tree_that_knows_no_hashes_is_copied() {
    let mut files = MemoryBackend::new();
    trees::put(&mut files, b"a/b", "hello");
    let directory = tempfile::tempdir().unwrap();
    Workspace::builder(files).build().materialise(directory.path()).unwrap();
    let live = opened(directory.path().to_path_buf()).tree();
    let over = Workspace::builder(MemoryBackend::over(&live).unwrap()).build();
    std::fs::write(directory.path().join("a/b"), "changed").unwrap();
    assert_eq!(over.read("a/b").unwrap().content, "hello");
}

#[test]
fn what_was_brought_in_once_is_not_brought_in_again() {
    for scene in Scene::both() {
        let files = &scene.files;
        files.write("a", "one\n").unwrap();
        let fork = scene.fork();
        fork.write("new", "").unwrap();
        assert!(files.merge(&fork).unwrap().applied);
        files.delete("new").unwrap();
        assert!(files.merge(&fork).unwrap().changes.is_empty() && !files.exists("new"));

        fork.write("newer", "").unwrap();
        files.merge(&fork).unwrap();
        assert!(files.exists("newer") && !files.exists("new"));
    }
}

#[test]
fn a_conflict_that_was_decided_is_not_asked_again() {
    for scene in Scene::both() {
        let files = &scene.files;
        files.write("a", "one\n").unwrap();
        let fork = scene.fork();
        fork.write("a", "theirs\n").unwrap();
        files.write("a", "ours\n").unwrap();
        let ours = MergeOptions::default().on_conflict(OnConflict::Ours);
        assert!(files.merge_with(&fork, &ours).unwrap().applied);
        assert!(files.merge(&fork).unwrap().conflicts.is_empty());
        assert_eq!(files.read("a").unwrap().content, "ours\n");
    }
}

#[test]
fn a_merge_that_was_undone_can_be_made_again() {
    for scene in Scene::both() {
        let files = &scene.files;
        files.write("a", "one\n").unwrap();
        let fork = scene.fork();
        fork.write("first", "").unwrap();
        files.merge(&fork).unwrap();
        fork.write("second", "").unwrap();
        files.merge(&fork).unwrap();
        files.undo().unwrap();
        assert!(files.exists("first") && !files.exists("second"));
        files.merge(&fork).unwrap();
        assert!(files.exists("second"));
        files.undo().unwrap();
        files.redo().unwrap();
        assert!(files.merge(&fork).unwrap().changes.is_empty());
    }
}

#[test]
fn a_fork_that_was_brought_in_elsewhere_is_brought_in_here_all_the_same() {
    let files = Workspace::memory();
    let start = files.snapshot("start").unwrap();
    let (fork, other) = (files.fork(&start).unwrap(), files.fork(&start).unwrap());
    fork.write("new", "").unwrap();
    assert!(other.merge(&fork).unwrap().applied && other.exists("new"));
    assert!(files.merge(&fork).unwrap().applied && files.exists("new"));
}

#[test]
fn a_merge_that_changes_nothing_is_not_what_the_next_one_begins_with() {
    for scene in Scene::both() {
        let files = &scene.files;
        files.write("a", "one\n").unwrap();
        let fork = scene.fork();
        fork.write("new", "").unwrap();
        files.merge(&fork).unwrap();
        files.merge(&fork).unwrap();
        files.undo().unwrap();
        assert!(files.merge(&fork).unwrap().applied && files.exists("new"));
        assert!(files.keep_fork(&fork, "kept").unwrap().is_none(), "all of it is here");
        files.undo().unwrap();
        assert!(files.keep_fork(&fork, "kept").unwrap().is_some());
    }
}

#[test]
fn a_merge_that_a_restore_went_back_before_can_be_made_again() {
    for scene in Scene::both() {
        let files = &scene.files;
        files.write("a", "one\n").unwrap();
        let before = files.snapshot("before").unwrap();
        let fork = files.fork(&before).unwrap();
        fork.write("new", "").unwrap();
        files.merge(&fork).unwrap();
        let after = files.snapshot("after").unwrap();
        files.restore(&before).unwrap();
        assert!(files.merge(&fork).unwrap().applied && files.exists("new"));

        files.restore(&after).unwrap();
        files.delete("new").unwrap();
        files.merge(&fork).unwrap();
        assert!(!files.exists("new"), "it was brought in before that state, and deleted since");
    }
}
