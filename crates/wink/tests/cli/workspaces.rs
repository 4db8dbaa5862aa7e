//! `wink workspaces`.

use std::path::Path;

use crate::cli::scene::{Scene, stdout};

fn in_directory(scene: &Scene, directory: &Path, args: &[&str]) {
    let output = scene.wink_in(directory, args).output().unwrap();
    assert!(output.status.success(), "{args:?}");
}

/// A protected project with a fork; a directory without a snapshot, its history elsewhere; a directory that is gone.
fn three() -> Scene {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.ok(&["snapshot", "--tag", "first"]);
    scene.ok(&["fork", "attempt", "first", "-q"]);
    for name in ["empty", "gone"] {
        std::fs::create_dir(scene.path(name)).unwrap();
    }
    in_directory(&scene, &scene.path("empty"), &["init", "-q", "--store", "../elsewhere"]);
    in_directory(&scene, &scene.path("gone"), &["init", "-q"]);
    in_directory(&scene, &scene.path("gone"), &["snapshot", "-q"]);
    std::fs::remove_dir(scene.path("gone")).unwrap();
    scene
}

/// Once, nothing listed them: a history without its directory was found only by its new one.
#[test]
fn every_history_is_listed_with_whether_it_protects() {
    let scene = three();
    let listed = scene.json(&["workspaces"]);
    assert_eq!(listed["schema"], "wink/workspaces@1");
    let all = listed["workspaces"].as_array().unwrap();
    let shown: Vec<_> = all
        .iter()
        .map(|it| (it["root"].as_str().unwrap(), it["protected"].as_bool().unwrap()))
        .collect();
    let [empty, gone, project] = ["empty", "gone", "project"].map(|it| scene.path(it));
    let [empty, gone, project] = [&empty, &gone, &project].map(|it| it.to_str().unwrap());
    assert_eq!(shown, [(empty, false), (gone, false), (project, true)]);
    assert_eq!(all[0]["history"], scene.path("elsewhere").to_str().unwrap());
    assert_eq!((&all[2]["forks"], &all[2]["snapshots"]), (&1.into(), &1.into()));
    let nowhere = scene.wink_in(&scene.path("home"), &["workspaces"]).output().unwrap();
    let text = stdout(&nowhere);
    assert!(
        text.contains(&format!("{gone} is not protected: its directory is missing.")),
        "{text}"
    );
    assert!(text.contains(&format!("{empty} is not protected: it has no snapshot.")), "{text}");
    assert!(text.contains(&format!("{project} is protected.")), "{text}");
}

#[test]
fn a_history_is_forgotten_with_its_name_and_only_if_that_is_confirmed() {
    let scene = three();
    let (_, said) = scene.fails(&["workspaces", "forget", "."]);
    assert!(
        said.contains("with 1 snapshot (") && said.contains("and 1 fork, permanently?"),
        "{said}"
    );
    scene.ok(&["status"]);
    let (_, said) = scene.fails(&["workspaces", "forget", "../gone"]);
    assert!(said.contains("is all that is left of it"), "{said}");
    for name in [".", "../gone", "../elsewhere"] {
        let forgotten = scene.json(&["workspaces", "forget", name, "--yes"]);
        assert_eq!(forgotten["schema"], "wink/workspaces.forget@1");
    }
    assert_eq!(scene.json(&["workspaces"])["workspaces"], serde_json::json!([]));
    assert_eq!(std::fs::read_dir(scene.path("data/wink")).unwrap().count(), 0);
    assert!(!scene.path("elsewhere").exists() && scene.read("a") == "1");
    assert_eq!(scene.fails(&["status"]).0, 10);
    assert_eq!(scene.fails(&["workspaces", "forget", "."]).0, 10);
    scene.ok(&["init", "-q"]);
}
