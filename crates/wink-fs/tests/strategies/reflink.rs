//! Clones share their space where the file system can, and say so where it cannot.

use std::path::Path;

use wink_fs::{ErrorKind, MemoryBackend, Strategy, StrategyOptions};

use crate::common::disk::{Disk, run};
use crate::common::trees::{noise, put};
use crate::strategies::scene::{Scene, new};

const LARGE: usize = 64 * 1024 * 1024;

fn free_bytes(path: &Path) -> u64 {
    run("sync", ["-f".as_ref(), path.as_os_str()]);
    let found = rustix::fs::statvfs(path).unwrap();
    found.f_bfree * found.f_frsize
}

fn clones_share_their_space(disk: Disk) {
    let mut scene = Scene::on_disk(Strategy::Reflink, disk);
    put(&mut scene.files, b"large", noise(LARGE, 1));
    let before = free_bytes(&scene.root());
    let snapshot = scene.save();
    let taken = before.saturating_sub(free_bytes(&scene.root()));
    assert!(taken < LARGE as u64 / 8, "{taken} bytes were taken");
    put(&mut scene.files, b"large", "changed");
    let loaded = scene.store.load(&snapshot.id).unwrap();
    let content = loaded.open(&crate::common::trees::path(b"large")).unwrap();
    assert_eq!(content.read_all().unwrap(), noise(LARGE, 1), "the clone is as it was");
}

#[test]
#[ignore = "needs root"]
fn clones_share_their_space_on_btrfs() {
    clones_share_their_space(Disk::new("mkfs.btrfs -q"));
}

#[test]
#[ignore = "needs root"]
fn clones_share_their_space_on_xfs() {
    clones_share_their_space(Disk::new("mkfs.xfs -q -m reflink=1"));
}

#[test]
#[ignore = "needs root"]
fn a_file_system_without_clones_is_named() {
    for (make, name) in [("mkfs.ext4 -q", "ext4"), ("mkfs.xfs -q -m reflink=0", "XFS")] {
        let disk = Disk::new(make);
        let place = disk.path("mounted").join("snapshots");
        let options = StrategyOptions::new(&place).strategy(Strategy::Reflink);
        let error = options.create_ambient(disk.path("mounted")).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(name), "{error}");
        assert!(error.to_string().contains("use `store`"), "{error}");
        assert!(!place.exists(), "nothing was made");
    }
}

#[test]
#[ignore = "needs root"]
fn another_file_system_than_that_of_the_files_is_refused() {
    let scene = Scene::new(Strategy::Reflink);
    let mut elsewhere = wink_fs::HostBackend::temporary().unwrap();
    put(&mut elsewhere, b"file", "content");
    let error = scene.store.save(&elsewhere, &new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("file system of the workspace"), "{error}");
    assert!(scene.store.list().unwrap().is_empty());
}

#[test]
#[ignore = "needs root"]
fn files_that_are_not_on_the_host_are_refused() {
    let scene = Scene::new(Strategy::Reflink);
    let mut memory = MemoryBackend::new();
    put(&mut memory, b"file", "content");
    let error = scene.store.save(&memory, &new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("host directory"), "{error}");
}
