//! `wink status`.

use crate::cli::scene::{Scene, stderr};

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

/// Once, `status` said "protected" and `restore` said nothing.
#[test]
fn a_git_directory_that_went_missing_is_reported() {
    let scene = Scene::empty();
    scene.write(".git/HEAD", "ref: refs/heads/main\n");
    scene.write(".git/refs/heads/main", format!("{}\n", "a".repeat(40)));
    scene.write("a", "1");
    scene.ok(&["init"]);
    scene.ok(&["snapshot"]);
    let forked = scene.run(&["fork", "attempt"]);
    assert!(stderr(&forked).contains("the fork is no git repository"), "{}", stderr(&forked));
    std::fs::remove_dir_all(scene.project(".git")).unwrap();
    scene.write("a", "2");
    let status = scene.ok(&["status"]);
    assert!(status.contains(".git is missing, which was there at the last snapshot"), "{status}");
    assert_eq!(scene.json(&["status"])["git_head"]["missing"], true);
    let restored = scene.run(&["restore", "@-"]);
    let said = stderr(&restored);
    assert!(said.contains("warning: .git is missing and was not restored"), "{said}");
}
