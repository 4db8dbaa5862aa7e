//! Taking operations back, and doing them again.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use wink_fs::{
    ContentHash, Error, ErrorKind, Exclusions, FileMode, Filesystem, HostBackend, HostOptions,
    MemoryBackend, MoveOptions, Operation, OperationCause, Recursion, Replacement, RestoreOptions,
    Result, SnapshotCause, Store, TreePath, Workspace, WriteMode, WriteOptions, ops,
};

use crate::history::scene::{Scene, lines, on_both, rewrite, ruin, varied};

on_both! {
    a_restore_can_be_undone_and_redone,
    every_kind_of_call_is_undone_and_redone,
    undo_goes_back_step_by_step_and_redo_forward,
    a_new_call_ends_what_can_be_redone,
    a_call_that_fails_halfway_is_taken_back,
    a_call_that_changes_nothing_is_no_operation,
    an_operation_knows_its_first_state_only,
    an_operation_that_writes_and_then_moves_over_it_is_undone,
    a_file_that_is_moved_over_one_of_the_same_content_leaves_that_content,
    what_moved_stays_where_its_old_place_is_taken,
    what_moved_over_another_stays_where_its_old_place_is_taken,
    what_a_program_moved_stays_where_its_old_place_is_taken,
    what_a_call_edited_goes_back_although_what_it_deleted_is_there_again,
    one_operation_is_undone_and_what_came_since_stays,
    what_was_passed_over_changed_nothing,
    what_many_paths_were_after_an_operation_is_found_in_those_that_came_next,
    a_directory_that_an_operation_made_is_known_although_some_of_it_changed_since,
    what_an_operation_changed_is_known_whatever_came_since,
    an_import_is_undone,
    the_last_snapshot_is_again_what_it_was_before_a_restore_that_is_undone,
    some_paths_of_a_snapshot_do_not_make_it_the_last_one,
    the_last_snapshot_is_that_of_the_last_restore_although_an_earlier_one_is_undone,
    the_last_ten_programs_are_undone_and_an_older_one_says_what_is_gone,
    undo_of_an_old_program_names_what_is_gone_although_some_files_changed,
    operations_that_are_not_kept_any_more_are_not_said_to_be_taken_back,
    directories_that_a_restore_made_for_some_paths_go_with_them,
    directories_that_a_revert_or_merge_made_go_with_what_is_in_them,
    a_directory_that_a_restore_made_stays_if_a_user_put_files_into_it,
}

/// A workspace with a snapshot of `d/s/f` and `d/s/g`, in which nothing is now but `a`.
fn without_directory(files: &Workspace) -> Vec<String> {
    files.write("d/s/f", "one").unwrap();
    files.write("d/s/g", "two").unwrap();
    files.write("d/h", "three").unwrap();
    files.snapshot("with").unwrap();
    files.delete_all("d").unwrap();
    files.write("a", "four").unwrap();
    files.snapshot("without").unwrap();
    lines(files)
}

/// Once, they stayed, empty, and it was said that all was as before.
fn directories_that_a_restore_made_for_some_paths_go_with_them(scene: Scene) {
    let files = &scene.files;
    let before = without_directory(files);
    for paths in [&["d/s/f"][..], &["d/s/f", "d/s/g"], &["d/s"], &["d/h", "d/s/g"]] {
        let mut options = RestoreOptions::default();
        options.paths = paths.iter().map(|it| files.path(it).unwrap()).collect();
        files.restore_with("with", &options).unwrap();
        let restored = lines(files);
        assert!(files.undo().unwrap().conflicts.is_empty());
        assert_eq!(lines(files), before, "{paths:?}");
        files.redo().unwrap();
        assert_eq!(lines(files), restored, "{paths:?}");
        files.undo().unwrap();
        assert_eq!(lines(files), before, "{paths:?}");
    }
}

fn directories_that_a_revert_or_merge_made_go_with_what_is_in_them(scene: Scene) {
    let files = &scene.files;
    let before = without_directory(files);
    files.revert("with", "without").unwrap();
    assert!(files.is_file("d/s/f"));
    files.undo().unwrap();
    assert_eq!(lines(files), before);
    let fork = files.fork("without").unwrap();
    fork.write("new/below/f", "five").unwrap();
    files.merge(&fork).unwrap();
    assert!(files.is_file("new/below/f"));
    files.undo().unwrap();
    assert_eq!(lines(files), before);
}

fn a_directory_that_a_restore_made_stays_if_a_user_put_files_into_it(scene: Scene) {
    let files = &scene.files;
    without_directory(files);
    files
        .restore_with("with", &RestoreOptions::default().path(files.path("d/s/f").unwrap()))
        .unwrap();
    files.mkdir("d/mine").unwrap();
    files.undo_operation(files.operations().unwrap().len() as u64 - 1).unwrap();
    assert!(files.is_dir("d/mine") && !files.exists("d/s"));
}

fn a_restore_can_be_undone_and_redone(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let before = lines(files);
    let snapshot = files.snapshot("before").unwrap();
    ruin(files);
    let ruined = lines(files);
    let receipt = files.restore(&snapshot).unwrap();
    let saved = files.find_snapshot(receipt.saved.unwrap()).unwrap();
    assert_eq!((saved.cause, saved.tag), (SnapshotCause::Safety, None));
    let undone = files.undo().unwrap();
    assert_eq!((undone.operation.name.as_str(), undone.conflicts.len()), ("restore", 0));
    assert_eq!(lines(files), ruined);
    files.redo().unwrap();
    assert_eq!(lines(files), before);
}

fn the_last_snapshot_is_again_what_it_was_before_a_restore_that_is_undone(scene: Scene) {
    let files = &scene.files;
    let [one, two] = ["one", "two"].map(|text| {
        files.write("a", text).unwrap();
        files.snapshot(text).unwrap().id
    });
    files.restore(one).unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(one));
    files.undo().unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(two));

    files.restore(one).unwrap();
    let three = files.snapshot("three").unwrap().id;
    files.undo().unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(three));
}

fn some_paths_of_a_snapshot_do_not_make_it_the_last_one(scene: Scene) {
    let files = &scene.files;
    files.write("a", "one").unwrap();
    files.write("b", "one").unwrap();
    let one = files.snapshot("one").unwrap().id;
    files.write("a", "two").unwrap();
    files.write("b", "two").unwrap();
    let two = files.snapshot("two").unwrap().id;
    files.restore_with(one, &RestoreOptions::default().path(files.path("a").unwrap())).unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(two));
}

