//! The space that a history may take, and what is said when it is used up.

use std::fs;

use crate::cli::scene::{Scene, stderr, stdout};

/// Returns bytes that do not pack well.
fn noise(mut seed: u64, bytes: usize) -> Vec<u8> {
    let next = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    };
    (0..bytes).map(next).collect()
}

/// Takes snapshots with tags, which nothing takes away, until there is no room for another.
fn filled() -> Scene {
    let scene = Scene::new();
    scene.ok(&["config", "set", "retention.bytes", "1 MiB"]);
    for number in 1.. {
        scene.write("file", noise(number, 300_000));
        let taken = scene.run(&["snapshot", "--tag", &format!("tag-{number}")]);
        match taken.status.code() {
            Some(0) => assert!(number < 5, "the space must run out"),
            code => {
                assert_eq!(code, Some(16), "{}", stderr(&taken));
                break;
            }
        }
    }
    scene
}

/// Once, a workspace of which no snapshot could be taken any more was said to be protected.
#[test]
fn a_workspace_whose_history_is_full_is_not_protected_until_a_snapshot_can_be_taken() {
    let scene = filled();
    let status = scene.json(&["status"]);
    assert_eq!((&status["protected"], &status["full"]), (&false.into(), &true.into()));
    assert_eq!(status["store"]["max_bytes"], 1_048_576);
    let said = scene.ok(&["status"]);
    assert!(said.contains("is not protected: the last snapshot did not fit"), "{said}");
    scene.ok(&["config", "set", "retention.bytes", "1 GiB"]);
    assert_eq!(scene.json(&["status"])["protected"], true, "there is room again");
    scene.ok(&["snapshot"]);
    assert_eq!(scene.json(&["status"])["full"], false);
}

#[test]
fn a_history_that_takes_more_than_it_may_and_of_which_nothing_can_go_is_full() {
    let scene = Scene::new();
    scene.write("file", noise(1, 300_000));
    scene.ok(&["snapshot", "--tag", "kept"]);
    assert_eq!(scene.json(&["status"])["full"], false);
    scene.ok(&["config", "set", "retention.bytes", "100 KiB"]);
    assert_eq!(scene.json(&["status"])["protected"], false, "no snapshot was tried yet");
    assert_eq!(scene.fails(&["snapshot"]).0, 16);
}

#[test]
fn what_can_go_leaves_room() {
    let scene = Scene::new();
    for number in 1..=3 {
        scene.write("file", noise(number, 100_000));
        scene.ok(&["snapshot"]);
    }
    scene.ok(&["config", "set", "retention.bytes", "250 KiB"]);
    assert_eq!(scene.json(&["status"])["protected"], true);
    scene.ok(&["snapshot"]);
}

/// Once, it was said when nine tenths were taken, and only by who took a snapshot.
#[test]
fn a_person_is_warned_when_four_fifths_are_taken() {
    let scene = Scene::new();
    scene.write("file", noise(1, 300_000));
    scene.ok(&["snapshot", "--tag", "one"]);
    for (most, is_said) in [("400 KiB", false), ("350 KiB", true)] {
        scene.ok(&["config", "set", "retention.bytes", most]);
        for command in [&["status"][..], &["snapshot"]] {
            let said = stderr(&scene.run(command));
            let expected = format!(" KiB of {}.0 KiB; see", &most[..3]);
            assert_eq!(said.contains(&expected), is_said, "{command:?}: {said}");
        }
    }
}

fn content(scene: &Scene) -> Vec<u8> {
    fs::read(scene.project("file")).unwrap()
}

