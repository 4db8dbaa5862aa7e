//! What both sides changed.

use wink_fs::ConflictKind::{Binary, DeletedByThem, DeletedByUs, Kind, Lines, Mode, Moved};
use wink_fs::{FileMode, MergeOptions, OnConflict, Workspace};

use crate::merge::scene::{Scene, conflicts, favouring, lines, texts, write};

type Contents<'a> = &'a [(&'a str, Option<&'a str>)];

/// Makes both sides of a base, and merges them in every way.
struct Case {
    scene: Scene,
    fork: Workspace,
}

impl Case {
    fn new(scene: Scene, base: Contents<'_>, ours: Contents<'_>, theirs: Contents<'_>) -> Self {
        write(&scene.files, base);
        let fork = scene.fork();
        write(&scene.files, ours);
        write(&fork, theirs);
        Self { scene, fork }
    }

    /// Merges, which must not be in conflict, and returns all texts.
    fn clean(&self) -> Vec<(String, String)> {
        let merged = self.scene.files.merge(&self.fork).unwrap();
        assert_eq!(conflicts(&merged), []);
        assert!(merged.applied);
        texts(&self.scene.files).into_iter().collect()
    }

    /// Merges, which must change nothing, and returns the conflicts.
    fn conflicts(&self) -> Vec<(String, wink_fs::ConflictKind)> {
        let before = lines(&self.scene.files);
        let merged = self.scene.files.merge(&self.fork).unwrap();
        assert!(!merged.applied && merged.saved.is_none());
        assert_eq!(lines(&self.scene.files), before, "nothing is written");
        conflicts(&merged)
    }
}

fn each(base: Contents<'_>, ours: Contents<'_>, theirs: Contents<'_>, check: impl Fn(&Case)) {
    for scene in Scene::both() {
        check(&Case::new(scene, base, ours, theirs));
    }
}

fn owned(texts: Contents<'_>) -> Vec<(String, String)> {
    texts
        .iter()
        .filter_map(|(path, text)| Some((path.to_string(), text.as_ref()?.to_string())))
        .collect()
}

#[test]
fn changes_to_different_files_and_lines_are_both_there() {
    let base = &[("a", Some("1\n2\n3\n")), ("b", Some("b")), ("gone", Some("x"))];
    let ours = &[("a", Some("one\n2\n3\n")), ("ours", Some("o"))];
    let theirs =
        &[("a", Some("1\n2\nthree\n")), ("b", Some("B")), ("gone", None), ("d/t", Some("t"))];
    each(base, ours, theirs, |case| {
        let expected = [
            ("a", Some("one\n2\nthree\n")),
            ("b", Some("B")),
            ("d/t", Some("t")),
            ("ours", Some("o")),
        ];
        assert_eq!(case.clean(), owned(&expected));
        let files = &case.scene.files;
        files.undo().unwrap();
        assert_eq!(files.read("a").unwrap().content, "one\n2\n3\n");
        assert!(files.exists("gone") && !files.exists("d"));
    });
}

#[test]
fn the_same_change_on_both_sides_is_no_conflict() {
    let change = &[("a", Some("2")), ("b", None), ("new", Some("n"))];
    each(&[("a", Some("1")), ("b", Some("b"))], change, change, |case| {
        assert_eq!(case.clean(), owned(&[("a", Some("2")), ("new", Some("n"))]));
    });
}

#[test]
fn lines_that_both_changed_are_a_conflict() {
    let (base, ours, theirs) = ("1\n2\n3\n", "1\nours\n3\n", "1\ntheirs\n3\n4\n");
    each(&[("a", Some(base))], &[("a", Some(ours))], &[("a", Some(theirs))], |case| {
        assert_eq!(case.conflicts(), [("a".into(), Lines)]);
        let files = &case.scene.files;
        let with = |on_conflict| {
            let merged = files.merge_with(&case.fork, &favouring(on_conflict)).unwrap();
            assert_eq!(conflicts(&merged), [("a".into(), Lines)]);
            let text = files.read("a").unwrap().content;
            if merged.applied && !merged.changes.is_empty() {
                files.undo().unwrap();
            }
            text
        };
        assert_eq!(with(OnConflict::Ours), "1\nours\n3\n4\n");
        assert_eq!(with(OnConflict::Theirs), theirs);
        let marked = "1\n<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> theirs\n3\n4\n";
        assert_eq!(with(OnConflict::Markers), marked);
    });
}