fn every_kind_of_call_is_undone_and_redone(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let append = WriteOptions::default().mode(WriteMode::Append);
    let calls: [(&str, &dyn Fn() -> Result<()>); 10] = [
        ("write", &|| files.write("deep/er/new", "new").map(drop)),
        ("write", &|| files.write("a.txt", "changed").map(drop)),
        ("write", &|| files.write_with("a.txt", "more", &append).map(drop)),
        ("delete", &|| files.delete("link").map(drop)),
        ("delete", &|| files.delete_all("nested").map(drop)),
        ("mkdir", &|| files.mkdir("made/here").map(drop)),
        ("symlink", &|| files.symlink("made/link", b"x")),
        ("set mode", &|| files.set_mode("run.sh", FileMode::default().private(true))),
        ("rename", &|| files.rename("crlf", "made/crlf")),
        ("copy", &|| files.copy("made", "copied").map(drop)),
    ];
    for (name, call) in calls {
        let before = lines(files);
        call().unwrap();
        let after = lines(files);
        let undone = files.undo().unwrap();
        assert_eq!((undone.operation.name.as_str(), undone.conflicts.len()), (name, 0));
        assert_eq!(lines(files), before, "{name}");
        files.redo().unwrap();
        assert_eq!(lines(files), after, "{name}");
    }
}

fn undo_goes_back_step_by_step_and_redo_forward(scene: Scene) {
    let files = &scene.files;
    let content = || files.read("a").map_or(String::new(), |page| page.content);
    for text in ["1", "2", "3"] {
        files.write("a", text).unwrap();
    }
    for expected in ["2", "1", ""] {
        files.undo().unwrap();
        assert_eq!(content(), expected);
    }
    assert_eq!(files.undo().unwrap_err().kind(), ErrorKind::NotFound);
    for expected in ["1", "2"] {
        files.redo().unwrap();
        assert_eq!(content(), expected);
    }
    files.undo().unwrap();
    assert_eq!(content(), "1");
    files.redo().unwrap();
    files.redo().unwrap();
    assert_eq!(content(), "3");
    assert_eq!(files.redo().unwrap_err().kind(), ErrorKind::NotFound);
}

fn a_new_call_ends_what_can_be_redone(scene: Scene) {
    let files = &scene.files;
    files.write("a", "1").unwrap();
    files.write("a", "2").unwrap();
    files.undo().unwrap();
    files.write("b", "1").unwrap();
    assert_eq!(files.redo().unwrap_err().kind(), ErrorKind::NotFound);
    files.undo().unwrap();
    files.undo().unwrap();
    assert_eq!(lines(files), [""; 0]);
}

