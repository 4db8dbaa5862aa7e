//! Death at the system calls of a prune of the strategy `git`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use tempfile::TempDir;
use wink_fs::{
    HostBackend, SnapshotOptions, SnapshotStore, Strategy, StrategyOptions, VerifyOptions,
    Workspace, tree_hash,
};

use crate::crash::scene::{Call, choose, copy, directory, killed_at, list_calls};

const WHAT: &str = "strategy-prune";

fn snapshots(place: &Path) -> Arc<dyn SnapshotStore> {
    let options = StrategyOptions::new(place.join("snapshots")).strategy(Strategy::Git);
    options.open_ambient().unwrap()
}

/// Makes snapshots of which some go.
fn template() -> TempDir {
    let place = directory();
    fs::create_dir(place.path().join("root")).unwrap();
    let options = StrategyOptions::new(place.path().join("snapshots")).strategy(Strategy::Git);
    options.create_ambient(place.path().join("root")).unwrap();
    let files = HostBackend::open_ambient(place.path().join("root")).unwrap();
    let files = Workspace::builder(files).snapshots(snapshots(place.path())).build();
    for number in 0..6 {
        let content = format!("{number}").repeat(30_000 + number);
        files.write(&format!("many/{}", number % 3), &content).unwrap();
        let options = SnapshotOptions::default();
        let tagged = options.clone().tag(format!("tag {number}"));
        files.snapshot_with(if number % 4 == 1 { &tagged } else { &options }).unwrap();
    }
    place
}

fn pack_files(place: &Path) -> usize {
    fs::read_dir(place.join("snapshots/repository/objects/pack")).unwrap().count()
}

/// Checks that what is listed is whole, and that another prune ends where an undisturbed one does.
fn check_whole(call: &Call, place: &Path, undisturbed: usize) {
    let store = snapshots(place);
    let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!(found.problems, [], "{WHAT} killed at {call:?}");
    let listed = store.list().unwrap();
    let tags: Vec<_> = listed.iter().filter_map(|it| it.tag.as_deref()).collect();
    assert_eq!(tags, ["tag 1", "tag 5"], "{WHAT} killed at {call:?}");
    assert_eq!(listed.iter().map(|it| it.sequence).max(), Some(6));
    for snapshot in listed {
        let tree = store.load(&snapshot.id).unwrap();
        assert_eq!(Some(tree_hash(&*tree).unwrap()), snapshot.tree_hash);
        if snapshot.tag.is_none() && snapshot.sequence != 5 {
            store.delete(&snapshot.id).unwrap();
        }
    }
    store.reclaim().unwrap();
    assert_eq!(pack_files(place), undisturbed, "{WHAT} killed at {call:?}");
    assert_eq!(store.verify(&VerifyOptions::default().data(true)).unwrap().problems, []);
}

#[test]
#[ignore = "needs strace"]
fn fault_05_a_prune_by_git_that_is_killed_keeps_every_snapshot_that_stays() {
    let before = template();
    let after = copy(before.path());
    let all = list_calls(WHAT, after.path());
    let undisturbed = pack_files(after.path());
    assert!(undisturbed < pack_files(before.path()));
    let calls = choose(&all);
    let check = |call: &Call| {
        let place = killed_at(WHAT, before.path(), call)?;
        check_whole(call, place.path(), undisturbed);
        Some(())
    };
    let tried = calls.par_iter().filter_map(check).count();
    println!("{WHAT} killed at {tried}/{} system calls", all.len());
    assert!((calls.len() - tried) * 20 <= calls.len());
}