#[test]
fn a_dry_run_tells_and_changes_nothing() {
    each(&[("a", Some("1"))], &[], &[("a", Some("2")), ("b", Some(""))], |case| {
        let before = lines(&case.scene.files);
        let dry = MergeOptions::default().dry_run(true);
        let merged = case.scene.files.merge_with(&case.fork, &dry).unwrap();
        assert_eq!((merged.applied, merged.changes.len()), (false, 2));
        assert_eq!(lines(&case.scene.files), before);
    });
}

#[test]
fn delete_against_edit_is_a_conflict_both_ways() {
    let (edit, delete) = (&[("a", Some("2"))], &[("a", None)]);
    each(&[("a", Some("1"))], edit, delete, |case| {
        assert_eq!(case.conflicts(), [("a".into(), DeletedByThem)]);
        let theirs = favouring(OnConflict::Theirs);
        assert!(case.scene.files.merge_with(&case.fork, &theirs).unwrap().applied);
        assert!(!case.scene.files.exists("a"));
    });
    each(&[("a", Some("1"))], delete, edit, |case| {
        assert_eq!(case.conflicts(), [("a".into(), DeletedByUs)]);
        case.scene.files.merge_with(&case.fork, &favouring(OnConflict::Theirs)).unwrap();
        assert_eq!(case.scene.files.read("a").unwrap().content, "2");
    });
}

#[test]
fn a_merge_in_favour_of_what_is_there_already_is_done_although_nothing_changes() {
    let (edit, delete) = (&[("a", Some("2"))], &[("a", None)]);
    each(&[("a", Some("1"))], edit, delete, |case| {
        let merged = case.scene.files.merge_with(&case.fork, &favouring(OnConflict::Ours)).unwrap();
        assert!(merged.applied && merged.changes.is_empty());
        assert_eq!(case.scene.files.read("a").unwrap().content, "2");
    });
}

#[test]
fn a_deleted_directory_goes_unless_something_of_ours_is_in_it() {
    let base = &[("d/a", Some("1")), ("d/e/b", Some("2")), ("f/c", Some("3"))];
    each(base, &[("d/e/new", Some("n"))], &[("d", None), ("f", None)], |case| {
        assert_eq!(case.clean(), owned(&[("d/e/new", Some("n"))]));
        assert!(!case.scene.files.exists("f"));
    });
    each(base, &[("d/a", Some("changed"))], &[("d", None)], |case| {
        assert_eq!(case.conflicts(), [("d/a".into(), DeletedByThem)]);
    });
    each(base, &[("d", None)], &[("d/new", Some("n"))], |case| {
        let expected = [("d/new", Some("n")), ("f/c", Some("3"))];
        assert_eq!(case.clean(), owned(&expected));
    });
}

#[test]
fn binary_files_are_not_merged_by_lines() {
    let base = &[("a", Some("\0 1\n2\n3\n"))];
    each(base, &[("a", Some("\0 one\n2\n3\n"))], &[("a", Some("\0 1\n2\nthree\n"))], |case| {
        assert_eq!(case.conflicts(), [("a".into(), Binary)]);
        case.scene.files.merge_with(&case.fork, &favouring(OnConflict::Markers)).unwrap();
        assert_eq!(case.scene.files.read_bytes("a").unwrap().content, "\0 one\n2\n3\n");
    });
}