fn a_call_that_fails_halfway_is_taken_back(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let (before, operations) = (lines(files), files.operations().unwrap().len());
    let at = |text: &str| TreePath::parse(text).unwrap();
    let failed: Result<()> = files.as_agent("many steps", |fs| {
        ops::write(fs, &at("a.txt"), "changed", &WriteOptions::default())?;
        ops::write(fs, &at("new/file"), "new", &WriteOptions::default())?;
        fs.remove(&at("nested"), Recursion::Recursive)?;
        fs.set_mode(&at("run.sh"), FileMode::default())?;
        fs.remove(&at("not there"), Recursion::OnlyEmpty).map(drop)
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(lines(files), before);
    // What took it back keeps what it displaced, and is no operation that could be undone.
    let found = files.operations().unwrap();
    assert_eq!(found.len(), operations + 1);
    assert_eq!(found.last().unwrap().cause, OperationCause::Recovery);
    assert_ne!(files.undo().unwrap().operation.name, "many steps");
}

fn a_call_that_changes_nothing_is_no_operation(scene: Scene) {
    let files = &scene.files;
    files.write("a", "same").unwrap();
    files.write("a", "same").unwrap();
    assert!(files.delete("missing").is_err());
    assert!(files.mkdir("").is_ok());
    assert_eq!(files.operations().unwrap().len(), 1);
}

/// Something is made, and then removed together with what was there before.
fn an_operation_knows_its_first_state_only(scene: Scene) {
    let files = &scene.files;
    files.write("d/old", "old").unwrap();
    files.write("d/kept/x", "x").unwrap();
    let before = lines(files);
    let at = |text: &str| TreePath::parse(text).unwrap();
    files
        .as_owner("mixed", |fs| {
            ops::write(fs, &at("d/new"), "new", &WriteOptions::default())?;
            ops::write(fs, &at("d/old"), "changed", &WriteOptions::default())?;
            ops::write(fs, &at("d/old"), "changed again", &WriteOptions::default())?;
            fs.remove(&at("d"), Recursion::Recursive)?;
            ops::write(fs, &at("d"), "a file", &WriteOptions::default()).map(drop)
        })
        .unwrap();
    files.undo().unwrap();
    assert_eq!(lines(files), before);
}

/// What was written first is known by its hash, and then something else takes its place.
fn an_operation_that_writes_and_then_moves_over_it_is_undone(scene: Scene) {
    let files = &scene.files;
    files.write("a", "first").unwrap();
    files.write("d/b", "other").unwrap();
    let before = lines(files);
    let at = |text: &str| TreePath::parse(text).unwrap();
    files
        .as_owner("mixed", |fs| {
            let same = WriteOptions::default().expected(ContentHash::of(b"first"));
            ops::write(fs, &at("a"), "put", &same)?;
            fs.rename(&at("d/b"), &at("a"), Replacement::Replace)?;
            let moved = WriteOptions::default().expected(ContentHash::of(b"other"));
            ops::write(fs, &at("a"), "put again", &moved)?;
            ops::write(fs, &at("d/b"), "put", &WriteOptions::default())?;
            fs.rename(&at("a"), &at("d/b"), Replacement::Replace)
        })
        .unwrap();
    let after = lines(files);
    assert!(files.undo().unwrap().conflicts.is_empty());
    assert_eq!(lines(files), before);
    files.redo().unwrap();
    assert_eq!(lines(files), after);
}

/// What takes the place of a file has the content that the file had.
fn a_file_that_is_moved_over_one_of_the_same_content_leaves_that_content(scene: Scene) {
    let files = &scene.files;
    files.write("a", "same").unwrap();
    files.write("b", "same").unwrap();
    let at = |text: &str| TreePath::parse(text).unwrap();
    files
        .as_owner("mixed", |fs| {
            let same = WriteOptions::default().expected(ContentHash::of(b"same"));
            ops::write(fs, &at("a"), "else", &same)?;
            fs.rename(&at("b"), &at("a"), Replacement::Replace)
        })
        .unwrap();
    let last = files.operations().unwrap().pop().unwrap();
    let changed: Vec<String> = last.changes.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(changed, ["b"], "what is at `a` is what was there");
    assert!(files.undo().unwrap().conflicts.is_empty());
    assert_eq!(files.read("b").unwrap().content, "same");
}

fn what_moved_stays_where_its_old_place_is_taken(scene: Scene) {
    let files = &scene.files;
    files.write("file", "the only copy").unwrap();
    files.write("d/in", "the only copy").unwrap();
    for (from, to) in [("file", "moved"), ("d", "e")] {
        files.rename(from, to).unwrap();
        files.write(&format!("{from}/hand"), "made since").unwrap();
        let moved = lines(files);
        files.pass_over().unwrap();
        assert_eq!(files.undo().unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(lines(files), moved);
        files.pass_over().unwrap();
    }
}

fn what_moved_over_another_stays_where_its_old_place_is_taken(scene: Scene) {
    let files = &scene.files;
    files.write("file", "the only copy").unwrap();
    files.write("there", "overwritten").unwrap();
    files.rename_with("file", "there", &MoveOptions::default().replace(true)).unwrap();
    files.write("file", "made since").unwrap();
    files.pass_over().unwrap();
    assert_eq!(files.undo().unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(files.read("there").unwrap().content, "the only copy");
}

fn what_a_program_moved_stays_where_its_old_place_is_taken(scene: Scene) {
    let files = &scene.files;
    files.write("file", "the only copy").unwrap();
    files.write("other", "1").unwrap();
    let [from, to] = ["file", "moved"].map(|path| TreePath::parse(path).unwrap());
    let moved = files.as_executor("make", |place| {
        rewrite(place.files, "other", "2")?;
        rewrite(place.files, "made", "new")?;
        place.files.rename(&from, &to, Replacement::Refuse)
    });
    moved.unwrap();
    files.write("file", "made since").unwrap();
    files.pass_over().unwrap();
    let undone = files.undo().unwrap();
    let texts = |paths: &[TreePath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(texts(&undone.paths), ["made", "other"]);
    assert_eq!(texts(&undone.conflicts), ["file", "moved"]);
    assert_eq!(files.read("moved").unwrap().content, "the only copy");
}

/// Once, the file that was edited was taken for the one that was deleted, in its new place.
fn what_a_call_edited_goes_back_although_what_it_deleted_is_there_again(scene: Scene) {
    let files = &scene.files;
    files.write("a", "1").unwrap();
    files.write("b", "1").unwrap();
    let work = |fs: &mut dyn wink_fs::Filesystem| {
        fs.remove(&TreePath::parse("a")?, Recursion::Recursive)?;
        rewrite(fs, "b", "2")
    };
    let ((), made) = files.as_agent_operation("tidy", work).unwrap();
    files.write("a", "made since").unwrap();
    let undone = files.undo_operation(made.unwrap()).unwrap();
    assert_eq!(undone.paths, [files.path("b").unwrap()]);
    assert_eq!(undone.conflicts, [files.path("a").unwrap()]);
    assert_eq!(lines(files), [r#"a "made since""#, r#"b "1""#]);
}

fn one_operation_is_undone_and_what_came_since_stays(scene: Scene) {
    let files = &scene.files;
    for path in ["a", "b", "c"] {
        files.write(path, "1").unwrap();
    }
    files.write("c", "2").unwrap();
    assert_eq!(files.undo_operation(2).unwrap().operation.sequence, 2);
    assert_eq!(lines(files), [r#"a "1""#, r#"c "2""#]);
    assert_eq!(files.undo_operation(2).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(files.undo_operation(9).unwrap_err().kind(), ErrorKind::NotFound);
    // It was built upon.
    assert_eq!(files.undo_operation(3).unwrap_err().kind(), ErrorKind::Conflict);
    files.redo().unwrap();
    assert_eq!(lines(files), [r#"a "1""#, r#"b "1""#, r#"c "2""#]);
    files.undo_operation(2).unwrap();
    assert_eq!(files.undo().unwrap().operation.sequence, 4);
}

fn what_an_operation_changed_is_known_whatever_came_since(scene: Scene) {
    let files = &scene.files;
    files.write("d/a", "1\n").unwrap();
    files.write("d/a", "2\n").unwrap();
    files.rename("d", "e").unwrap();
    files.write("e/a", "3\n").unwrap();
    files.delete_all("e").unwrap();
    let changed = |number| {
        let trees = files.operation_trees(number).unwrap();
        assert!(trees.unknown.is_empty(), "{number}");
        let text = |tree: &dyn wink_fs::Tree, path: &str| {
            let content = tree.open(&TreePath::parse(path).unwrap()).ok()?;
            Some(String::from_utf8(content.read_all().unwrap().to_vec()).unwrap())
        };
        ["d/a", "e/a"].map(|path| (text(&*trees.before, path), text(&*trees.after, path)))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(changed(1)[0], (None, some("1\n")));
    assert_eq!(changed(2)[0], (some("1\n"), some("2\n")));
    assert_eq!(changed(3), [(some("2\n"), None), (None, some("2\n"))]);
    assert_eq!(changed(4)[1], (some("2\n"), some("3\n")));
    assert_eq!(changed(5)[1], (some("3\n"), None));
}

/// Once, it was no operation at all.
fn what_was_passed_over_changed_nothing(scene: Scene) {
    let files = &scene.files;
    files.write("a", "1").unwrap();
    files.pass_over().unwrap();
    let trees = files.operation_trees(2).unwrap();
    assert_eq!(trees.operation.cause, OperationCause::Undo { of: 1 });
    assert!(trees.paths.is_empty() && trees.unknown.is_empty());
    assert!(trees.before.list(&TreePath::root()).unwrap().is_empty());
    assert!(trees.after.list(&TreePath::root()).unwrap().is_empty());
}

fn what_many_paths_were_after_an_operation_is_found_in_those_that_came_next(scene: Scene) {
    let files = &scene.files;
    files.mkdir("d/c").unwrap();
    let made = files.as_agent_operation("make", |fs| {
        ["d/a", "d/b", "d/c/x", "e"].into_iter().try_for_each(|path| rewrite(fs, path, "1"))
    });
    let made = made.unwrap().1.unwrap();
    let after = lines(files);
    files.write("d/b", "2").unwrap();
    files.delete_all("d/c").unwrap();
    let both = files.as_agent_operation("write", |fs| {
        ["d/a", "e"].into_iter().try_for_each(|path| rewrite(fs, path, "2"))
    });
    let both = both.unwrap().1.unwrap();
    files.delete_all("d").unwrap();
    assert_eq!(
        wink_fs::testkit::dump(&*files.operation_trees(made).unwrap().after).unwrap(),
        after
    );
    let trees = files.operation_trees(both).unwrap();
    assert_eq!((trees.paths.len(), trees.unknown.len()), (2, 0));
    let after = wink_fs::testkit::dump(&*trees.after).unwrap();
    assert_eq!(after, ["d/", r#"d/a "2""#, r#"e "2""#]);
}

/// Once, it was said that other programs had changed it.
fn a_directory_that_an_operation_made_is_known_although_some_of_it_changed_since(scene: Scene) {
    let files = &scene.files;
    let made = files.as_agent_operation("make", |fs| {
        ["d/a", "d/b", "d/c/x", "d/c/y"].into_iter().try_for_each(|path| rewrite(fs, path, "1"))
    });
    let (made, after) = (made.unwrap().1.unwrap(), lines(files));
    let check = || {
        let trees = files.operation_trees(made).unwrap();
        assert_eq!(trees.unknown, []);
        assert_eq!(wink_fs::testkit::dump(&*trees.after).unwrap(), after);
    };
    let steps: [&dyn Fn(); 7] = [
        &|| assert!(files.write("d/b", "2").is_ok()),
        &|| assert!(files.write("d/new", "2").is_ok()),
        &|| assert!(files.delete("d/c/x").is_ok()),
        &|| files.rename("d/c", "d/e").unwrap(),
        &|| assert!(files.write("d/e/y", "2").is_ok()),
        &|| assert!(files.undo().is_ok()),
        &|| assert!(files.delete_all("d").is_ok()),
    ];
    for step in steps {
        step();
        check();
    }
}

fn an_import_is_undone(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let archive = scene.path("a.fs.zip");
    let other = Workspace::memory();
    other.write("only", "this").unwrap();
    other.export_archive(&archive).unwrap();
    let before = lines(files);
    files.import_archive(&archive).unwrap();
    assert_eq!(lines(files), [r#"only "this""#]);
    assert_eq!(files.undo().unwrap().operation.name, "import");
    assert_eq!(lines(files), before);
}

/// Undo was stuck on a snapshot that it did not name.
fn the_last_ten_programs_are_undone_and_an_older_one_says_what_is_gone(scene: Scene) {
    let files = &scene.files;
    let run =
        |text: &str| files.as_executor("make", |place| rewrite(place.files, "a", text)).unwrap();
    for round in 0..13 {
        run(&round.to_string());
    }
    for round in (2..12).rev() {
        files.undo().unwrap();
        assert_eq!(files.read("a").unwrap().content, round.to_string());
    }
    let OperationCause::Replacement { saved } = files.operations().unwrap()[2].cause else {
        panic!("a program's run keeps what was there")
    };
    let error = files.undo().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SnapshotNotFound);
    assert!(error.to_string().contains("operation 3 (make)"), "{error}");
    assert!(error.to_string().contains(&saved.short()), "{error}");
    assert_eq!(files.read("a").unwrap().content, "2", "nothing was changed");

    files.write("b", "new").unwrap();
    run("after");
    assert_eq!(files.undo().unwrap().operation.name, "make");
    assert_eq!(files.undo().unwrap().operation.name, "write");
    assert_eq!(files.undo().unwrap_err().kind(), ErrorKind::SnapshotNotFound);
}

/// Once, it said only that some snapshot was not found.
fn undo_of_an_old_program_names_what_is_gone_although_some_files_changed(scene: Scene) {
    let files = &scene.files;
    let run = |text: &str| {
        let write = |path: &str, fs: &mut dyn wink_fs::Filesystem| rewrite(fs, path, text);
        let both = |place: &mut wink_fs::ExecutionPlace<'_>| {
            write("a", place.files).and_then(|()| write(&format!("b{text}"), place.files))
        };
        files.as_executor("make", both).unwrap()
    };
    for round in 0..13 {
        run(&round.to_string());
    }
    let error = files.undo_operation(1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SnapshotNotFound);
    assert!(error.to_string().contains("operation 1 (make)"), "{error}");
}

/// Once, a call of many changes was rolled back in part, and the caller was not told.
fn operations_that_are_not_kept_any_more_are_not_said_to_be_taken_back(scene: Scene) {
    let files = &scene.files;
    let write = |number: usize| {
        let write = |fs: &mut dyn wink_fs::Filesystem| rewrite(fs, &number.to_string(), "1");
        files.as_agent_operation("write", write).unwrap().1.unwrap()
    };
    let made: Vec<u64> = (0..203).map(write).collect();
    let error = files.retract(&made).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("3 of 203 operations"), "{error}");
    assert_eq!(lines(files), [r#"0 "1""#, r#"1 "1""#, r#"2 "1""#], "the others were taken back");
}

/// Once, a snapshot became the last one that was not restored last.
fn the_last_snapshot_is_that_of_the_last_restore_although_an_earlier_one_is_undone(scene: Scene) {
    let files = &scene.files;
    files.write("a", "1").unwrap();
    let first = files.snapshot("first").unwrap();
    files.write("b", "1").unwrap();
    let second = files.snapshot("second").unwrap();
    files.write("c", "1").unwrap();
    files.snapshot("third").unwrap();
    files.restore(&second).unwrap();
    let restored = files.operations().unwrap().pop().unwrap().sequence;
    files.restore(&first).unwrap();
    files.undo_operation(restored).unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(first.id));
}

// --- only on a host ------------------------------------------------------------------------------

#[test]
fn undo_leaves_external_changes() {
    let scene = Scene::host();
    scene.files.write("a", "mine").unwrap();
    scene.files.write("a", "mine again").unwrap();
    fs::write(scene.path("root/a"), "theirs").unwrap();
    let error = scene.files.undo().unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some("a")));
    assert_eq!(scene.files.read("a").unwrap().content, "theirs");
}

#[test]
fn a_move_that_is_redone_stays_where_its_new_place_is_taken() {
    let scene = Scene::host();
    let files = &scene.files;
    files.write("file", "the only copy").unwrap();
    files.rename("file", "moved").unwrap();
    files.undo().unwrap();
    fs::write(scene.path("root/moved"), "made since").unwrap();
    assert_eq!(files.redo().unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(files.read("file").unwrap().content, "the only copy");
}

#[test]
fn a_directory_that_moved_and_was_written_into_stays() {
    let scene = Scene::host();
    let files = &scene.files;
    files.write("d/a", "1").unwrap();
    files.rename("d", "e").unwrap();
    fs::write(scene.path("root/e/a"), "written since").unwrap();
    assert_eq!(files.undo().unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(lines(files), ["e/", r#"e/a "written since""#]);
}

/// What is kept of a directory that moved are its files, into which the program wrote; once, the undo of the move
/// was refused although everything was where the move had left it.
#[test]
fn a_directory_that_moved_and_was_written_into_goes_back_after_that_was_undone() {
    let scene = Scene::host();
    let files = &scene.files;
    files.write("d/a", "1").unwrap();
    files.write("d/below/b", "1").unwrap();
    let before = lines(files);
    files.rename("d", "e").unwrap();
    let moved = lines(files);
    let made = files.as_executor("make", |_| {
        write_later(&scene, appending(&scene.path("root/e/a")));
        Ok::<_, wink_fs::Error>(())
    });
    made.unwrap();
    files.undo().unwrap();
    assert_eq!(lines(files), moved);
    files.undo().unwrap();
    assert_eq!(lines(files), before);
    files.redo().unwrap();
    assert_eq!(lines(files), moved);
}

#[test]
fn undo_of_several_paths_leaves_only_those_that_changed() {
    let scene = Scene::host();
    let files = &scene.files;
    for path in ["a", "b", "c"] {
        files.write(path, "old").unwrap();
    }
    files
        .as_agent("three", |fs| ["a", "b", "c"].iter().try_for_each(|it| rewrite(fs, it, "new")))
        .unwrap();
    fs::write(scene.path("root/b"), "theirs").unwrap();
    let undone = files.undo().unwrap();
    let text = |paths: &[TreePath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        (text(&undone.paths), text(&undone.conflicts)),
        (vec!["a".into(), "c".into()], vec!["b".into()])
    );
    let contents = ["a", "b", "c"].map(|path| files.read(path).unwrap().content);
    assert_eq!(contents, ["old", "theirs", "old"]);
}

#[test]
fn another_process_undoes_what_this_one_did() {
    let scene = Scene::host();
    scene.files.write("a", "one").unwrap();
    scene.files.write("a", "two").unwrap();
    let other = scene.open_again();
    assert_eq!(other.undo().unwrap().operation.sequence, 2);
    assert_eq!(scene.files.read("a").unwrap().content, "one");
    let causes: Vec<_> = scene.files.operations().unwrap().iter().map(|it| it.cause).collect();
    let expected = [OperationCause::Call, OperationCause::Call, OperationCause::Undo { of: 2 }];
    assert_eq!(causes, expected);
    scene.files.redo().unwrap();
    assert_eq!(other.read("a").unwrap().content, "two");
}

#[test]
fn all_two_hundred_operations_can_be_undone_and_done_again() {
    check_two_hundred(&Scene::memory(), 200);
}

/// The same on the host, where the ordinary run does some again and the long one all.
#[test]
fn all_two_hundred_operations_on_the_host_can_be_undone_and_done_again() {
    let is_long = std::env::var_os("WINK_LONG_TESTS").is_some();
    check_two_hundred(&Scene::host(), if is_long { 200 } else { 20 });
}

fn check_two_hundred(scene: &Scene, again: usize) {
    (0..210).for_each(|round| drop(scene.files.write("a", &round.to_string()).unwrap()));
    (0..200).for_each(|_| drop(scene.files.undo().unwrap()));
    assert_eq!(scene.files.read("a").unwrap().content, "9");
    assert_eq!(scene.files.undo().unwrap_err().kind(), ErrorKind::NotFound);
    (0..again).for_each(|_| drop(scene.files.redo().unwrap()));
    assert_eq!(scene.files.read("a").unwrap().content, (9 + again).to_string());
}

#[test]
fn what_was_undone_and_done_again_can_still_be_undone_after_another_call() {
    let files = Scene::memory().files;
    (0..200).for_each(|round| drop(files.write("a", &round.to_string()).unwrap()));
    (0..200).for_each(|_| drop(files.undo().unwrap()));
    (0..200).for_each(|_| drop(files.redo().unwrap()));
    files.write("a", "one more").unwrap();
    (0..200).for_each(|_| drop(files.undo().unwrap()));
    assert_eq!(files.read("a").unwrap().content, "0");
}

#[test]
fn a_restore_over_a_new_directory_with_something_excluded_is_undone() {
    let scene = Scene::host();
    let excluded = Exclusions::parse(["node_modules/"]).unwrap();
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let files = Workspace::host_builder(scene.path("root"), store).unwrap();
    let files = files.exclude(excluded).build();
    files.write("a", "one").unwrap();
    let before = files.snapshot("before").unwrap();
    files.write("pkg/src.js", "mine").unwrap();
    files.write("pkg/node_modules/d", "theirs").unwrap();
    files.restore(&before).unwrap();
    assert!(!files.exists("pkg/src.js") && files.exists("pkg/node_modules/d"));
    files.undo().unwrap();
    assert!(files.exists("pkg/src.js") && files.exists("pkg/node_modules/d"));
    files.redo().unwrap();
    assert!(!files.exists("pkg/src.js") && files.exists("pkg/node_modules/d"));
}

#[test]
fn what_was_excluded_when_a_snapshot_was_taken_is_left_alone_by_its_restore() {
    let scene = Scene::host();
    let open = |patterns: &[&str]| {
        let store = Store::open_ambient(scene.path("store")).unwrap();
        let files = Workspace::host_builder(scene.path("root"), store).unwrap();
        files.exclude(Exclusions::parse(patterns.iter().copied()).unwrap()).build()
    };
    let files = open(&["/.git"]);
    files.write(".git/HEAD", "main").unwrap();
    let before = files.snapshot("before").unwrap();
    let files = open(&[]);
    files.write("new", "").unwrap();
    files.restore(&before).unwrap();
    assert!(files.exists(".git/HEAD") && !files.exists("new"));
}

/// Once, a user who had undone and redone eight hundred times could go no further, nor undo what came before.
#[test]
fn everything_can_be_undone_after_many_undos_and_redos() {
    go_to_and_fro(&Scene::memory().files);
}

fn go_to_and_fro(files: &Workspace) {
    let contents = ["one", "two", "three", "four"];
    contents.iter().for_each(|content| drop(files.write("a", content).unwrap()));
    for round in 0..300 {
        let steps = 1 + round % 3;
        (0..steps).for_each(|_| drop(files.undo().unwrap()));
        assert_eq!(files.read("a").unwrap().content, contents[3 - steps]);
        (0..steps).for_each(|_| drop(files.redo().unwrap()));
        assert_eq!(files.read("a").unwrap().content, "four");
    }
    let operations = files.operations().unwrap();
    assert_eq!((operations.len(), operations[0].sequence), (800, 1));
    for content in ["three", "two", "one"] {
        assert_eq!(files.undo().unwrap().operation.name, "write");
        assert_eq!(files.read("a").unwrap().content, content);
    }
    files.undo().unwrap();
    assert!(!files.exists("a") && files.undo().is_err());
    (0..4).for_each(|_| drop(files.redo().unwrap()));
    assert_eq!(files.read("a").unwrap().content, "four");
}

/// Writes the record of an operation down once more, under another number.
fn renumber(scene: &Scene, from: usize, to: usize) {
    let record = |number| scene.path(&format!("store/operations/{number}.op"));
    let text = fs::read_to_string(record(from)).unwrap();
    let body = text.trim_end().rsplit_once('\n').unwrap().0;
    let body = body.replace(&format!("\"sequence\":{from},"), &format!("\"sequence\":{to},"));
    let sum = blake3::hash(body.as_bytes()).to_hex();
    fs::write(record(to), format!("{body}\nblake3 {sum}\n")).unwrap();
}

/// What is not listed is not kept either, unless it is damaged: then it may be of a later version.
#[test]
fn what_goes_to_and_fro_is_kept_in_bounded_space() {
    let scene = Scene::host();
    scene.files.write("a", "one").unwrap();
    scene.files.undo().unwrap();
    scene.files.redo().unwrap();
    (4..=901).for_each(|number| renumber(&scene, 2 + number % 2, number));
    let damaged = scene.path("store/operations/500.op");
    fs::write(&damaged, "damaged").unwrap();
    let files = scene.open_again();
    assert_eq!(files.operations().unwrap().len(), 800);
    for _ in 0..6 {
        files.undo().unwrap();
        assert!(!files.exists("a"));
        files.redo().unwrap();
        assert_eq!(files.read("a").unwrap().content, "one");
    }
    let names = fs::read_dir(scene.path("store/operations")).unwrap().flatten();
    let records = names.filter(|it| it.path().extension().is_some_and(|it| it == "op")).count();
    assert!((800..=816).contains(&records), "{records}");
    assert!(damaged.exists());
}

#[test]
fn an_operation_with_external_changes_is_passed_over_and_earlier_ones_are_undone() {
    let scene = Scene::host();
    scene.files.write("a", "one").unwrap();
    scene.files.write("b", "one").unwrap();
    fs::write(scene.path("root/b"), "from outside").unwrap();
    assert_eq!(scene.files.undo().unwrap_err().kind(), ErrorKind::Conflict);

    assert_eq!(scene.files.pass_over().unwrap().operation.sequence, 2);
    assert_eq!(scene.files.redo().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(scene.files.undo().unwrap().operation.sequence, 1);
    assert_eq!(lines(&scene.files), ["b \"from outside\""]);
    scene.files.redo().unwrap();
    assert!(scene.files.exists("a"));
    assert_eq!(scene.open_again().pass_over().unwrap().operation.sequence, 1);
    assert_eq!(scene.files.pass_over().unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn two_hundred_operations_are_kept_and_no_more() {
    for scene in [Scene::memory(), Scene::host()] {
        for round in 0..210 {
            scene.files.write("a", &round.to_string()).unwrap();
        }
        let operations = scene.files.operations().unwrap();
        assert_eq!((operations.len(), operations[0].sequence), (200, 11));
        if scene.path("store").exists() {
            let kept = fs::read_dir(scene.path("store/operations")).unwrap().count();
            assert!(kept <= 440, "{kept}");
        }
    }
}

/// A directory on another file system than the store: what is kept is copied.
#[test]
fn what_is_replaced_is_kept_across_file_systems() {
    let Ok(shm) = tempfile::tempdir_in("/dev/shm") else { panic!("/dev/shm is needed") };
    let scene = Scene::host();
    fs::create_dir(shm.path().join("root")).unwrap();
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let options = HostOptions::default();
    let backend = HostBackend::open_ambient_with(shm.path().join("root"), &options).unwrap();
    let files = Workspace::builder(backend).store(store).build();
    varied(&files);
    let before = lines(&files);
    files.delete_all("nested").unwrap();
    files.undo().unwrap();
    assert_eq!(lines(&files), before);
}

/// Once, what was there before was nothing, and an undo deleted the file.
#[test]
fn files_in_memory_whose_history_is_in_a_store_are_what_they_were() {
    let store = tempfile::tempdir().unwrap();
    let place = store.path().join("store");
    let files = |files: MemoryBackend, store| Workspace::builder(files).store(store).build();
    let ours = files(MemoryBackend::new(), Store::create_ambient(&place).unwrap());
    ours.write("a", "one").unwrap();
    ours.write("a", "two").unwrap();
    ours.undo().unwrap();
    assert_eq!(ours.read("a").unwrap().content, "one");
    ours.redo().unwrap();
    assert_eq!(ours.read("a").unwrap().content, "two");
    // No process can put back what another one had in its memory.
    let same = MemoryBackend::over(&ours.tree()).unwrap();
    let theirs = files(same, Store::open_ambient(&place).unwrap());
    let error = theirs.undo().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert_eq!(theirs.read("a").unwrap().content, "two");
}

/// Once, what was written into the moved file came back as what had been there before.
#[test]
fn what_was_moved_and_then_written_into_is_undone_as_it_was() {
    let scene = Scene::host();
    let files = &scene.files;
    files.write("f", "one").unwrap();
    files.rename("f", "g").unwrap();
    append(&scene, "g");
    let undone = files.undo().unwrap();
    assert_eq!(undone.conflicts, [TreePath::parse("g").unwrap()]);
    assert_eq!(files.read("f").unwrap().content, "one");
    assert_eq!(files.read("g").unwrap().content, "one and more");
}

#[test]
fn what_has_another_name_and_is_written_into_by_it_is_undone_as_it_was() {
    let scene = Scene::host();
    let files = &scene.files;
    files.write("a", "one").unwrap();
    fs::hard_link(scene.path("root/a"), scene.path("root/b")).unwrap();
    files.set_mode("a", FileMode::default().executable(true)).unwrap();
    fs::remove_file(scene.path("root/b")).unwrap();
    fs::hard_link(scene.path("root/a"), scene.path("root/b")).unwrap();
    files.write("a", "two").unwrap();
    append(&scene, "b");
    files.undo().unwrap();
    assert_eq!(files.read("a").unwrap().content, "one");
    let mode = fs::metadata(scene.path("root/a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "it was executable");
}

/// A copy belongs to the user who runs wink, so a setuid bit on it would run it as that user.
#[test]
fn a_copied_pre_image_gives_no_rights() {
    let scene = Scene::host();
    scene.files.write("f", "one").unwrap();
    let rights = fs::Permissions::from_mode(0o4755);
    fs::set_permissions(scene.path("root/f"), rights).unwrap();
    scene.files.rename("f", "g").unwrap();
    let kept = fs::metadata(scene.path("store/operations/2.0")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o7777, 0o755);
}

/// Writes into a file where it lies, as a shell or an editor may.
fn append(scene: &Scene, path: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(scene.path("root").join(path)).unwrap();
    file.write_all(b" and more").unwrap();
}

/// Opens a file to append to it.
fn appending(path: &std::path::Path) -> fs::File {
    fs::OpenOptions::new().append(true).open(path).unwrap()
}

/// Lets the clock that files are stamped with go on since the last operation, and writes.
fn write_later(scene: &Scene, mut file: fs::File) {
    let modified = |path: PathBuf| fs::symlink_metadata(path).unwrap().modified().unwrap();
    let operations = fs::read_dir(scene.path("store/operations")).unwrap();
    let last = operations.map(|it| modified(it.unwrap().path())).max().unwrap();
    while file.metadata().unwrap().modified().unwrap() <= last {
        file.write_all(b" and more").unwrap();
    }
}

fn check_refused(scene: &Scene, path: &str) {
    let before = lines(&scene.files);
    let error = scene.files.undo().unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some(path)), "{error}");
    assert!(error.to_string().contains("still had it open"), "{error}");
    assert_eq!(lines(&scene.files), before);
}

/// What is kept of a file is a further link of it, and once, an undo brought back what was in that now.
#[test]
fn an_undo_says_where_a_program_wrote_into_what_was_kept() {
    type Change = (&'static str, fn(&Workspace));
    let changes: [Change; 4] = [
        ("d/a", |files| assert!(files.write("d/a", "new").is_ok())),
        ("d/a", |files| assert!(files.delete("d/a").is_ok())),
        ("d/a", |files| assert!(files.delete_all("d").is_ok())),
        ("e/a", |files| {
            let moved = files.as_agent("move", |fs| {
                let options = MoveOptions::default();
                ops::rename(fs, &TreePath::parse("d")?, &TreePath::parse("e")?, &options)?;
                rewrite(fs, "e/a", "new")
            });
            moved.unwrap();
        }),
    ];
    for (path, change) in changes {
        let scene = Scene::host();
        scene.files.write("first", "1").unwrap();
        scene.files.write("d/a", "old").unwrap();
        let open = appending(&scene.path("root/d/a"));
        change(&scene.files);
        write_later(&scene, open);
        check_refused(&scene, path);
        // It and what it changed are passed over, and what came before is undone.
        scene.files.pass_over().unwrap();
        scene.files.pass_over().unwrap();
        assert!(scene.files.undo().is_ok() && !scene.files.exists("first"));
    }
}

/// Only who writes changes what was kept, whatever its time is.
#[test]
fn a_file_of_tomorrow_is_brought_back() {
    let scene = Scene::host();
    scene.files.write("a", "old").unwrap();
    let tomorrow = std::time::SystemTime::now() + std::time::Duration::from_secs(86_400);
    appending(&scene.path("root/a")).set_modified(tomorrow).unwrap();
    scene.files.write("a", "new").unwrap();
    scene.files.undo().unwrap();
    assert_eq!(scene.files.read("a").unwrap().content, "old");
}

/// Once, the move was done, and its undo claimed success and left both copies.
#[test]
fn a_directory_is_not_moved_to_where_no_path_could_name_what_is_in_it() {
    let scene = Scene::host();
    let deep = ["x".repeat(200).as_str(); 19].join("/");
    scene.files.mkdir(&format!("d/{deep}")).unwrap();
    let parent = ["y".repeat(200).as_str(); 2].join("/");
    scene.files.mkdir(&parent).unwrap();
    let refused = scene.files.rename("d", &format!("{parent}/d")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooLarge, "{refused}");
    assert!(scene.files.exists("d") && !scene.files.exists(&format!("{parent}/d")));
    scene.files.rename("d", "shorter-than-4096").unwrap();
    scene.files.undo().unwrap();
    assert!(scene.files.exists(&format!("d/{deep}")));
}

/// Once, the second undo took what the first one had restored for changes of another program.
#[test]
fn the_rest_of_a_restore_that_was_undone_in_part_is_undone_later() {
    let scene = Scene::host();
    let files = &scene.files;
    for (path, content) in [("a", "old"), ("b", "old")] {
        files.write(path, content).unwrap();
    }
    let old = files.snapshot("old").unwrap();
    files.write("a", "new").unwrap();
    files.write("b", "new").unwrap();
    files.restore(&old).unwrap();
    let restored = files.operations().unwrap().pop().unwrap().sequence;
    fs::write(scene.path("root/b"), "by a program").unwrap();
    let undone = files.undo().unwrap();
    assert_eq!(undone.conflicts, [TreePath::parse("b").unwrap()]);
    fs::write(scene.path("root/b"), "old").unwrap();
    let undone = files.undo_operation(restored).unwrap();
    assert_eq!(undone.conflicts, []);
    assert_eq!((read(files, "a"), read(files, "b")), ("new".into(), "new".into()));
}

fn read(files: &Workspace, path: &str) -> String {
    files.read(path).unwrap().content
}

/// Once, it could not be any more after another operation.
#[test]
fn the_rest_of_a_partly_undone_operation_can_be_undone_after_another_one() {
    let files = Workspace::memory();
    files.write("g/h", "below").unwrap();
    files.write("top", "beside").unwrap();
    let [g, top] = ["g", "top"].map(|path| files.path(path).unwrap());
    let remove = |fs: &mut dyn Filesystem| {
        fs.remove(&g, Recursion::Recursive)?;
        fs.remove(&top, Recursion::OnlyEmpty)
    };
    let (_, removal) = files.as_agent_operation("remove", remove).unwrap();
    files.write("g", "in the way").unwrap();
    let undone = files.undo_operation(removal.unwrap()).unwrap();
    assert_eq!(undone.conflicts, [files.path("g").unwrap()]);
    files.delete("g").unwrap();
    files.undo_operation(removal.unwrap()).unwrap();
    assert_eq!(files.read("g/h").unwrap().content, "below");
}

/// Once, undo of what was left of the call undid all of its steps again. It found no pre-image of `a`, which was in view
/// again, and removed the file.
#[test]
fn undo_of_what_a_rollback_left_alone_does_not_touch_what_it_restored() {
    let scene = Scene::host();
    let files = &scene.files;
    files.write("a", "original").unwrap();
    files.write("b", "original").unwrap();
    let failed = files.as_agent("patch", |fs| -> Result<()> {
        rewrite(fs, "a", "patched")?;
        rewrite(fs, "b", "patched")?;
        fs::write(scene.path("root/b"), "by the user").unwrap();
        Err(Error::new(Operation::Write, ErrorKind::InvalidArgument))
    });
    assert!(failed.is_err());
    assert_eq!([read(files, "a"), read(files, "b")], ["original", "by the user"]);
    let kept = files.operations().unwrap().into_iter().find(|it| !it.left_alone.is_empty());
    let kept = kept.expect("the old content of b is kept").sequence;
    // The agent makes the same change again.
    files.write("a", "patched").unwrap();
    for files in [files, &scene.open_again()] {
        assert_eq!(files.undo_operation(kept).unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!([read(files, "a"), read(files, "b")], ["patched", "by the user"]);
    }
    files.undo().unwrap();
    assert_eq!(read(files, "a"), "original");
    fs::remove_file(scene.path("root/b")).unwrap();
    fs::write(scene.path("root/b"), "patched").unwrap();
    files.undo_operation(kept).unwrap();
    assert_eq!([read(files, "a"), read(files, "b")], ["original", "original"]);
}

/// Once, the redo said that the path was as after the operation, and it did not exist.
#[test]
fn a_redo_names_the_paths_that_the_undo_found_undone_already() {
    let scene = Scene::host();
    let files = &scene.files;
    let path = |text: &str| TreePath::parse(text).unwrap();
    files.write("x", "x").unwrap();
    files.write("y", "old").unwrap();
    files.snapshot("base").unwrap();
    let restore = || {
        files.restore("base").unwrap();
    };
    let patch = || {
        let work = |fs: &mut dyn Filesystem| {
            rewrite(fs, "x", "x")?;
            rewrite(fs, "y", "old")
        };
        files.as_agent("patch", work).unwrap();
    };
    for change in [&restore as &dyn Fn(), &patch] {
        files.delete("x").unwrap();
        files.write("y", "new").unwrap();
        change();
        fs::remove_file(scene.path("root/x")).unwrap();
        assert_eq!(files.undo().unwrap().conflicts, []);
        let redone = files.redo().unwrap();
        assert_eq!((redone.paths, redone.conflicts), (vec![path("y")], vec![path("x")]));
        assert_eq!(read(files, "y"), "old");
        files.write("x", "x").unwrap();
    }
}

/// Once, the answer named no path that came back, or said that the whole directory was as before.
#[test]
fn undo_of_a_removed_directory_names_what_came_back_and_what_is_there_besides() {
    for (created, restored) in [("d/y", &["d/x", "d/z"][..]), ("d/other", &["d/x", "d/y", "d/z"])] {
        let scene = Scene::host();
        let files = &scene.files;
        for path in ["d/x", "d/y", "d/z"] {
            files.write(path, path).unwrap();
        }
        files.delete_all("d").unwrap();
        fs::create_dir(scene.path("root/d")).unwrap();
        fs::write(scene.path("root").join(created), "by the user").unwrap();
        let undone = files.undo().unwrap();
        let names = |paths: &[TreePath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(&undone.paths), restored);
        assert_eq!(names(&undone.conflicts), [created]);
        assert_eq!(read(files, created), "by the user");
    }
}

/// Once, the old content of a path with a FIFO could not be shown.
#[test]
fn what_was_there_before_an_operation_is_known_whatever_is_there_now() {
    let scene = Scene::host();
    let files = &scene.files;
    files.write("a", "old").unwrap();
    files.write("a", "new").unwrap();
    let path = TreePath::parse("a").unwrap();
    fs::remove_file(scene.path("root/a")).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, scene.path("root/a"), mode).unwrap();
    let trees = files.operation_trees(2).unwrap();
    assert_eq!((&trees.paths, &trees.unknown), (&vec![path.clone()], &vec![path.clone()]));
    assert_eq!(trees.before.open(&path).unwrap().read_all().unwrap(), "old");
    assert!(trees.after.stat(&path).is_err());
}
