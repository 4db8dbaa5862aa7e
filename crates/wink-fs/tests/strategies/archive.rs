//! What the strategy `archive` writes is a tar that others can read.

use std::process::Command;

use wink_fs::{HostBackend, Strategy, tree_hash};

use crate::common::disk::run;
use crate::common::trees::{plant, put};
use crate::strategies::scene::Scene;

#[test]
#[ignore = "needs zstd"]
fn gnu_tar_unpacks_every_name_kind_and_mode() {
    let mut scene = Scene::new(Strategy::Archive);
    plant(&mut scene.files);
    let deep = vec![b"n".repeat(90); 5].join(&b'/');
    put(&mut scene.files, &deep, "a name that has no room in a header");
    let long = b"t".repeat(300);
    wink_fs::Filesystem::symlink(&mut scene.files, &crate::common::trees::path(b"long"), &long)
        .unwrap();
    let snapshot = scene.save();
    let archive = scene.snapshots().join(&snapshot.reference);
    let unpacked = scene.home().join("unpacked");
    std::fs::create_dir(&unpacked).unwrap();
    run("zstd", ["-q".into(), "--test".into(), archive.clone()]);
    run("tar", ["--zstd".into(), "-xpf".into(), archive, "-C".into(), unpacked.clone()]);
    let unpacked = HostBackend::open_ambient(unpacked).unwrap();
    assert_eq!(tree_hash(&unpacked).unwrap(), snapshot.tree_hash.unwrap());
}

#[test]
fn the_same_files_make_the_same_archive() {
    let mut scene = Scene::new(Strategy::Archive);
    plant(&mut scene.files);
    let archives = [scene.save(), scene.save()]
        .map(|snapshot| std::fs::read(scene.snapshots().join(&snapshot.reference)).unwrap());
    assert_eq!(archives[0], archives[1]);
}

#[test]
fn one_file_of_many_is_read_without_unpacking_all() {
    let mut scene = Scene::new(Strategy::Archive);
    for number in 0..40 {
        let name = format!("{number:02}");
        put(&mut scene.files, name.as_bytes(), crate::common::trees::noise(100_000, number));
    }
    let snapshot = scene.save();
    let archive = scene.snapshots().join(&snapshot.reference);
    // Everything but the last frames is gone, and the last file is whole.
    let len = archive.metadata().unwrap().len();
    let hole = format!("of={}", archive.display());
    let done = Command::new("dd")
        .args(["if=/dev/zero", &hole, "bs=1000", "conv=notrunc"])
        .arg(format!("count={}", len / 2000))
        .output();
    assert!(done.unwrap().status.success());
    let loaded = scene.store.load(&snapshot.id).unwrap();
    let last = loaded.open(&crate::common::trees::path(b"39")).unwrap().read_all().unwrap();
    assert_eq!(last, crate::common::trees::noise(100_000, 39));
    let error = loaded.open(&crate::common::trees::path(b"00")).unwrap_err();
    assert_eq!(error.kind(), wink_fs::ErrorKind::Corrupt);
}
