//! The named manager, as the documents use it.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use wink_fs::{ErrorKind, HostBackend, NamedSnapshots, Workspace};

struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self, files: Workspace) -> NamedSnapshots {
        NamedSnapshots::open_ambient(files, self.path("archives")).unwrap()
    }
}

fn workspaces() -> [Workspace; 2] {
    [Workspace::memory(), Workspace::builder(HostBackend::temporary().unwrap()).build()]
}

fn ids(snapshots: &NamedSnapshots) -> Vec<String> {
    snapshots.list().unwrap().into_iter().map(|it| it.snapshot_id).collect()
}

#[test]
fn a_risky_operation_is_rolled_back() {
    for files in workspaces() {
        let scene = Scene::new();
        let snapshots = scene.open(files.clone());
        files.write("src/main.py", "print('hello')").unwrap();
        files.write("tests/test_main.py", "").unwrap();
        let info = snapshots.snapshot("before-refactor").unwrap();
        assert_eq!((info.file_count, info.total_bytes), (2, 14));
        assert_eq!(info.archive_path, scene.path("archives/before-refactor.fs.zip"));

        files.write("src/main.py", "print('broken')").unwrap();
        files.delete_all("tests").unwrap();
        assert_eq!(snapshots.rollback("before-refactor").unwrap(), 2);
        assert_eq!(snapshots.filesystem().read("src/main.py").unwrap().content, "print('hello')");
        assert!(files.is_file("tests/test_main.py"));
    }
}

#[test]
fn a_name_is_given_once() {
    let scene = Scene::new();
    let snapshots = scene.open(Workspace::memory());
    snapshots.snapshot("turn-5").unwrap();
    snapshots.filesystem().write("later", "").unwrap();
    assert_eq!(snapshots.snapshot("turn-5").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(snapshots.get("turn-5").unwrap().file_count, 0);
    assert!(snapshots.delete("turn-5").unwrap());
    assert!(!snapshots.delete("turn-5").unwrap());
    assert_eq!(snapshots.snapshot("turn-5").unwrap().file_count, 1);
}

#[test]
fn archives_are_found_again_in_the_order_they_were_made() {
    let scene = Scene::new();
    let snapshots = scene.open(Workspace::memory());
    for id in ["z", "a", "m"] {
        snapshots.snapshot(id).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let again = scene.open(Workspace::memory());
    assert_eq!(ids(&again), ["z", "a", "m"]);
    assert_eq!(again.list().unwrap(), snapshots.list().unwrap());
}

#[test]
fn an_archive_goes_to_another_workspace() {
    let scene = Scene::new();
    let [memory, host] = workspaces();
    memory.write("a/b", "content").unwrap();
    let info = scene.open(memory).snapshot("moved").unwrap();
    assert_eq!(scene.open(host.clone()).restore(info.archive_path).unwrap(), 1);
    assert_eq!(host.read("a/b").unwrap().content, "content");
}

#[test]
fn what_is_not_there_is_not_found_and_changes_nothing() {
    let scene = Scene::new();
    let snapshots = scene.open(Workspace::memory());
    snapshots.filesystem().write("a", "1").unwrap();
    assert_eq!(snapshots.rollback("none").unwrap_err().kind(), ErrorKind::SnapshotNotFound);
    let missing = snapshots.restore(scene.path("none.fs.zip")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::SnapshotNotFound);
    assert!(snapshots.get("none").is_none());
    assert_eq!(snapshots.filesystem().read("a").unwrap().content, "1");
}

#[test]
fn a_damaged_archive_is_not_listed_and_changes_nothing() {
    let scene = Scene::new();
    let snapshots = scene.open(Workspace::memory());
    snapshots.filesystem().write("a", "1").unwrap();
    let info = snapshots.snapshot("damaged").unwrap();
    let bytes = fs::read(&info.archive_path).unwrap();
    fs::write(&info.archive_path, &bytes[..bytes.len() - 10]).unwrap();
    snapshots.filesystem().write("a", "2").unwrap();
    assert_eq!(ids(&snapshots), [""; 0]);
    assert!(snapshots.rollback("damaged").is_err());
    assert_eq!(snapshots.filesystem().read("a").unwrap().content, "2");
}

/// A1 30: no name becomes a path or an option.
#[test]
fn a_name_never_leaves_the_directory() {
    let scene = Scene::new();
    let snapshots = scene.open(Workspace::memory());
    let bad = [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc/x",
        "-rf",
        "a b",
        "a\0",
        "ü",
        "a\\b",
        &"x".repeat(101),
    ];
    for id in bad {
        for error in [
            snapshots.snapshot(id).unwrap_err(),
            snapshots.rollback(id).unwrap_err(),
            snapshots.delete(id).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{id:?}");
        }
        assert!(snapshots.get(id).is_none());
    }
    assert_eq!(fs::read_dir(scene.path("")).unwrap().count(), 1);
}
