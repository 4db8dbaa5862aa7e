//! `wink status`.

use crate::cli::scene::Scene;

/// Once, it only counted them.
#[test]
fn status_lists_what_changed() {
    let scene = Scene::new();
    scene.write("gone", "1");
    scene.write("kept", "1");
    scene.ok(&["snapshot"]);
    std::fs::remove_file(scene.project("gone")).unwrap();
    scene.write("kept", "2");
    scene.write("new", "1");
    let text = scene.ok(&["status"]);
    let listed: Vec<_> =
        text.lines().map(str::trim).filter(|it| it.get(1..2) == Some(" ")).collect();
    assert_eq!(listed, ["D gone", "M kept", "A new"], "{text}");
    let status = scene.json(&["status"]);
    let paths: Vec<_> =
        status["entries"].as_array().unwrap().iter().map(|it| &it["path"]).collect();
    assert_eq!(paths, ["gone", "kept", "new"]);
    (0..30).for_each(|number| scene.write(&format!("many/{number}"), ""));
    let text = scene.ok(&["status"]);
    let more = scene.json(&["status"])["entries"].as_array().unwrap().len() - 20;
    assert!(text.contains(&format!("and {more} more: `wink diff --name-status`")), "{text}");
}
