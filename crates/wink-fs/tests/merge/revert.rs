//! Taking one step out.

use wink_fs::ConflictKind::Lines;
use wink_fs::StateRef;

use crate::merge::scene::{Scene, conflicts, lines, texts, write};

#[test]
fn one_step_goes_and_what_came_after_it_stays() {
    for scene in Scene::both() {
        let files = &scene.files;
        write(files, &[("kept", Some("1\n2\n3\n")), ("deleted", Some("d"))]);
        let a = files.snapshot("a").unwrap();
        write(files, &[("kept", Some("one\n2\n3\n")), ("deleted", None), ("wrong", Some("w"))]);
        let b = files.snapshot("b").unwrap();
        write(files, &[("kept", Some("one\n2\nthree\n")), ("later", Some("l"))]);
        let before = lines(files);

        assert!(files.revert(&a, &b).unwrap().applied);
        let now = texts(files);
        assert_eq!(now.keys().collect::<Vec<_>>(), ["deleted", "kept", "later"]);
        assert_eq!(now["kept"], "1\n2\nthree\n");
        files.undo().unwrap();
        assert_eq!(lines(files), before);
    }
}

#[test]
fn a_step_that_was_built_upon_is_a_conflict() {
    for scene in Scene::both() {
        let files = &scene.files;
        write(files, &[("a", Some("1\n"))]);
        let a = files.snapshot("a").unwrap();
        write(files, &[("a", Some("2\n"))]);
        let b = files.snapshot("b").unwrap();
        write(files, &[("a", Some("3\n"))]);
        let reverted = files.revert(&a, &b).unwrap();
        assert_eq!(conflicts(&reverted), [("a".into(), Lines)]);
        assert_eq!(files.read("a").unwrap().content, "3\n");
    }
}

#[test]
fn what_was_done_since_a_snapshot_can_be_taken_out() {
    for scene in Scene::both() {
        write(&scene.files, &[("a", Some("1"))]);
        let a = scene.files.snapshot("a").unwrap();
        write(&scene.files, &[("a", Some("2")), ("b", Some(""))]);
        scene.files.revert(&a, StateRef::Live).unwrap();
        assert_eq!(texts(&scene.files).into_iter().collect::<Vec<_>>(), [("a".into(), "1".into())]);
    }
}