/// Once, it first pruned what undo needs, and then nothing was left to undo.
#[test]
fn a_snapshot_that_does_not_fit_takes_nothing_with_it() {
    let scene = Scene::new();
    scene.write("file", noise(1, 200_000));
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.write("file", noise(2, 200_000));
    scene.ok(&["restore", "one"]);
    scene.ok(&["config", "set", "retention.bytes", "600 KiB"]);
    // Each is small enough for the quota, and both are not.
    scene.write("file", noise(3, 400_000));
    scene.write("other", noise(4, 400_000));
    let before = (scene.ids(), scene.ok(&["op", "log"]));
    let (code, said) = scene.fails(&["snapshot"]);
    assert_eq!(code, 16, "{said}");
    assert!(!said.contains("pruned"), "{said}");
    assert_eq!((scene.ids(), scene.ok(&["op", "log"])), before);
    let status = scene.ok(&["status"]);
    assert!(status.contains("the last snapshot did not fit: the history takes"), "{status}");
    scene.write("file", noise(1, 200_000));
    fs::remove_file(scene.project("other")).unwrap();
    scene.ok(&["undo"]);
    assert!(content(&scene) == noise(2, 200_000));
}

/// Once, seven restores made a history of 13.5 MiB where 5 MiB were allowed.
#[test]
fn restores_keep_to_the_quota_and_the_last_one_can_be_undone() {
    let scene = Scene::new();
    scene.write("file", noise(1, 150_000));
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.ok(&["config", "set", "retention.bytes", "1 MiB"]);
    for number in 2..=9 {
        scene.write("file", noise(number, 150_000));
        scene.ok(&["restore", "one"]);
        let bytes = scene.json(&["status"])["store"]["bytes"].as_u64().unwrap();
        assert!(bytes <= 1_048_576, "{bytes} after {number}");
    }
    scene.ok(&["undo"]);
    assert!(content(&scene) == noise(9, 150_000));

    let large = noise(10, 800_000);
    scene.write("file", &large);
    scene.write("other", noise(11, 800_000));
    let (code, said) = scene.fails(&["restore", "one"]);
    assert_eq!(code, 16, "{said}");
    assert!(content(&scene) == large, "nothing changed");
}

/// Once, it was said to be protected, and the next snapshot was refused.
#[test]
fn protected_means_that_the_next_snapshot_can_be_taken() {
    let scene = Scene::new();
    scene.write("file", noise(1, 600_000));
    scene.ok(&["snapshot"]);
    scene.ok(&["config", "set", "retention.bytes", "1 MiB"]);
    assert_eq!(scene.json(&["status"])["protected"], true);
    scene.write("file", noise(2, 600_000));
    assert_eq!(scene.json(&["status"])["protected"], false);
    let status = scene.ok(&["status"]);
    assert!(status.contains("is not protected: the next snapshot may not fit"), "{status}");
    assert_eq!(scene.fails(&["snapshot"]).0, 16);
    let workspaces = scene.json(&["workspaces"]);
    assert_eq!(workspaces["workspaces"][0]["protected"], true, "its last snapshot is whole");
    scene.ok(&["config", "set", "retention.bytes", "100 KiB"]);
    let workspaces = scene.json(&["workspaces"]);
    assert_eq!(workspaces["workspaces"][0]["protected"], false);
}

/// Once, every automatic snapshot read such a file again, and then failed.
#[test]
fn a_file_that_can_never_fit_is_named_and_not_read() {
    let scene = Scene::new();
    scene.write("small", "1");
    fs::File::create(scene.project("huge")).unwrap().set_len(1 << 40).unwrap();
    let taken = scene.run(&["snapshot", "--json"]);
    let said = stdout(&taken);
    assert_eq!(taken.status.code(), Some(3), "{said}{}", stderr(&taken));
    assert!(said.contains("it is larger than the whole history may be"), "{said}");
    scene.write("small", "2");
    let restored = scene.run(&["restore", "@-"]);
    assert_eq!(restored.status.code(), Some(3), "{}", stderr(&restored));
    assert_eq!(scene.read("small"), "1");
    assert_eq!(fs::metadata(scene.project("huge")).unwrap().len(), 1 << 40);
}
