//! Damage of every file of the snapshots.

use wink_fs::{ErrorKind, Strategy};

use crate::common::trees::{noise, plant_small, put};
use crate::strategies::scene::{Scene, all_files, by_every_strategy, read_everything};

by_every_strategy! { no_wrong_byte_is_ever_loaded_and_the_other_snapshot_stays_usable }

/// Locks say nothing, and what is only for git's own tools is not read.
fn counts(path: &std::path::Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    !name.ends_with("lock") && !["format", "HEAD", "config", "packed-refs"].contains(&&*name)
}

fn no_wrong_byte_is_ever_loaded_and_the_other_snapshot_stays_usable(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    plant_small(&mut scene.files);
    put(&mut scene.files, b"large", noise(1_200_000, 3));
    let first = (scene.save(), read_everything(&scene.files).unwrap());
    put(&mut scene.files, b"src/main.rs", "another\n".repeat(100));
    put(&mut scene.files, b"large", noise(1_300_000, 4));
    let second = (scene.save(), read_everything(&scene.files).unwrap());
    for file in all_files(&scene.snapshots()).iter().filter(|path| counts(path)) {
        let whole = std::fs::read(file).unwrap();
        for at in [0, whole.len() / 3, whole.len() / 2, whole.len().saturating_sub(1)] {
            if whole.is_empty() {
                continue;
            }
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            std::fs::write(file, &damaged).unwrap();
            check(&scene, [&first, &second], &format!("{file:?} at {at}"));
            std::fs::write(file, &whole[..at]).unwrap();
            check(&scene, [&first, &second], &format!("{file:?} cut at {at}"));
            std::fs::write(file, &whole).unwrap();
        }
    }
    assert_eq!(scene.verify().problems, []);
}

type Saved = (wink_fs::Snapshot, Vec<(wink_fs::TreePath, Vec<u8>)>);

fn check(scene: &Scene, saved: [&Saved; 2], what: &str) {
    let store = scene.reopened();
    let mut damaged = 0;
    for (snapshot, contents) in saved {
        let read = store.load(&snapshot.id).and_then(|tree| read_everything(&*tree));
        match read {
            Ok(read) => assert_eq!(&read, contents, "{what}"),
            Err(error) => {
                let kind = error.kind();
                assert!(
                    matches!(kind, ErrorKind::Corrupt | ErrorKind::SnapshotIncompatible),
                    "{what}: {error}"
                );
                damaged += 1;
            }
        }
    }
    let found = scene.verify();
    // A book that the store keeps on its packs can be damaged while all snapshots are whole.
    let is_book = what.contains("roster");
    assert!(damaged == 0 || !found.problems.is_empty(), "{what}: nothing was found");
    assert!(damaged > 0 || is_book || found.problems.is_empty(), "{what}: {:?}", found.problems);
    // What both have in common is there once by these.
    if !matches!(scene.strategy, Strategy::Store | Strategy::Git | Strategy::Overlay) {
        assert!(damaged <= 1, "{what}: damage to one took the other");
    }
}
