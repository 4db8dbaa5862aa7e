//! A disk loses power, and of what was not flushed it has written any part, in any order, some of it
//! torn: what was acknowledged is there, and no snapshot is half there.
//!
//! The writes are those that the kernel's own file system makes, so what it relies on is tried as well
//! as what wink relies on; see `logged_disk`. A replay of system calls would take the order that a file
//! system keeps between files for granted, and there is no device mapper to count on (`dm-log-writes`).
//!
//! By default a part of the states is tried, with `WINK_LONG_TESTS` in the environment a thousand.

mod logged_disk;
mod lost;

use crate::common::trees;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use crate::common::disk::Disk;
use crate::common::trees::Random;
use logged_disk::{LoggedDisk, copy_image, directory};
use lost::{Step, read_log, write_lossy};
use rayon::prelude::*;
use wink_fs::testkit::dump;
use wink_fs::{SnapshotStore, Store, VerifyOptions, Workspace};

const MEBIBYTE: u64 = 1024 * 1024;

/// Something that was promised: from one place of the log on, and for files up to another.
enum Promise {
    Snapshot { tag: String, from: usize },
    Files { lines: Vec<String>, from: usize, to: usize },
}

/// A file system: how it is made, on how large a disk, and how one that was copied is mounted.
struct Kind {
    make: &'static str,
    bytes: u64,
    options: &'static str,
}

/// What was done on a disk, and what was promised.
struct Recorded {
    kind: Kind,
    disk: LoggedDisk,
    steps: Vec<Step>,
    /// Where in the log each step ends.
    ends: Vec<usize>,
    /// Where in the log the workspace was there, and nothing else.
    start: usize,
    promises: Vec<Promise>,
    contents: BTreeMap<String, Vec<String>>,
}

fn open(mounted: &Path) -> Workspace {
    let store = Store::open_ambient(mounted.join("store")).unwrap();
    Workspace::host_with_store(mounted.join("root"), store).unwrap()
}

fn lines(files: &Workspace) -> Vec<String> {
    dump(&*files.tree()).unwrap()
}

/// Takes snapshots and goes back to them, and writes down what is promised meanwhile.
fn record(kind: Kind) -> Recorded {
    let disk = LoggedDisk::new(kind.make, kind.bytes);
    let mounted = disk.path("mounted");
    fs::create_dir(mounted.join("root")).unwrap();
    drop(Store::create_ambient(mounted.join("store")).unwrap());
    disk.sync();
    let (start, files) = (disk.position(), open(&mounted));
    let (mut promises, mut contents) = (Vec::new(), BTreeMap::new());
    for round in 0..4 {
        let tag = format!("round-{round}");
        change(&files, round);
        contents.insert(tag.clone(), lines(&files));
        files.snapshot(&tag).unwrap();
        promises.push(Promise::Snapshot { tag, from: disk.position() });
        if round > 0 {
            promises.push(go_back(&disk, &files, round - 1));
        }
    }
    drop(files);
    let log = fs::read(disk.path("log")).unwrap();
    let (steps, ends) = read_log(&log);
    Recorded { kind, disk, steps, ends, start, promises, contents }
}

fn change(files: &Workspace, round: usize) {
    for file in 0..12 {
        let content = format!("round {round} file {file}\n").repeat(1 + file * 40);
        files.write(&format!("d{}/f{}", file % 3, file + round), &content).unwrap();
    }
    files.write_bytes(&format!("big-{round}"), trees::noise(200_000, round as u64)).unwrap();
    files.symlink(&format!("link-{round}"), b"somewhere").unwrap();
    files.delete_all("d1").unwrap();
}

fn go_back(disk: &LoggedDisk, files: &Workspace, round: usize) -> Promise {
    files.restore(&*format!("round-{round}")).unwrap();
    let (lines, from) = (lines(files), disk.position());
    // What the kernel writes of its own accord changes nothing.
    disk.sync();
    Promise::Files { lines, from, to: disk.position() }
}

impl Recorded {
    /// Makes the disk as it may be when power is lost right after a step, and looks at it.
    fn check(&self, last: usize, seed: u64) {
        let directory = directory();
        let image = directory.path().join("image");
        copy_image(&self.disk.path("first"), &image);
        write_lossy(&image, &self.steps[..=last], &mut Random(seed));
        let disk = Disk::without_image(directory);
        mount(&disk, self.kind.options);
        let what = format!("seed {seed}, after step {last} of {}", self.steps.len());
        self.check_store(&disk.path("mounted/store"), self.ends[last], &what);
        self.check_files(&disk.path("mounted"), self.ends[last], &what);
    }

    fn check_store(&self, place: &Path, position: usize, what: &str) {
        let store = Store::open_ambient(place).unwrap();
        let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
        assert_eq!(found.problems, [], "{what}");
        let snapshots = store.list().unwrap();
        for promise in &self.promises {
            let Promise::Snapshot { tag, from } = promise else { continue };
            let is_there = snapshots.iter().any(|it| it.tag.as_ref() == Some(tag));
            assert!(is_there || position < *from, "{what}: {tag} is lost");
        }
        for snapshot in &snapshots {
            let tree = store.load(&snapshot.id).unwrap();
            assert_eq!(Some(wink_fs::tree_hash(&*tree).unwrap()), snapshot.tree_hash, "{what}");
            let Some(tag) = &snapshot.tag else { continue };
            assert!(dump(&*tree).unwrap() == self.contents[tag], "{what}: {tag} is another");
        }
    }

    fn check_files(&self, mounted: &Path, position: usize, what: &str) {
        let files = open(mounted);
        for promise in &self.promises {
            let Promise::Files { lines: promised, from, to } = promise else { continue };
            if (*from..=*to).contains(&position) {
                assert!(lines(&files) == *promised, "{what}: a restore is lost");
            }
        }
        files.write("after", "the loss").unwrap();
        for snapshot in files.snapshots().unwrap() {
            let Some(tag) = &snapshot.tag else { continue };
            files.restore(&snapshot).unwrap();
            assert!(lines(&files) == self.contents[tag], "{what}: {tag} comes back as another");
        }
    }
}

/// One at a time: those who look for a free loop device take it from each other.
fn mount(disk: &Disk, options: &str) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock();
    disk.mount_with(options);
}

fn check_states(kind: Kind, states: usize) {
    let recorded = record(kind);
    let first = recorded.ends.iter().position(|end| *end > recorded.start).unwrap();
    let moments = recorded.steps.len() - first;
    assert!(moments > 100, "{moments} writes and flushes are few");
    let long = std::env::var_os("WINK_LONG_TESTS").is_some();
    let states = if long { 1_000 } else { states };
    (0..states as u64).into_par_iter().for_each(|seed| {
        recorded.check(first + Random(seed ^ 7).below(moments), seed);
    });
}

#[test]
#[ignore = "needs root"]
fn fault_07_what_was_acknowledged_survives_lost_and_reordered_writes_on_ext4() {
    let ext4 = Kind { make: "mkfs.ext4 -q", bytes: 32 * MEBIBYTE, options: "loop" };
    check_states(ext4, 60);
}

#[test]
#[ignore = "needs root"]
fn fault_07_what_was_acknowledged_survives_lost_and_reordered_writes_on_xfs() {
    let xfs = Kind { make: "mkfs.xfs -q", bytes: 320 * MEBIBYTE, options: "loop,nouuid" };
    check_states(xfs, 30);
}
