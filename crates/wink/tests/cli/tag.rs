//! `wink tag`.

use crate::cli::scene::{Scene, stderr};

/// Once, only a person who remembered which snapshot it had could bring an old tag back.
#[test]
fn the_note_of_a_tag_brings_the_old_tag_back() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.ok(&["snapshot", "--tag", "first"]);
    scene.write("a", "2");
    scene.ok(&["snapshot"]);
    let tags = || {
        let log = scene.json(&["log"]);
        let all = log["snapshots"].as_array().unwrap();
        all.iter().map(|it| it["tag"].clone()).collect::<Vec<_>>()
    };
    let commands = [&["tag", "better", "@-2"][..], &["tag", "last"], &["tag", "--delete", "first"]];
    for args in commands {
        let before = tags();
        let tagged = scene.run(args);
        assert_ne!(tags(), before, "{args:?}");
        let said = stderr(&tagged);
        let undo = said.trim().strip_prefix("undo: wink ").unwrap_or_else(|| panic!("{said}"));
        scene.ok(&undo.split(' ').collect::<Vec<_>>());
        assert_eq!(tags(), before, "{args:?}: {undo}");
    }
}
