//! Several processes at once.

use std::thread;

use crate::scene::{Scene, stderr};

const ROUNDS: usize = 12;

/// Takes a snapshot; being told that somebody else was faster is no loss.
fn snapshot(scene: &Scene, tag: &str) {
    loop {
        let output = scene.run(&["snapshot", "--tag", tag]);
        match output.status.code() {
            Some(0) => return,
            Some(11 | 13) => {}
            _ => panic!("{tag}: {}", stderr(&output)),
        }
    }
}

#[test]
fn two_processes_that_write_and_take_snapshots_lose_nothing() {
    let scene = Scene::new();
    let work = |who: &str| {
        for round in 0..ROUNDS {
            let name = format!("{who}-{round}");
            scene.write(&name, &name);
            snapshot(&scene, &name);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| work("a"));
        work("b");
    });
    assert_eq!(scene.ids().len(), 2 * ROUNDS);
    for who in ["a", "b"] {
        for round in 0..ROUNDS {
            let name = format!("{who}-{round}");
            // What a snapshot was taken of is in it: nothing of it is missing there.
            let missing = scene.ok(&["diff", &name, "@", "--name-status", "--", &name]);
            assert_eq!(missing, "");
        }
    }
    scene.ok(&["verify", "--data"]);
}

#[test]
fn of_several_that_make_a_workspace_one_does() {
    let scene = Scene::empty();
    let made: usize = thread::scope(|scope| {
        let init = || scope.spawn(|| scene.run(&["init"]));
        let all: Vec<_> = (0..4).map(|_| init()).collect();
        let outputs = all.into_iter().map(|it| it.join().unwrap());
        let is_made = |output: std::process::Output| {
            let made = output.status.success();
            assert!(made || stderr(&output).contains("is a workspace already"));
            usize::from(made)
        };
        outputs.map(is_made).sum()
    });
    assert_eq!(made, 1);
    assert_eq!(std::fs::read_dir(scene.path("data/wink")).unwrap().count(), 1);
    scene.ok(&["snapshot"]);
}
