//! A workspace with a store, of either backend, and what its files are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tempfile::TempDir;
use wink_fs::testkit::dump;
use wink_fs::{ConflictKind, HostBackend, MergeOptions, Merged, OnConflict, Store, Workspace};

/// A workspace on disk, with what it needs.
pub(crate) struct Scene {
    directory: TempDir,
    pub(crate) files: Workspace,
}

impl Scene {
    pub(crate) fn on_disk() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("root")).unwrap();
        let store = Store::create_ambient(directory.path().join("store")).unwrap();
        let files = Workspace::host_with_store(directory.path().join("root"), store).unwrap();
        Self { directory, files }
    }

    pub(crate) fn in_memory() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), files: Workspace::memory() }
    }

    pub(crate) fn both() -> [Self; 2] {
        [Self::in_memory(), Self::on_disk()]
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Takes a snapshot of the files and makes a fork of it.
    pub(crate) fn fork(&self) -> Workspace {
        self.files.fork(wink_fs::StateRef::Live).unwrap()
    }
}

/// Writes files; a content of `None` deletes.
pub(crate) fn write(files: &Workspace, contents: &[(&str, Option<&str>)]) {
    for (path, content) in contents {
        match content {
            Some(content) => drop(files.write(path, content).unwrap()),
            None => drop(files.delete_all(path).unwrap()),
        }
    }
}

/// Returns the text of every file.
pub(crate) fn texts(files: &Workspace) -> BTreeMap<String, String> {
    let found = files.glob("**/*", "").unwrap();
    let paths = found.paths.iter().map(ToString::to_string).filter(|it| files.is_file(it));
    paths.map(|path| (path.clone(), files.read(&path).unwrap().content)).collect()
}

pub(crate) fn lines(files: &Workspace) -> Vec<String> {
    dump(&*files.tree()).unwrap()
}

pub(crate) fn conflicts(merged: &Merged) -> Vec<(String, ConflictKind)> {
    merged.conflicts.iter().map(|it| (it.path.to_string(), it.kind)).collect()
}

pub(crate) fn favouring(on_conflict: OnConflict) -> MergeOptions {
    MergeOptions::default().on_conflict(on_conflict)
}

/// Opens a directory of the host without a history.
pub(crate) fn opened(path: PathBuf) -> Workspace {
    Workspace::builder(HostBackend::open_ambient(path).unwrap()).build()
}
