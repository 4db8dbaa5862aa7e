//! The space that a history may take, and what is said when it is used up.

use crate::cli::scene::{Scene, stderr};

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
    assert!(said.contains("is not protected: its history has reached its quota"), "{said}");
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
