//! A disk whose writes and flushes are written down in their order.
//!
//! The kernel's ext4 or XFS writes to a loop device, the loop device to a file of `nbdfuse`, and that
//! to `nbdkit`, whose plugin `write_log.py` keeps the log.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::common::disk::{make_image, run};

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reordered/write_log.py");

/// Kept in memory: what the disk lost is decided later, from the log.
pub(crate) fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").expect("/dev/shm is needed")
}

/// Copies an image, leaving its holes holes.
pub(crate) fn copy_image(from: &Path, to: &Path) {
    run("cp", [Path::new("--sparse=always"), from, to]);
}

/// The disk, mounted at `mounted`; `first` is its image before anything was written down.
pub(crate) struct LoggedDisk {
    directory: TempDir,
    server: Child,
}

impl LoggedDisk {
    pub(crate) fn new(make: &str, bytes: u64) -> Self {
        let directory = directory();
        let path = |name: &str| directory.path().join(name);
        make_image(make, &path("image"), bytes);
        copy_image(&path("image"), &path("first"));
        fs::write(path("log"), "").unwrap();
        fs::create_dir(path("served")).unwrap();
        fs::create_dir(path("mounted")).unwrap();
        let server = serve(directory.path());
        let disk = Self { directory, server };
        disk.wait_until_served();
        run("mount", ["-o".into(), "loop".into(), disk.path("served/nbd"), disk.path("mounted")]);
        disk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns how long the log is now.
    pub(crate) fn position(&self) -> usize {
        fs::metadata(self.path("log")).unwrap().len() as usize
    }

    /// Makes everything durable that was written so far.
    pub(crate) fn sync(&self) {
        run("sync", ["-f".into(), self.path("mounted")]);
    }

    fn wait_until_served(&self) {
        let served = (0..6_000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            self.path("served/nbd").exists()
        });
        assert!(
            served,
            "nbdfuse serves no disk: it needs /dev/fuse, nbdkit and its plugin `python`"
        );
    }
}

fn serve(directory: &Path) -> Child {
    let setting = |name: &str| format!("{name}={}", directory.join(name).display());
    let mut nbdfuse = Command::new("nbdfuse");
    nbdfuse.arg(directory.join("served")).arg("--command");
    nbdfuse.args(["nbdkit", "-s", "--exit-with-parent", "python", PLUGIN]);
    nbdfuse.args([setting("image"), setting("log")]).stdout(Stdio::null()).stderr(Stdio::null());
    nbdfuse.spawn().expect("nbdfuse is needed")
}

impl Drop for LoggedDisk {
    fn drop(&mut self) {
        let unmount = |name: &str| {
            let _ = Command::new("umount").arg("-l").arg(self.path(name)).status();
        };
        unmount("mounted");
        unmount("served");
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
