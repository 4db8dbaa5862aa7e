//! What is true of every merge, on generated trees.

use wink_fs::{MemoryBackend, StateRef, Workspace, tree_hash};

use crate::common::size::size;
use crate::common::trees::{Random, plant_generated};
use crate::merge::scene::lines;

/// How many cases the long run has; in the ordinary one there are fewer, which are among them.
const CASES: u64 = 300;

fn cases() -> u64 {
    size(40, CASES)
}

fn generated(seed: u64) -> Workspace {
    let mut files = MemoryBackend::new();
    plant_generated(&mut files, &mut Random(seed));
    Workspace::builder(files).build()
}

/// Changes a workspace at random, among others what is there.
fn change(files: &Workspace, random: &mut Random) {
    for _ in 0..=random.below(12) {
        let paths: Vec<String> =
            files.glob("**/*", "").unwrap().paths.iter().map(ToString::to_string).collect();
        let some = |random: &mut Random| paths.get(random.below(paths.len().max(1))).cloned();
        let (Some(path), Some(other)) = (some(random), some(random)) else { return };
        // What the tree does not allow is no change.
        match random.below(6) {
            0 => drop(files.delete_all(&path)),
            1 => drop(files.rename(&path, &format!("moved-{}", random.below(5)))),
            2 => drop(files.symlink(&format!("{other}-link"), path.as_bytes())),
            3 => drop(files.mkdir(&format!("{path}/made"))),
            _ => {
                drop(files.write(&path, &format!("{}\n", random.below(3)).repeat(random.below(4))))
            }
        }
    }
}

fn hash(files: &Workspace) -> wink_fs::TreeHash {
    tree_hash(&*files.tree()).unwrap()
}

#[test]
fn the_side_that_changed_wins_where_the_other_did_not() {
    for seed in 0..cases() {
        let files = generated(seed);
        let (fork, idle) =
            (files.fork(StateRef::Live).unwrap(), files.fork(StateRef::Live).unwrap());
        change(&fork, &mut Random(seed + CASES));
        let merged = files.merge(&fork).unwrap();
        assert!(merged.applied, "seed {seed}: {:?}", merged.conflicts);
        assert_eq!(lines(&files), lines(&fork), "seed {seed}");
        let merged = files.merge(&idle).unwrap();
        assert!(merged.changes.is_empty() && hash(&files) == hash(&fork), "seed {seed}");
    }
}

/// Makes a fork and changes it; equal seeds make equal forks.
fn changed_fork(files: &Workspace, seed: u64) -> Workspace {
    let fork = files.fork("start").unwrap();
    change(&fork, &mut Random(seed));
    fork
}

#[test]
fn a_merge_is_the_same_from_both_sides_or_changes_nothing() {
    let mut clean = 0;
    for seed in 0..cases() {
        let files = generated(seed);
        files.snapshot("start").unwrap();
        let left = || changed_fork(&files, seed + CASES);
        let right = || changed_fork(&files, seed + 2 * CASES);
        let (ours, before) = (left(), hash(&left()));
        let forward = ours.merge(&right()).unwrap();
        let theirs = right();
        let backward = theirs.merge(&left()).unwrap();
        assert_eq!(forward.conflicts.len(), backward.conflicts.len(), "seed {seed}");
        if forward.applied {
            clean += 1;
            assert_eq!(lines(&ours), lines(&theirs), "seed {seed}");
        } else {
            assert_eq!(hash(&ours), before, "seed {seed}");
        }
    }
    let all = cases();
    assert!((all / 10..all).contains(&clean), "{clean} of {all} were clean");
}
