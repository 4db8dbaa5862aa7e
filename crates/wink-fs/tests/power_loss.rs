//! A disk loses power right after something was acknowledged: what was promised to be durable is there.
//!
//! The disk is a loop-mounted image whose file system is shut down without writing anything more.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::common::disk::{Disk, run};

use wink_fs::testkit::dump;
use wink_fs::{SnapshotStore, Store, VerifyOptions, Workspace};

/// A disk with a workspace and its store.
struct Machine(Disk);

impl Machine {
    fn new(make: &str) -> Self {
        let machine = Self(Disk::new(make));
        fs::create_dir(machine.path("mounted/root")).unwrap();
        drop(Store::create_ambient(machine.path("mounted/store")).unwrap());
        machine.sync();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn sync(&self) {
        run("sync", ["-f".into(), self.path("mounted")]);
    }

    /// Stops the file system as a loss of power does, and starts it again.
    ///
    /// Its device has another number then, as after a start of the machine: once that made wink take the
    /// directory for another one, and an acknowledged restore was lost.
    fn lose_power(&self) {
        run("xfs_io", ["-x", "-c", "shutdown", self.path("mounted").to_str().unwrap()]);
        self.unmount();
        let other = self.take_a_device();
        self.0.mount();
        run("losetup", ["-d", &other]);
    }

    /// Waits for what is freed in the background, which holds the directory a moment longer.
    fn unmount(&self) {
        let unmounted = || Command::new("umount").arg(self.path("mounted")).output().unwrap();
        let done = (0..6_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            unmounted().status.success()
        });
        assert!(done, "the disk is still in use after a minute");
    }

    /// Takes the first free loop device and returns its name.
    fn take_a_device(&self) -> String {
        fs::File::create(self.path("other")).unwrap().set_len(1024 * 1024).unwrap();
        let mut losetup = Command::new("losetup");
        losetup.args(["--find", "--show"]).arg(self.path("other"));
        let taken = losetup.output().expect("losetup is needed");
        assert!(taken.status.success(), "losetup needs root");
        String::from_utf8(taken.stdout).unwrap().trim().to_owned()
    }

    fn open(&self) -> Workspace {
        let store = Store::open_ambient(self.path("mounted/store")).unwrap();
        Workspace::host_with_store(self.path("mounted/root"), store).unwrap()
    }

    fn check_store(&self) {
        let store = Store::open_ambient(self.path("mounted/store")).unwrap();
        let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
        assert_eq!(found.problems, []);
        for snapshot in store.list().unwrap() {
            let tree = store.load(&snapshot.id).unwrap();
            assert_eq!(Some(wink_fs::tree_hash(&*tree).unwrap()), snapshot.tree_hash);
        }
    }
}

fn lines(files: &Workspace) -> Vec<String> {
    dump(&*files.tree()).unwrap()
}

fn fill(files: &Workspace, content: &str) {
    for file in 0..30 {
        files.write(&format!("d{}/f{file}", file % 4), &format!("{content} {file}")).unwrap();
    }
    files.symlink(&format!("link-{content}"), b"somewhere").unwrap();
    files.mkdir(&format!("empty-{content}")).unwrap();
}

fn a_snapshot_is_durable(make: &str) {
    let disk = Machine::new(make);
    for round in 0..4 {
        let files = disk.open();
        fill(&files, &format!("round {round}"));
        let expected = lines(&files);
        let taken = files.snapshot(&format!("round-{round}")).unwrap();
        drop(files);
        disk.lose_power();
        disk.check_store();
        // The files themselves were not promised; the snapshot brings them back.
        let files = disk.open();
        files.restore(&taken).unwrap();
        assert_eq!(lines(&files), expected);
        drop(files);
        disk.lose_power();
        assert_eq!(lines(&disk.open()), expected, "a restore is durable");
    }
}

fn a_restore_and_an_import_are_durable(make: &str) {
    let disk = Machine::new(make);
    let files = disk.open();
    fill(&files, "old");
    files.snapshot("old").unwrap();
    let old = lines(&files);
    files.export_archive(disk.path("archive.fs.zip")).unwrap();
    files.delete_all("d1").unwrap();
    fill(&files, "new");
    let new = lines(&files);
    disk.sync();

    files.restore("old").unwrap();
    drop(files);
    disk.lose_power();
    let files = disk.open();
    assert_eq!(lines(&files), old);
    disk.sync();

    files.restore(files.snapshots().unwrap().last().unwrap()).unwrap();
    drop(files);
    disk.lose_power();
    let files = disk.open();
    assert_eq!(lines(&files), new);
    disk.sync();

    files.import_archive(disk.path("archive.fs.zip")).unwrap();
    drop(files);
    disk.lose_power();
    assert_eq!(lines(&disk.open()), old);
    disk.check_store();
}

/// Once, undo was refused after twelve of seventeen such restores: the operation's record was never synced.
fn a_restore_can_be_undone_after_it(make: &str) {
    let disk = Machine::new(make);
    for round in 0..6 {
        let files = disk.open();
        fill(&files, &format!("old {round}"));
        let taken = files.snapshot(&format!("old-{round}")).unwrap();
        fill(&files, &format!("new {round}"));
        let new = lines(&files);
        disk.sync();
        files.restore(&taken).unwrap();
        drop(files);
        disk.lose_power();
        let files = disk.open();
        let undone = files.undo().unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(undone.conflicts, []);
        assert_eq!(lines(&files), new);
    }
}

#[test]
#[ignore = "needs root"]
fn fault_06_a_restore_can_be_undone_after_it_on_ext4() {
    a_restore_can_be_undone_after_it("mkfs.ext4 -q");
}

#[test]
#[ignore = "needs root"]
fn fault_06_a_restore_can_be_undone_after_it_on_xfs() {
    a_restore_can_be_undone_after_it("mkfs.xfs -q");
}

#[test]
#[ignore = "needs root"]
fn fault_06_a_snapshot_is_durable_on_ext4() {
    a_snapshot_is_durable("mkfs.ext4 -q");
}

#[test]
#[ignore = "needs root"]
fn fault_06_a_snapshot_is_durable_on_xfs() {
    a_snapshot_is_durable("mkfs.xfs -q");
}

#[test]
#[ignore = "needs root"]
fn fault_06_a_restore_and_an_import_are_durable_on_ext4() {
    a_restore_and_an_import_are_durable("mkfs.ext4 -q");
}

#[test]
#[ignore = "needs root"]
fn fault_06_a_restore_and_an_import_are_durable_on_xfs() {
    a_restore_and_an_import_are_durable("mkfs.xfs -q");
}
