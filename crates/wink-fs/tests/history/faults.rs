//! What is left when the disk, the clock or somebody else is in the way.

use std::fs;

use tempfile::TempDir;
use wink_fs::{ErrorKind, SnapshotOptions, Store, VerifyOptions, Workspace};

use crate::scene::{Scene, lines};

fn chattr(flag: &str, path: &std::path::Path) {
    let done = std::process::Command::new("chattr").arg(flag).arg(path).status();
    assert!(done.expect("chattr is needed").success(), "chattr needs root and ext4");
}

/// A file that nobody may change is found out before the first rename is final.
#[test]
fn a1_30_a_restore_that_cannot_replace_a_file_changes_nothing() {
    let scene = Scene::host();
    let files = &scene.files;
    for path in ["a", "b/immutable", "c"] {
        files.write(path, "old").unwrap();
    }
    let snapshot = files.snapshot("before").unwrap();
    for path in ["a", "b/immutable", "c"] {
        files.write(path, "new").unwrap();
    }
    let before = lines(files);
    chattr("+i", &scene.path("root/b/immutable"));
    let error = files.restore(&snapshot);
    chattr("-i", &scene.path("root/b/immutable"));
    let error = error.unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::PermissionDenied, Some("b/immutable")));
    assert_eq!(lines(files), before);
    files.restore(&snapshot).unwrap();
    assert_eq!(files.read("b/immutable").unwrap().content, "old");
}

/// A small file system of its own, unmounted in the end.
struct Small(TempDir);

impl Small {
    fn new(options: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let options = std::ffi::CString::new(options).unwrap();
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("tmpfs", place.path(), "tmpfs", flags, &*options)
            .expect("mounting needs root");
        fs::create_dir(place.path().join("root")).unwrap();
        Self(place)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(self.0.path(), rustix::mount::UnmountFlags::DETACH);
    }
}

/// Fills a file system while a snapshot wants to come back, and checks that nothing happens.
fn check_no_space(small: &Small, fill: impl Fn(usize) -> bool) {
    let scene = Scene::host();
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let files = Workspace::host_with_store(small.0.path().join("root"), store).unwrap();
    for file in 0..20 {
        files.write_bytes(&format!("many/{file}"), vec![file; 20_000]).unwrap();
    }
    let snapshot = files.snapshot("before").unwrap();
    files.delete_all("many").unwrap();
    files.write("now", "kept").unwrap();
    let filled = (0..100_000).take_while(|round| fill(*round)).count();
    let before = lines(&files);
    let error = files.restore(&snapshot).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}");
    assert_eq!(lines(&files), before);
    drop(files);
    (0..filled).for_each(|round| drop(fs::remove_file(small.0.path().join(round.to_string()))));
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let files = Workspace::host_with_store(small.0.path().join("root"), store).unwrap();
    assert_eq!(files.restore(&snapshot).unwrap().brought_back, 20);
}

#[test]
fn fault_09_a_full_disk_stops_a_restore_before_anything_changes() {
    let small = Small::new("size=1m");
    let filler = |round: usize| {
        let path = small.0.path().join(round.to_string());
        fs::write(&path, vec![0; 4096]).is_ok()
    };
    check_no_space(&small, filler);
}

#[test]
fn fault_10_used_up_inodes_stop_a_restore_before_anything_changes() {
    let small = Small::new("size=16m,nr_inodes=60");
    let filler = |round: usize| fs::write(small.0.path().join(round.to_string()), "").is_ok();
    check_no_space(&small, filler);
}

/// Handles to one workspace, as two processes have them, take turns and lose nothing.
#[test]
fn fault_25_two_handles_on_one_workspace_lose_nothing() {
    let scene = Scene::host();
    let handles = [scene.open_again(), scene.open_again()];
    std::thread::scope(|scope| {
        for (number, files) in handles.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..40 {
                    files.write(&format!("{number}/{round}"), "x").unwrap();
                    if round % 10 == 0 {
                        files.snapshot_with(&SnapshotOptions::default()).unwrap();
                    }
                }
            });
        }
    });
    let last = scene.files.snapshot("last").unwrap();
    assert_eq!(last.file_count, 80);
    assert_eq!(scene.files.snapshots().unwrap().len(), 9);
    let sequences: Vec<_> =
        scene.files.operations().unwrap().iter().map(|it| it.sequence).collect();
    assert_eq!(sequences, (1..=80).collect::<Vec<_>>());
}

#[test]
fn fault_25_a_wait_that_is_too_long_names_who_is_at_work() {
    let scene = Scene::host();
    let other = scene.open_again();
    let waited = scene.files.as_owner("slow", |_| Ok(other.write("a", "").unwrap_err())).unwrap();
    assert_eq!(waited.kind(), ErrorKind::Locked);
    let pid = format!("process {}", std::process::id());
    assert!(waited.to_string().contains(&pid), "{waited}");
    other.write("a", "").unwrap();
}

#[test]
fn fault_26_restores_and_writes_at_once_have_a_serial_outcome() {
    let scene = Scene::host();
    let files = &scene.files;
    for name in ["A", "B"] {
        (0..10).for_each(|file| drop(files.write(&format!("f{file}"), name).unwrap()));
        files.snapshot(name).unwrap();
    }
    let handles = [scene.open_again(), scene.open_again(), scene.open_again()];
    std::thread::scope(|scope| {
        for (files, name) in handles.iter().zip(["A", "B"]) {
            scope.spawn(move || (0..10).for_each(|_| drop(files.restore(name).unwrap())));
        }
        scope.spawn(|| {
            (0..30).for_each(|_| drop(handles[2].write("written", "by somebody").unwrap()));
        });
    });
    let contents: std::collections::BTreeSet<String> =
        (0..10).map(|file| files.read(&format!("f{file}")).unwrap().content).collect();
    assert_eq!(contents.len(), 1, "one restore was the last: {contents:?}");
    let verified = files.snapshot_store().unwrap().verify(&VerifyOptions::default()).unwrap();
    assert_eq!(verified.problems, []);
}
