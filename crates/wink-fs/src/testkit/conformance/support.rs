//! Helpers of the cases.

use std::fmt::Debug;

use bytes::Bytes;

use crate::error::{ErrorKind, Result};
use crate::filesystem::staged::Staged;
use crate::filesystem::{Backend, Filesystem, Put, PutCondition, PutOptions};
use crate::hash::ContentHash;
use crate::ops::{self, WriteOptions};
use crate::path::TreePath;
use crate::testkit::dump;
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::{Entry, FileMode, Kind, KnownEntry, Stat, Tree};

/// Parses a valid path.
#[track_caller]
pub(super) fn at(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

/// Makes a path of any bytes.
#[track_caller]
pub(super) fn disk(path: &[u8]) -> TreePath {
    TreePath::from_disk(path).unwrap()
}

/// Makes a file with its parents.
#[track_caller]
pub(super) fn make(fs: &mut dyn Backend, path: &str, content: impl AsRef<[u8]>) {
    make_at(fs, &at(path), content);
}

/// Makes a file with its parents, of any names.
#[track_caller]
pub(super) fn make_at(fs: &mut dyn Backend, path: &TreePath, content: impl AsRef<[u8]>) {
    let content = Bytes::copy_from_slice(content.as_ref());
    ops::write_bytes(fs, path, content, &WriteOptions::default()).unwrap();
}

/// Makes a directory with its parents.
#[track_caller]
pub(super) fn make_dir(fs: &mut dyn Backend, path: &str) {
    ops::mkdir(fs, &at(path), &ops::MkdirOptions::default()).unwrap();
}

/// A tree with one directory made private; no call of a backend makes one.
pub(super) struct WithPrivate<'a>(pub(super) &'a dyn Tree, pub(super) &'static str);

impl Tree for WithPrivate<'_> {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        let mut stat = self.0.stat(path)?;
        stat.mode.private |= *path == at(self.1);
        Ok(stat)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.0.list(path)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.0.open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.0.read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.0.known_hash(path)
    }

    fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
        self.0.list_known(path)
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
}

/// Makes a link.
#[track_caller]
pub(super) fn make_link(fs: &mut dyn Backend, path: &str, target: &str) {
    fs.symlink(&at(path), target.as_bytes()).unwrap();
}

/// Puts content at a path.
pub(super) fn put(
    fs: &mut dyn Filesystem,
    path: &str,
    content: &'static str,
    options: PutOptions,
) -> Result<Put> {
    fs.put(&at(path), &mut Staged::from_bytes(content), &options)
}

/// Puts content at a path, under a condition.
pub(super) fn put_if(
    fs: &mut dyn Filesystem,
    path: &str,
    content: &'static str,
    condition: PutCondition,
) -> Result<Put> {
    put(fs, path, content, PutOptions::default().condition(condition))
}

/// Returns a file's bytes.
#[track_caller]
pub(super) fn bytes(tree: &dyn Tree, path: &str) -> Bytes {
    tree.open(&at(path)).unwrap().read_all().unwrap()
}

/// Returns what is at a path.
#[track_caller]
pub(super) fn kind(tree: &dyn Tree, path: &str) -> Kind {
    tree.stat(&at(path)).unwrap().kind
}

/// Returns a file's mode.
#[track_caller]
pub(super) fn mode(tree: &dyn Tree, path: &str) -> FileMode {
    tree.stat(&at(path)).unwrap().mode
}

/// Returns the names of a directory's entries as bytes.
#[track_caller]
pub(super) fn names(tree: &dyn Tree, path: &str) -> Vec<Vec<u8>> {
    let entries = tree.list(&at(path)).unwrap();
    entries.iter().map(|entry| entry.name.as_bytes().to_vec()).collect()
}

/// Returns whether nothing is at a path.
pub(super) fn missing(tree: &dyn Tree, path: &str) -> bool {
    !ops::exists(tree, &at(path))
}

/// Runs something that must fail, change nothing and show no host path; returns the kind.
#[track_caller]
pub(super) fn refused<T: Debug>(
    fs: &mut dyn Backend,
    work: impl FnOnce(&mut dyn Backend) -> Result<T>,
) -> ErrorKind {
    let before = dump(fs).unwrap();
    let error = work(fs).expect_err("it must be refused");
    assert_eq!(dump(fs).unwrap(), before, "a call that fails has changed nothing: {error}");
    assert!(error.path().is_some(), "an error names the path: {error}");
    let root = &fs.properties().root;
    assert!(root.len() < 2 || !error.to_string().contains(root), "a host path shows: {error}");
    error.kind()
}

/// Returns the kind of a failed read.
#[track_caller]
pub(super) fn failure<T: Debug>(result: Result<T>) -> ErrorKind {
    result.expect_err("it must fail").kind()
}
