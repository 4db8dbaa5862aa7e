//! Several processes at once.

use std::fs::File;
use std::thread;
use std::time::Duration;

use crate::cli::scene::{Scene, stderr, stdout};

const ROUNDS: usize = 12;

/// Takes a snapshot, and tries again where another process was faster, which is no loss.
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
fn of_several_that_make_a_workspace_one_does_and_the_others_say_that_it_is_one() {
    let scene = Scene::empty();
    let made: usize = thread::scope(|scope| {
        let init = || scope.spawn(|| scene.run(&["init"]));
        let all: Vec<_> = (0..4).map(|_| init()).collect();
        let outputs = all.into_iter().map(|it| it.join().unwrap());
        let is_made = |output: std::process::Output| {
            // One that began when there was none yet, and ended when there was, is refused.
            let said = stdout(&output) + &stderr(&output);
            assert!(output.status.success() || said.contains("is already a workspace"), "{said}");
            usize::from(!said.contains("is already a workspace"))
        };
        outputs.map(is_made).sum()
    });
    assert_eq!(made, 1);
    assert_eq!(std::fs::read_dir(scene.path("data/wink")).unwrap().count(), 1);
    scene.ok(&["snapshot"]);
}

/// Holds a lock of a workspace as another process does.
fn hold(scene: &Scene, name: &str) -> File {
    let lock = File::create(scene.history().join(name)).unwrap();
    lock.lock().unwrap();
    lock
}

/// Once, of two that changed settings at the same time one lost what the other had set, such as a secret's exclusion.
#[test]
fn no_setting_is_lost_when_another_process_sets_one() {
    let commands: [(&[&str], &[&str]); 3] = [
        (&["config", "add", "exclude", "mine"], &["mine", "secret"]),
        (&["config", "set", "retention.count", "7"], &["\"7\"", "secret"]),
        (&["prune", "--path", "mine", "--yes"], &["mine", "secret"]),
    ];
    for (args, expected) in commands {
        let scene = Scene::new();
        let file = scene.history().join("workspace.json");
        let before = std::fs::read_to_string(&file).unwrap();
        let held = hold(&scene, "settings.lock");
        thread::scope(|scope| {
            let other = scope.spawn(|| scene.ok(args));
            thread::sleep(Duration::from_millis(300));
            assert!(!other.is_finished(), "{args:?} waits");
            let after = before.replace("\"exclude\": []", "\"exclude\": [\"secret\"]");
            assert_ne!(before, after);
            std::fs::write(&file, after).unwrap();
            drop(held);
        });
        let settings = std::fs::read_to_string(&file).unwrap();
        assert!(expected.iter().all(|it| settings.contains(it)), "{args:?}: {settings}");
    }
}

#[test]
fn a_fork_excludes_what_was_excluded_while_it_was_made() {
    let scene = Scene::new();
    let file = scene.history().join("workspace.json");
    let held = hold(&scene, "settings.lock");
    thread::scope(|scope| {
        let forked = scope.spawn(|| scene.ok(&["fork", "attempt"]));
        while !file.with_file_name("branches/attempt").exists() {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!forked.is_finished());
        let settings = std::fs::read_to_string(&file).unwrap();
        let settings = settings.replace("\"exclude\": []", "\"exclude\": [\"secret\"]");
        std::fs::write(&file, settings).unwrap();
        drop(held);
    });
    let excluded = scene.ok(&["-C", "../project-attempt", "config", "get", "exclude"]);
    assert_eq!(excluded, "secret\n");
}

/// Once, it was waited for without an end.
#[test]
fn waiting_for_a_lock_that_is_never_released_has_an_end() {
    let scene = Scene::new();
    scene.ok(&["snapshot"]);
    let held = [hold(&scene, "names.lock"), hold(&scene, "settings.lock")];
    thread::scope(|scope| {
        for args in [&["tag", "one"][..], &["config", "set", "retention.count", "7"]] {
            scope.spawn(|| {
                let (code, said) = scene.fails(args);
                assert_eq!(code, 11, "{said}");
                assert!(
                    said.contains("cause: it holds") && said.contains("help: try again"),
                    "{said}"
                );
            });
        }
    });
    drop(held);
    scene.ok(&["tag", "one"]);
}

/// Once, a tag could be given at the same time as a fork its name, and named neither then.
#[test]
fn a_tag_that_became_a_fork_meanwhile_is_taken_away_again() {
    let scene = Scene::new();
    scene.ok(&["fork", "attempt", "-q"]);
    let settings = scene.fork_settings("attempt").join("workspace.json");
    let history = settings.parent().and_then(|it| it.parent()?.parent()).unwrap().to_owned();
    let held = File::create(history.join("names.lock")).unwrap();
    held.lock().unwrap();
    let before = scene.ids().len();
    thread::scope(|scope| {
        let tagged = scope.spawn(|| scene.fails(&["snapshot", "--tag", "idea"]));
        while scene.ids().len() == before {
            thread::sleep(Duration::from_millis(5));
        }
        let text = std::fs::read_to_string(&settings).unwrap();
        std::fs::write(&settings, text.replace("\"attempt\"", "\"idea\"")).unwrap();
        drop(held);
        let (code, said) = tagged.join().unwrap();
        assert_eq!(code, 1);
        assert!(said.contains("`idea` is the fork in"), "{said}");
    });
    assert_eq!(scene.json(&["log"])["snapshots"][0]["tag"], serde_json::Value::Null);
    scene.ok(&["show", "idea"]);
}
