//! A loss of power leaves files older than what is known of them, and no stamp tells.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::process::Command;

use wink_fs::{Store, Workspace};

use crate::common::disk::{Disk, run};

const BLOCK: usize = 4096;

fn open(disk: &Disk) -> Workspace {
    let store = Store::open_ambient(disk.path("store")).unwrap();
    Workspace::host_with_store(disk.path("mounted/root"), store).unwrap()
}

/// Makes a workspace on a disk of its own, whose store is elsewhere, with a snapshot of a file.
fn kept() -> Disk {
    let disk = Disk::new("mkfs.ext4 -q -b 4096");
    fs::create_dir(disk.path("mounted/root")).unwrap();
    drop(Store::create_ambient(disk.path("store")).unwrap());
    let files = open(&disk);
    files.write("file", &"a".repeat(BLOCK)).unwrap();
    files.snapshot("kept").unwrap();
    // What is written in the same tick as the snapshot is not trusted anyway.
    files.snapshot("again").unwrap();
    drop(files);
    run("umount", [disk.path("mounted")]);
    disk
}

fn debugfs(disk: &Disk, request: &str) -> String {
    let image = disk.path("image");
    let done = Command::new("debugfs").args(["-w", "-R", request]).arg(image).output().unwrap();
    assert!(done.status.success(), "{request}");
    String::from_utf8(done.stdout).unwrap()
}

/// Goes back to the snapshot, and says what is there then.
fn after_going_back(disk: &Disk) -> (Vec<String>, String) {
    disk.mount();
    let files = open(disk);
    files.restore("kept").unwrap();
    let names = files.list("").unwrap().into_iter().map(|entry| entry.name).collect();
    (names, files.read("file").unwrap().content)
}

#[test]
#[ignore = "needs root"]
fn fault_07_an_entry_that_came_back_is_seen_although_its_directory_has_the_known_stamp() {
    let disk = kept();
    fs::write(disk.path("ghost"), "ghost").unwrap();
    let ghost = disk.path("ghost");
    debugfs(&disk, &format!("write {} root/ghost", ghost.display()));
    let (names, content) = after_going_back(&disk);
    assert_eq!((names, content), (vec!["file".to_owned()], "a".repeat(BLOCK)));
}

#[test]
#[ignore = "needs root"]
fn fault_07_a_file_with_its_last_stamp_but_not_its_last_content_is_seen() {
    let disk = kept();
    let said = debugfs(&disk, "blocks root/file");
    let block: u64 = said.split_whitespace().next().unwrap().parse().unwrap();
    let image = File::options().write(true).open(disk.path("image")).unwrap();
    image.write_all_at(&[b'b'; BLOCK], block * BLOCK as u64).unwrap();
    drop(image);
    let (names, content) = after_going_back(&disk);
    assert_eq!((names, content), (vec!["file".to_owned()], "a".repeat(BLOCK)));
}
