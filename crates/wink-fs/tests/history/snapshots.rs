//! Keeping states, comparing them, going back to them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wink_fs::{
    DiffOptions, ErrorKind, Event, Exclusions, FileMode, Kind, MemoryBackend, RestoreOptions,
    SnapshotId, SnapshotOptions, StateRef, Store, Unresolved, VerifyOptions, Workspace,
};

use crate::history::scene::{Scene, lines, on_both, rewrite, ruin, varied};

on_both! {
    a1_19_ignored_files_are_captured_and_restored_and_none_is_deleted,
    a1_20_nested_repositories_are_plain_files,
    a_restore_brings_everything_back,
    a_restore_of_some_paths_leaves_the_others,
    a_dry_run_says_what_would_be_done_and_does_nothing,
    a_restore_to_what_is_there_saves_nothing,
    a_tag_is_unique,
    a_snapshot_is_found_by_tag_id_and_prefix,
    a_name_that_resolves_to_no_state_says_why,
    a_snapshot_knows_what_it_grew_from,
    diff_tells_added_modified_and_deleted,
    diff_of_two_snapshots_does_not_look_at_the_files_of_now,
    lines_are_never_those_of_a_later_moment_than_the_paths,
    what_is_excluded_survives_a_restore,
    events_tell_of_snapshots_and_restores,
    a_writer_waits_no_longer_than_it_likes,
    a_read_only_workspace_is_not_restored,
}

fn a_restore_brings_everything_back(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let before = lines(files);
    let snapshot = files.snapshot("before").unwrap();
    assert_eq!((snapshot.file_count, snapshot.point_in_time), (9, true));
    ruin(files);
    let receipt = files.restore(&snapshot).unwrap();
    assert_eq!(lines(files), before);
    assert_eq!((receipt.written, receipt.brought_back, receipt.removed), (3, 4, 2));
    assert_eq!(receipt.unchanged, 2);
    assert!(files.diff(&snapshot, StateRef::Live).unwrap().is_empty());
    let verified = files.snapshot_store().unwrap();
    let verified = verified.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!((verified.snapshots, verified.problems.len()), (2, 0));
}

fn a_restore_of_some_paths_leaves_the_others(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let snapshot = files.snapshot("before").unwrap();
    ruin(files);
    let mut options = RestoreOptions::default();
    options.paths = ["nested/.git", "new", "a.txt"].map(|it| files.path(it).unwrap()).into();
    let receipt = files.restore_with(&snapshot, &options).unwrap();
    assert_eq!((receipt.written, receipt.brought_back, receipt.removed), (1, 2, 1));
    assert!(files.is_file("nested/.git/config") && !files.exists("new"));
    assert_eq!(files.read("link").unwrap().content, "a file now");
    assert_eq!(files.read("a.txt").unwrap().content, "one\ntwo\n");
}

fn a_dry_run_says_what_would_be_done_and_does_nothing(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let snapshot = files.snapshot("before").unwrap();
    ruin(files);
    let (now, operations) = (lines(files), files.operations().unwrap().len());
    let dry = files.restore_with(&snapshot, &RestoreOptions::default().dry_run(true)).unwrap();
    assert_eq!((lines(files), files.operations().unwrap().len()), (now, operations));
    assert_eq!((dry.saved, files.snapshots().unwrap().len()), (None, 1));
    let mut real = files.restore(&snapshot).unwrap();
    assert!(real.saved.take().is_some());
    assert_eq!(real, dry);
}

fn a_restore_to_what_is_there_saves_nothing(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let snapshot = files.snapshot("before").unwrap();
    let operations = files.operations().unwrap().len();
    let receipt = files.restore(&snapshot).unwrap();
    assert_eq!((receipt.saved, receipt.written, receipt.unchanged), (None, 0, 9));
    assert_eq!(files.operations().unwrap().len(), operations);
    assert_eq!(files.snapshots().unwrap().len(), 1);
}

