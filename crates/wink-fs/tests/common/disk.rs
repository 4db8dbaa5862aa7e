//! A disk of its own: a loop-mounted image with a file system on it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const BYTES: u64 = 320 * 1024 * 1024;

pub(crate) fn run<S: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = S>) {
    let done = Command::new(program).args(arguments).output();
    let done = done.unwrap_or_else(|_| panic!("{program} is needed"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program} failed, it needs root and loop devices: {said}");
}

/// Makes an image with a file system by a command such as `mkfs.ext4 -q`.
pub(crate) fn make_image(make: &str, image: &Path, bytes: u64) {
    fs::File::create(image).unwrap().set_len(bytes).unwrap();
    let mut words = make.split(' ');
    let program = words.next().unwrap();
    run(program, words.map(PathBuf::from).chain([image.to_path_buf()]));
}

/// An image, and the directory `mounted` beside it where it is mounted.
pub(crate) struct Disk {
    directory: TempDir,
}

impl Disk {
    /// Makes a file system by a command such as `mkfs.ext4 -q`, and mounts it.
    pub(crate) fn new(make: &str) -> Self {
        let disk = Self::without_image(tempfile::tempdir().unwrap());
        make_image(make, &disk.path("image"), BYTES);
        disk.mount();
        disk
    }

    /// Does the same in memory, for what is slow only because it waits for a disk.
    #[allow(dead_code, reason = "not every test program has so much to do")]
    pub(crate) fn in_memory(make: &str) -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").expect("/dev/shm is needed");
        let disk = Self::without_image(directory);
        make_image(make, &disk.path("image"), BYTES);
        disk.mount();
        disk
    }

    /// Takes a directory, in which the image is still to be made.
    pub(crate) fn without_image(directory: TempDir) -> Self {
        fs::create_dir(directory.path().join("mounted")).unwrap();
        Self { directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn mount(&self) {
        self.mount_with("loop");
    }

    pub(crate) fn mount_with(&self, options: &str) {
        run("mount", ["-o".into(), options.into(), self.path("image"), self.path("mounted")]);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path("mounted")).status();
    }
}
