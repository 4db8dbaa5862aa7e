//! A disk of its own: a loop-mounted image with a file system on it.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

const BYTES: u64 = 320 * 1024 * 1024;

pub(crate) fn run<S: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = S>) {
    let done = Command::new(program).args(arguments).output();
    let done = done.unwrap_or_else(|_| panic!("{program} is needed"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program} failed, it needs root and loop devices: {said}");
}

/// An image, and the directory `mounted` beside it where it is mounted.
pub(crate) struct Disk {
    directory: TempDir,
}

impl Disk {
    /// Makes a file system by a command such as `mkfs.ext4 -q`, and mounts it.
    pub(crate) fn new(make: &str) -> Self {
        let disk = Self { directory: tempfile::tempdir().unwrap() };
        fs::File::create(disk.path("image")).unwrap().set_len(BYTES).unwrap();
        let mut words = make.split(' ');
        let program = words.next().unwrap();
        run(program, words.map(PathBuf::from).chain([disk.path("image")]));
        fs::create_dir(disk.path("mounted")).unwrap();
        disk.mount();
        disk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn mount(&self) {
        run("mount", ["-o".into(), "loop".into(), self.path("image"), self.path("mounted")]);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path("mounted")).status();
    }
}