/// Once, a merge with markers took nothing of what it could not mark, and recorded the fork as merged.
#[test]
fn what_markers_cannot_mark_is_left_to_merge() {
    let base = &[("bin", Some("\0 1")), ("edited", Some("1")), ("gone", Some("1"))];
    let ours = &[("bin", Some("\0 2")), ("edited", Some("2")), ("gone", None)];
    let theirs = &[("bin", Some("\0 3")), ("edited", None), ("gone", Some("3"))];
    let all =
        [("bin".into(), Binary), ("edited".into(), DeletedByThem), ("gone".into(), DeletedByUs)];
    let markers = favouring(OnConflict::Markers);
    each(base, ours, theirs, |case| {
        let files = &case.scene.files;
        let merged = files.merge_with(&case.fork, &markers).unwrap();
        assert!(!merged.applied && !merged.is_to_be_remembered());
        assert_eq!(merged.unresolved().count(), 3);
        assert_eq!(case.conflicts(), all);

        write(&case.fork, &[("new", Some("n")), ("text", Some("theirs\n"))]);
        write(files, &[("text", Some("ours\n"))]);
        let merged = files.merge_with(&case.fork, &markers).unwrap();
        assert!(merged.applied && files.exists("new"));
        let left: Vec<_> = merged.unresolved().map(|it| (it.path.to_string(), it.kind)).collect();
        assert_eq!(left, all);
        assert!(files.read("text").unwrap().content.contains("======="));

        write(files, &[("text", Some("resolved\n"))]);
        assert_eq!(case.conflicts(), all, "the rest is merged");
        let merged = files.merge_with(&case.fork, &favouring(OnConflict::Theirs)).unwrap();
        assert_eq!(merged.changes.len(), 3);
        let expected = [
            ("bin", Some("\0 3")),
            ("gone", Some("3")),
            ("new", Some("n")),
            ("text", Some("resolved\n")),
        ];
        assert_eq!(texts(files).into_iter().collect::<Vec<_>>(), owned(&expected));
        assert!(files.merge_with(&case.fork, &MergeOptions::default()).unwrap().changes.is_empty());
    });
}

#[test]
fn permissions_and_content_are_merged_apart_from_each_other() {
    for scene in Scene::both() {
        write(&scene.files, &[("a", Some("1"))]);
        let fork = scene.fork();
        scene.files.set_mode("a", FileMode::default().executable(true)).unwrap();
        write(&fork, &[("a", Some("2"))]);
        fork.set_mode("a", FileMode::default().private(true)).unwrap();
        assert!(scene.files.merge(&fork).unwrap().applied);
        assert_eq!(scene.files.read("a").unwrap().content, "2");
        let mode = scene.files.stat("a").unwrap().mode;
        assert!(mode.executable && mode.private);
    }
}

#[test]
fn a_new_file_with_other_permissions_is_a_conflict() {
    for scene in Scene::both() {
        let fork = scene.fork();
        write(&scene.files, &[("a", Some("1"))]);
        write(&fork, &[("a", Some("1"))]);
        fork.set_mode("a", FileMode::default().executable(true)).unwrap();
        let merged = scene.files.merge(&fork).unwrap();
        assert_eq!(conflicts(&merged), [("a".into(), Mode)]);
    }
}

#[test]
fn a_file_against_a_directory_is_a_conflict() {
    each(&[], &[("a", Some("file"))], &[("a/b", Some("in a directory"))], |case| {
        assert_eq!(case.conflicts(), [("a".into(), Kind)]);
    });
    each(&[], &[("a/b", Some("in a directory"))], &[("a", Some("file"))], |case| {
        assert_eq!(case.conflicts(), [("a".into(), Kind)]);
        case.scene.files.merge_with(&case.fork, &favouring(OnConflict::Theirs)).unwrap();
        assert_eq!(
            texts(&case.scene.files).into_iter().collect::<Vec<_>>(),
            owned(&[("a", Some("file"))])
        );
    });
    let base: Contents<'_> = &[("d/x", Some("1"))];
    each(base, &[("d/y", Some("2"))], &[("d", None), ("d", Some("file"))], |case| {
        assert_eq!(case.conflicts(), [("d".into(), Kind)]);
    });
    each(base, &[], &[("d", None), ("d", Some("file"))], |case| {
        assert_eq!(case.clean(), owned(&[("d", Some("file"))]));
    });
}

