//! What others changed is told when it is replaced.

use std::fs;

use wink_fs::{RestoreOptions, Workspace};

use crate::history::scene::Scene;

/// Returns what a restore would replace of what others did.
fn outside(files: &Workspace, tag: &str) -> Vec<String> {
    let options = RestoreOptions::default().dry_run(true).report_external(true);
    let receipt = files.restore_with(tag, &options).unwrap();
    receipt.changed_outside.iter().map(ToString::to_string).collect()
}

#[test]
fn what_calls_changed_is_not_outside_and_what_others_changed_is() {
    let scene = Scene::host();
    let (files, root) = (&scene.files, scene.path("root"));
    for name in ["a", "b", "c", "d", "moved"] {
        files.write(name, "before").unwrap();
    }
    files.snapshot("before").unwrap();
    files.write("a", "by a call").unwrap();
    files.write("made/one", "by a call").unwrap();
    files.write("made/two", "by a call").unwrap();
    files.delete("d").unwrap();
    files.rename("moved", "elsewhere").unwrap();
    assert_eq!(outside(files, "before"), [""; 0]);

    fs::write(root.join("b"), "by another program").unwrap();
    fs::remove_file(root.join("c")).unwrap();
    fs::write(root.join("made/three"), "by another program").unwrap();
    fs::write(root.join("made/two"), "by another program").unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    assert_eq!(outside(files, "before"), ["b", "c", "empty", "made/three", "made/two"]);

    fs::write(root.join("a"), "on top of the call's").unwrap();
    fs::write(root.join("d"), "again").unwrap();
    assert_eq!(outside(files, "before")[..2], ["a", "b"]);
    assert!(outside(files, "before").contains(&"d".to_owned()));
}

#[test]
fn what_a_snapshot_holds_and_what_is_not_replaced_is_not_told() {
    let scene = Scene::host();
    let (files, root) = (&scene.files, scene.path("root"));
    files.write("a", "1").unwrap();
    files.write("b", "1").unwrap();
    files.snapshot("first").unwrap();
    fs::write(root.join("a"), "by another program").unwrap();
    files.snapshot("second").unwrap();
    fs::write(root.join("b"), "by another program").unwrap();
    assert_eq!(outside(files, "first"), ["b"]);
    let options = RestoreOptions::default().path(files.path("a").unwrap()).report_external(true);
    assert_eq!(files.restore_with("first", &options).unwrap().changed_outside, []);
    // What a restore left is its own.
    assert_eq!(outside(files, "second"), ["b"]);
    let quiet = files.restore("second").unwrap();
    assert_eq!((quiet.written, quiet.changed_outside), (2, Vec::new()));
}

#[test]
fn where_operations_are_forgotten_nothing_is_claimed() {
    let scene = Scene::host();
    let files = &scene.files;
    files.snapshot("before").unwrap();
    (0..260).for_each(|number| drop(files.write(&format!("f{number}"), "by a call").unwrap()));
    assert_eq!(outside(files, "before"), [""; 0]);
}
