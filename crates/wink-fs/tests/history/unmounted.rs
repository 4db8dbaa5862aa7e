//! A disk goes away under a workspace that is at work, or takes no writes, and comes back.

use std::fs;
use std::path::{Path, PathBuf};

use wink_fs::{ErrorKind, Result, Store, VerifyOptions, Workspace};

use crate::common::disk::{Disk, run};
use crate::history::scene::{lines, ruin, varied};

/// A disk with either the store or the files on it; the other one lies beside it.
struct Scene {
    disk: Disk,
    files: Workspace,
}

impl Scene {
    /// Makes a workspace in places below the disk's own directory; `mounted` is where it is mounted.
    fn new(root: &str, store: &str) -> Self {
        let disk = Disk::new("mkfs.ext4 -q");
        let _ = fs::remove_dir(disk.path("mounted/lost+found"));
        let _ = fs::create_dir(disk.path(root));
        drop(Store::create_ambient(disk.path(store)).unwrap());
        let files = open(&disk.path(root), &disk.path(store)).unwrap();
        Self { disk, files }
    }

    /// Takes the disk away while handles to it are open.
    fn unmount(&self) {
        run("umount", ["-l".into(), self.disk.path("mounted")]);
    }

    fn below_the_mount_point(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.disk.path("mounted")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

fn open(root: &Path, store: &Path) -> Result<Workspace> {
    Workspace::host_with_store(root, Store::open_ambient(store)?)
}

fn the_store_goes_away(store: &str) {
    let scene = Scene::new("root", store);
    let files = &scene.files;
    varied(files);
    let first = files.snapshot("first").unwrap();
    ruin(files);
    let (before, operations) = (lines(files), files.operations().unwrap());
    scene.unmount();
    let calls: [(&str, &dyn Fn() -> Result<()>); 8] = [
        ("snapshot", &|| files.snapshot("second").map(drop)),
        ("restore", &|| files.restore(first.id).map(drop)),
        ("undo", &|| files.undo().map(drop)),
        ("write", &|| files.write("a.txt", "lost?").map(drop)),
        ("delete", &|| files.delete_all("new").map(drop)),
        ("list", &|| files.snapshots().map(drop)),
        ("operations", &|| files.operations().map(drop)),
        ("open", &|| Store::open_ambient(scene.disk.path(store)).map(drop)),
    ];
    for (name, call) in calls {
        let error = call().expect_err(name);
        let kinds = [ErrorKind::Unavailable, ErrorKind::NotFound];
        assert!(kinds.contains(&error.kind()), "{name}: {error}");
        assert!(error.to_string().contains("disk is mounted"), "{name}: {error}");
        assert_eq!(scene.below_the_mount_point(), [""; 0].map(PathBuf::from), "{name}");
    }
    assert_eq!(lines(files), before, "what could not be written down was not done");
    scene.disk.mount();
    assert_eq!(files.operations().unwrap(), operations);
    files.restore(&first).unwrap();
    assert_eq!(files.undo().unwrap().operation.name, "restore");
    assert_eq!(lines(files), before);
    let found = files.snapshot_store().unwrap().verify(&VerifyOptions::default().data(true));
    assert_eq!(found.unwrap().problems, []);
}

#[test]
#[ignore = "needs root"]
fn fault_20_a_store_whose_disk_is_unmounted_is_gone_and_comes_back() {
    the_store_goes_away("mounted/store");
}

#[test]
#[ignore = "needs root"]
fn fault_20_a_store_at_a_mount_point_is_gone_and_comes_back() {
    the_store_goes_away("mounted");
}

/// The files are held by a handle, so that what goes on goes on on their disk.
fn the_files_go_away(root: &str) {
    let scene = Scene::new(root, "store");
    let files = &scene.files;
    varied(files);
    let first = files.snapshot("first").unwrap();
    scene.unmount();
    let written = files.write("late", "written to the disk that was opened").is_ok();
    let taken = files.snapshot("late").is_ok();
    let after = lines(files);
    assert_eq!(scene.below_the_mount_point(), [""; 0].map(PathBuf::from));
    let store = scene.disk.path("store");
    if root != "mounted" {
        let error = open(&scene.disk.path(root), &store).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    }
    scene.disk.mount();
    let again = open(&scene.disk.path(root), &store).unwrap();
    assert_eq!((lines(&again), again.exists("late")), (after, written));
    assert_eq!(again.find_snapshot("late").is_ok(), taken);
    again.restore(&first).unwrap();
    assert!(again.diff(&first, wink_fs::StateRef::Live).unwrap().is_empty());
}

#[test]
#[ignore = "needs root"]
fn fault_20_files_whose_disk_is_unmounted_are_all_there_when_it_comes_back() {
    the_files_go_away("mounted/root");
}

#[test]
#[ignore = "needs root"]
fn fault_20_a_workspace_at_a_mount_point_is_all_there_when_its_disk_comes_back() {
    the_files_go_away("mounted");
}

/// As a disk is after an error that its file system noticed.
fn a_disk_takes_no_writes(root: &str, store: &str) {
    let scene = Scene::new(root, store);
    let files = &scene.files;
    varied(files);
    let first = files.snapshot("first").unwrap();
    ruin(files);
    let before = lines(files);
    let remount = |how: &str| run("mount", ["-o".into(), how.into(), scene.disk.path("mounted")]);
    remount("remount,ro");
    let calls: [(&str, &dyn Fn() -> Result<()>); 4] = [
        ("write", &|| files.write("a.txt", "lost?").map(drop)),
        ("delete", &|| files.delete_all("new").map(drop)),
        ("restore", &|| files.restore(first.id).map(drop)),
        ("undo", &|| files.undo().map(drop)),
    ];
    for (name, call) in calls {
        let error = call().expect_err(name);
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{name}: {error}");
        assert_eq!(lines(files), before, "{name}");
    }
    let kept = files.snapshots().unwrap().into_iter().filter(|it| it.tag.is_some());
    assert_eq!(kept.collect::<Vec<_>>(), std::slice::from_ref(&first));
    assert!(files.tree_at(&first).unwrap().stat(&files.path("nested").unwrap()).is_ok());
    remount("remount,rw");
    files.restore(&first).unwrap();
    files.undo().unwrap();
    assert_eq!(lines(files), before);
}

#[test]
#[ignore = "needs root"]
fn fault_20_a_store_whose_disk_takes_no_writes_can_be_read_and_nothing_changes() {
    a_disk_takes_no_writes("root", "mounted/store");
}

#[test]
#[ignore = "needs root"]
fn fault_20_files_whose_disk_takes_no_writes_can_be_read_and_nothing_changes() {
    a_disk_takes_no_writes("mounted/root", "store");
}
