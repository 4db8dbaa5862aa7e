//! A workspace for one test.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wink_fs::testkit::dump;
use wink_fs::{
    FileMode, MemoryBackend, Result, Retention, Store, TreePath, Workspace, WriteOptions, ops,
};

/// A workspace, and the directory it lies in if it does.
pub(crate) struct Scene {
    pub(crate) files: Workspace,
    directory: TempDir,
}

impl Scene {
    pub(crate) fn memory() -> Self {
        let files = Workspace::builder(MemoryBackend::new());
        let files = files.retention(Retention::everything()).build();
        Self { files, directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn host() -> Self {
        Self::host_in(std::env::temp_dir())
    }

    pub(crate) fn host_in(place: impl AsRef<Path>) -> Self {
        let directory = tempfile::tempdir_in(place).unwrap();
        fs::create_dir(directory.path().join("root")).unwrap();
        let store = Store::create_ambient(directory.path().join("store")).unwrap();
        let files = open(&directory.path().join("root"), store);
        Self { files, directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Opens the directory once more, as another process would.
    pub(crate) fn open_again(&self) -> Workspace {
        let store = Store::open_ambient(self.path("store")).unwrap();
        open(&self.path("root"), store)
    }
}

/// Opens a workspace that keeps every snapshot.
fn open(root: &Path, store: Store) -> Workspace {
    let files = Workspace::host_builder(root, store).unwrap();
    files.retention(Retention::everything()).build()
}

macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        mod memory {
            $(#[test] fn $case() { super::$case(crate::history::scene::Scene::memory()) })*
        }
        mod host {
            $(#[test] fn $case() { super::$case(crate::history::scene::Scene::host()) })*
        }
    };
}

pub(crate) fn lines(files: &Workspace) -> Vec<String> {
    dump(&*files.tree()).unwrap()
}

pub(crate) fn varied(files: &Workspace) {
    files.write("a.txt", "one\ntwo\n").unwrap();
    files.write("crlf", "one\r\ntwo\r\n").unwrap();
    files.write(".gitignore", "*\n").unwrap();
    files.write("nested/.git/config", "[core]").unwrap();
    files.write("nested/.git/objects/ab/cd", "x").unwrap();
    files.write("run.sh", "#!/bin/sh\n").unwrap();
    files.set_mode("run.sh", FileMode::default().executable(true)).unwrap();
    files.write("key", "secret").unwrap();
    files.set_mode("key", FileMode::default().private(true)).unwrap();
    files.mkdir("empty/below").unwrap();
    files.symlink("link", b"../outside").unwrap();
    files.write_bytes(r"caf\xe9\x0a", &b"\xff\0"[..]).unwrap();
}

pub(crate) fn ruin(files: &Workspace) {
    files.write("a.txt", "changed").unwrap();
    files.write("new/file", "new").unwrap();
    files.delete_all("nested").unwrap();
    files.delete_all("empty").unwrap();
    files.delete("link").unwrap();
    files.write("link", "a file now").unwrap();
    files.set_mode("run.sh", FileMode::default()).unwrap();
    files.delete(r"caf\xe9\x0a").unwrap();
    files.rename("crlf", "lf").unwrap();
}

pub(crate) fn rewrite(fs: &mut dyn wink_fs::Filesystem, path: &str, content: &str) -> Result<()> {
    let path = TreePath::parse(path)?;
    ops::write(fs, &path, content, &WriteOptions::default()).map(drop)
}

pub(crate) use on_both;