fn a_tag_is_unique(scene: Scene) {
    scene.files.snapshot("mine").unwrap();
    assert_eq!(scene.files.snapshot("mine").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(scene.files.snapshot("").unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(scene.files.snapshots().unwrap().len(), 1);
    let other = scene.files.snapshot_with(&SnapshotOptions::default()).unwrap();
    let error = scene.files.tag("mine", Some(&other.id.short())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "it would mean another snapshot");
    assert_eq!(scene.files.find_snapshot(other.id.short().as_str()).unwrap(), other);
}

fn a_snapshot_is_found_by_tag_id_and_prefix(scene: Scene) {
    let files = &scene.files;
    let one = files.snapshot_with(&SnapshotOptions::default()).unwrap();
    let two = files.snapshot("two").unwrap();
    let id = |name: &str| files.find_snapshot(name).map(|found| found.id);
    assert_eq!(id("two").unwrap(), two.id);
    assert_eq!(id(&one.id.to_string()).unwrap(), one.id);
    assert_eq!(id(&one.id.short()).unwrap(), one.id);
    for unknown in ["three", "", "zzzzzzzz"] {
        let error = id(unknown).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SnapshotNotFound, "{unknown}: {error}");
    }
    assert_eq!(id(&one.id.short()[..4]).unwrap(), one.id);
    let error = id(&one.id.short()[..3]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SnapshotNotFound);
    assert!(error.to_string().contains("first four characters"), "{error}");
    assert_eq!(files.restore("three").unwrap_err().kind(), ErrorKind::SnapshotNotFound);
    assert_eq!(files.restore(StateRef::Live).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

fn a_name_that_resolves_to_no_state_says_why(scene: Scene) {
    let files = &scene.files;
    let one = files.snapshot("one").unwrap();
    files.write("a", "1").unwrap();
    files.write("a", "2").unwrap();
    let two = files.snapshot("two").unwrap();
    let why = |name: &str| files.resolve(name).unwrap_err().why;
    assert!(matches!(why("three"), Unresolved::Unknown));
    assert!(matches!(why(&SnapshotId::random().to_string()), Unresolved::Unknown));
    assert!(matches!(why("@-x"), Unresolved::Unknown));
    assert!(matches!(why(&one.id.short()[..3]), Unresolved::TooShort));
    assert!(matches!(why("@-3"), Unresolved::NoAncestor { ancestors: 2 }));
    assert!(matches!(why("1w ago"), Unresolved::TooYoung { oldest: Some(it) } if *it == one));
    assert!(matches!(why("op:9"), Unresolved::UnknownOperation(Some(9))));
    assert!(matches!(why("op:x"), Unresolved::UnknownOperation(None)));
    assert!(matches!(why("op:1"), Unresolved::NoSnapshotAfter(1)));
    assert!(matches!(why("event:1"), Unresolved::Event));
    let named_twice = files.resolve_with_fork("one", Some(two.id)).unwrap_err().why;
    assert!(matches!(named_twice, Unresolved::TagAndFork(both) if *both == [one.clone(), two]));
    assert_eq!(files.resolve_with_fork("one", Some(one.id)).unwrap(), Some(one.clone()));
    assert_eq!(files.resolve_with_fork("fork", Some(one.id)).unwrap(), Some(one));
    assert_eq!(files.resolve("@").unwrap(), None);
}

fn a_snapshot_knows_what_it_grew_from(scene: Scene) {
    let files = &scene.files;
    let one = files.snapshot("one").unwrap();
    files.write("a", "").unwrap();
    let two = files.snapshot("two").unwrap();
    assert_eq!((one.parent, two.parent), (None, Some(one.id)));
    assert_eq!(files.current_snapshot_id().unwrap(), Some(two.id));
    files.restore(&one).unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(one.id));
    assert_eq!(files.snapshot("three").unwrap().parent, Some(one.id));
}

/// The files were captured once for the paths, and again for the lines.
fn lines_are_never_those_of_a_later_moment_than_the_paths(scene: Scene) {
    let files = &scene.files;
    files.write("a.txt", "before\n").unwrap();
    files.snapshot("start").unwrap();
    files.write("a.txt", "compared\n").unwrap();
    let meanwhile = |diff: &wink_fs::Diff| {
        files.write("a.txt", "too late\n").unwrap();
        vec![diff.modified[0].path.clone()]
    };
    match files.diff_with_lines_of("start", StateRef::Live, &DiffOptions::default(), meanwhile) {
        Ok((_, lines)) => {
            let hunk = lines.modified[0].hunks.as_ref().unwrap()[0].to_string();
            assert!(hunk.contains("+compared"), "{hunk}");
        }
        // On the host the content of that moment is gone.
        Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
    }
}

fn diff_tells_added_modified_and_deleted(scene: Scene) {
    let files = &scene.files;
    varied(files);
    let before = files.snapshot("before").unwrap();
    ruin(files);
    let options = DiffOptions::default().renames(true).hunks(true);
    let diff = files.diff_with(&before, StateRef::Live, &options).unwrap();
    let paths = |changed: &[wink_fs::Changed]| {
        changed.iter().map(|it| it.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&diff.added), ["new/file"]);
    assert_eq!(paths(&diff.modified), ["a.txt", "link", "run.sh"]);
    let deleted =
        [r"caf\xe9\x0a", "empty/below", "nested/.git/config", "nested/.git/objects/ab/cd"];
    assert_eq!(paths(&diff.deleted), deleted);
    let moved: Vec<_> = diff.renamed.iter().map(|it| format!("{} {}", it.from, it.to)).collect();
    assert_eq!(moved, ["crlf lf"]);
    assert_eq!(diff.unchanged_count, 2);
    let hunk = &diff.modified[0].hunks.as_ref().unwrap()[0];
    let text = "@@ -1,2 +1,1 @@\n-one\n-two\n+changed\n\\ No newline at end of file\n";
    assert_eq!(hunk.to_string(), text);
    assert_eq!(
        (diff.modified[1].before, diff.modified[1].hunks.is_none()),
        (Some(Kind::Symlink), true)
    );
}

fn diff_of_two_snapshots_does_not_look_at_the_files_of_now(scene: Scene) {
    let files = &scene.files;
    files.write("a", "1").unwrap();
    let one = files.snapshot("one").unwrap();
    files.write("a", "2").unwrap();
    let two = files.snapshot("two").unwrap();
    files.delete("a").unwrap();
    let diff = files.diff(&one, &two).unwrap();
    assert_eq!((diff.modified.len(), diff.added.len(), diff.deleted.len()), (1, 0, 0));
}

fn what_is_excluded_survives_a_restore(scene: Scene) {
    let excluded = Exclusions::parse(["/target", "*.log"]).unwrap();
    let files = if scene.path("store").exists() {
        let store = Store::open_ambient(scene.path("store")).unwrap();
        Workspace::host_builder(scene.path("root"), store).unwrap().exclude(excluded).build()
    } else {
        Workspace::builder(MemoryBackend::new()).exclude(excluded).build()
    };
    files.write("a", "1").unwrap();
    files.write("target/big", "1").unwrap();
    let before = files.snapshot("before").unwrap();
    assert_eq!((before.file_count, before.excluded.len()), (1, 2));
    files.write("target/big", "2").unwrap();
    files.write("new/x.log", "2").unwrap();
    files.write("a", "2").unwrap();
    assert_eq!(files.diff(&before, StateRef::Live).unwrap().added.len(), 1, "the directory `new`");
    files.restore(&before).unwrap();
    let left = [r#"a "1""#, "new/", r#"new/x.log "2""#, "target/", r#"target/big "2""#];
    assert_eq!(lines(&files), left);
}

fn events_tell_of_snapshots_and_restores(scene: Scene) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let observer = told.clone();
    let observe = move |event: &Event| observer.lock().unwrap().push(event.clone());
    let files = if scene.path("store").exists() {
        let store = Store::open_ambient(scene.path("store")).unwrap();
        Workspace::host_builder(scene.path("root"), store).unwrap().observe(observe).build()
    } else {
        Workspace::builder(MemoryBackend::new()).observe(observe).build()
    };
    let snapshot = files.snapshot("before").unwrap();
    files.write("a", "").unwrap();
    files.restore(&snapshot).unwrap();
    let heard = std::mem::take(&mut *told.lock().unwrap());
    assert_eq!(heard.first(), Some(&Event::SnapshotTaken { id: snapshot.id }));
    assert_eq!(heard.last(), Some(&Event::Restored { id: snapshot.id }));
    let replaced =
        |text: &str| Event::Replaced { paths: vec![wink_fs::TreePath::parse(text).unwrap()] };
    assert!(heard.contains(&replaced("a")), "{heard:?}");

    files.write("deep/b", "").unwrap();
    files.undo().unwrap();
    assert_eq!(told.lock().unwrap().last(), Some(&replaced("deep")));
    files.as_executor("make", |place| rewrite(place.files, "c", "made")).unwrap();
    assert_eq!(told.lock().unwrap().last(), Some(&replaced("c")));
    files.restore(&snapshot).unwrap();
    files.restore(&snapshot).unwrap();
    let heard = std::mem::take(&mut *told.lock().unwrap());
    let nothing = Event::Replaced { paths: Vec::new() };
    assert!(heard.ends_with(&[nothing, Event::Restored { id: snapshot.id }]), "{heard:?}");
}

fn a_writer_waits_no_longer_than_it_likes(scene: Scene) {
    let files = &scene.files;
    let hurried = files.waiting_at_most(Duration::from_millis(20));
    files
        .as_owner("slow", |fs| {
            std::thread::scope(|scope| {
                let write = scope.spawn(|| hurried.write("a", "").map(drop));
                assert_eq!(write.join().unwrap().unwrap_err().kind(), ErrorKind::Deadline);
                assert!(hurried.list("").unwrap().is_empty(), "readers do not wait");
            });
            rewrite(fs, "b", "")
        })
        .unwrap();
    hurried.write("a", "").unwrap();
}

fn a_read_only_workspace_is_not_restored(scene: Scene) {
    let files = if scene.path("store").exists() {
        scene.files.snapshot("before").unwrap();
        fs::write(scene.path("root/a"), "").unwrap();
        let store = Store::open_ambient(scene.path("store")).unwrap();
        Workspace::host_builder(scene.path("root"), store).unwrap().read_only(true).build()
    } else {
        let files = Workspace::builder(MemoryBackend::new()).read_only(true).build();
        files.snapshot("before").unwrap();
        files
    };
    let before = lines(&files);
    assert_eq!(files.restore("before").unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(lines(&files), before);
}

fn a1_19_ignored_files_are_captured_and_restored_and_none_is_deleted(scene: Scene) {
    let files = &scene.files;
    files.write(".gitignore", "*\n").unwrap();
    files.write(".git/info/exclude", "*\n").unwrap();
    files.write("target/out.o", "built").unwrap();
    files.write("secret.env", "KEY=1").unwrap();
    let before = lines(files);
    let snapshot = files.snapshot("before").unwrap();
    assert_eq!(snapshot.file_count, 4);
    files.delete_all("target").unwrap();
    files.write("secret.env", "KEY=2").unwrap();
    files.write("other.o", "new").unwrap();
    files.restore(&snapshot).unwrap();
    assert_eq!(lines(files), before);
}

fn a1_20_nested_repositories_are_plain_files(scene: Scene) {
    let files = &scene.files;
    files.write("nested/.git/HEAD", "ref: refs/heads/main\n").unwrap();
    files.write("nested/.git/config", "[core]\n\tfsmonitor = /bin/false\n").unwrap();
    files.write("nested/uncommitted", "work").unwrap();
    files.write("bare.git/HEAD", "ref: refs/heads/main\n").unwrap();
    files.mkdir("bare.git/refs/heads").unwrap();
    files.write("submodule/.git", "gitdir: /etc\n").unwrap();
    let before = lines(files);
    let snapshot = files.snapshot("before").unwrap();
    for directory in ["nested", "bare.git", "submodule"] {
        files.delete_all(directory).unwrap();
    }
    files.restore(&snapshot).unwrap();
    assert_eq!(lines(files), before);
}

// --- only on a host ------------------------------------------------------------------------------

/// What shells and editors did is in a snapshot as well.
#[test]
fn changes_from_outside_are_captured_and_restored() {
    let scene = Scene::host();
    scene.files.write("a", "one").unwrap();
    let before = scene.files.snapshot("before").unwrap();
    fs::write(scene.path("root/a"), "two").unwrap();
    fs::write(scene.path("root/b"), "new").unwrap();
    let after = scene.files.snapshot("after").unwrap();
    scene.files.restore(&before).unwrap();
    assert_eq!(lines(&scene.files), [r#"a "one""#]);
    scene.files.restore(&after).unwrap();
    assert_eq!(lines(&scene.files), [r#"a "two""#, r#"b "new""#]);
}

#[test]
fn an_unchanged_snapshot_reads_no_file_and_writes_no_pack() {
    let scene = Scene::host();
    varied(&scene.files);
    let first = scene.files.snapshot("first").unwrap();
    let second = scene.open_again().snapshot("second").unwrap();
    assert!(!first.reference.is_empty() && second.reference.is_empty());
    assert_eq!(first.tree_hash, second.tree_hash);
}

#[test]
fn a_host_without_a_store_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let files = Workspace::host(directory.path()).unwrap();
    files.write("a", "").unwrap();
    for error in [files.snapshot("x").unwrap_err(), files.undo().unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
}

/// Nothing is kept from which it could be taken back.
#[test]
fn without_a_store_what_was_changed_before_a_failure_stays() {
    let directory = tempfile::tempdir().unwrap();
    let files = Workspace::host(directory.path()).unwrap();
    assert!(files.snapshot_store().is_err());
    let failed = files.as_agent("write", |fs| {
        rewrite(fs, "a", "1")?;
        rewrite(fs, "a/below", "1")
    });
    assert!(failed.is_err());
    assert_eq!(lines(&files), [r#"a "1""#]);
}

/// Once, a file that only its owner and group could read was given to all.
#[test]
fn what_others_had_no_access_to_stays_so() {
    let scene = Scene::host();
    let place = |name: &str| scene.path("root").join(name);
    let mode = |name: &str| fs::metadata(place(name)).unwrap().permissions().mode() & 0o777;
    for (name, bits) in [("changed", 0o640), ("gone", 0o640), ("group", 0o664)] {
        fs::write(place(name), "secret").unwrap();
        fs::set_permissions(place(name), PermissionsExt::from_mode(bits)).unwrap();
    }
    let kept = scene.files.snapshot("kept").unwrap();
    fs::write(place("changed"), "other").unwrap();
    fs::write(place("group"), "other").unwrap();
    scene.files.delete("gone").unwrap();
    scene.files.restore(&kept).unwrap();
    assert_eq!((mode("changed"), mode("group")), (0o640, 0o664));
    assert_eq!(mode("gone") & 0o007, 0);
    scene.files.undo().unwrap();
    assert_eq!((mode("changed"), mode("group")), (0o640, 0o664));
    scene.files.undo().unwrap();
    assert_eq!(mode("gone") & 0o007, 0);
}

/// Once, it had the bits of the link, with which everybody could write into it.
#[test]
fn a_program_in_the_place_of_a_link_is_writable_by_its_owner_only() {
    let scene = Scene::host();
    let program = scene.path("root/run");
    scene.files.write("run", "#!/bin/sh\n").unwrap();
    scene.files.set_mode("run", FileMode::default().executable(true)).unwrap();
    let kept = scene.files.snapshot("kept").unwrap();
    fs::remove_file(&program).unwrap();
    std::os::unix::fs::symlink("elsewhere", &program).unwrap();
    scene.files.restore(&kept).unwrap();
    let mode = fs::symlink_metadata(&program).unwrap().permissions().mode();
    assert_eq!(mode & 0o122, 0o100, "{mode:o}");
}