#[test]
fn a_directory_that_wins_over_a_file_comes_with_all_that_is_in_it() {
    let file: Contents<'_> = &[("q", Some("file"))];
    let directory: Contents<'_> = &[("q", None), ("q/x", Some("1")), ("q/y/z", Some("2"))];
    let whole: Contents<'_> = &[("q/x", Some("1")), ("q/y/z", Some("2"))];
    let edited: Contents<'_> = &[("q", Some("edited"))];
    let replaced: Contents<'_> = &[("q", None), ("q", Some("file"))];
    let longer: Contents<'_> = &[("q/x", Some("1")), ("q/y/z", Some("2")), ("q/new", Some("3"))];
    let cases = [(&[][..], file, whole, whole), (file, edited, directory, whole)];
    for (base, ours, theirs, expected) in
        cases.into_iter().chain([(whole, replaced, longer, longer)])
    {
        each(base, ours, theirs, |case| {
            assert_eq!(case.conflicts(), [("q".into(), Kind)]);
            let favouring = favouring(OnConflict::Theirs);
            case.scene.files.merge_with(&case.fork, &favouring).unwrap();
            let expected = owned(expected).into_iter().collect();
            assert_eq!(texts(&case.scene.files), expected);
        });
    }
}

#[test]
fn links_are_data_and_never_followed() {
    for scene in Scene::both() {
        scene.files.symlink("l", b"one").unwrap();
        let fork = scene.fork();
        fork.delete("l").unwrap();
        fork.symlink("l", b"/etc/passwd").unwrap();
        fork.symlink("new", b"..").unwrap();
        assert!(scene.files.merge(&fork).unwrap().applied);
        assert_eq!(scene.files.read_link("l").unwrap(), b"/etc/passwd");
        let second = scene.fork();
        for (files, target) in [(&scene.files, b"a"), (&second, b"b")] {
            files.delete("l").unwrap();
            files.symlink("l", target).unwrap();
        }
        assert_eq!(conflicts(&scene.files.merge(&second).unwrap()), [("l".into(), Kind)]);
    }
}

#[test]
fn a_change_follows_a_file_that_the_other_side_moved() {
    let base = &[("old", Some("some content\n"))];
    for scene in Scene::both() {
        let case = Case::new(scene, base, &[], &[("old", Some("changed\n"))]);
        case.scene.files.rename("old", "new").unwrap();
        assert_eq!(case.clean(), owned(&[("new", Some("changed\n"))]));
    }
    for scene in Scene::both() {
        let case = Case::new(scene, base, &[("old", Some("changed\n"))], &[]);
        case.fork.rename("old", "zzz/new").unwrap();
        assert_eq!(case.clean(), owned(&[("zzz/new", Some("changed\n"))]));
    }
    for scene in Scene::both() {
        let case = Case::new(scene, base, &[("old", Some("changed\n"))], &[]);
        case.fork.rename("old", "before").unwrap();
        assert_eq!(case.clean(), owned(&[("before", Some("changed\n"))]));
    }
    for scene in Scene::both() {
        let case = Case::new(scene, base, &[], &[]);
        case.scene.files.rename("old", "here").unwrap();
        case.fork.rename("old", "there").unwrap();
        assert_eq!(case.conflicts(), [("old".into(), Moved)]);
    }
}

#[test]
fn the_line_endings_of_a_file_stay() {
    let (base, ours, theirs) = ("1\r\n2\r\n3\r\n", "1\r\n2\r\n3!\r\n", "1?\r\n2\r\n3\r\n");
    each(&[("a", Some(base))], &[("a", Some(ours))], &[("a", Some(theirs))], |case| {
        assert_eq!(case.clean(), owned(&[("a", Some("1?\r\n2\r\n3!\r\n"))]));
    });
}
