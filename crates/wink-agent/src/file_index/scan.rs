//! Scans the files of a workspace.

use std::collections::BTreeMap;
use std::time::SystemTime;

use wink_fs::{ContentHash, ErrorKind, Kind, Result, Tree, TreePath, ops};

use crate::session::{Encoding, FileChange};

/// How much of a file is looked at to guess whether it is text.
const LOOKED_AT: u64 = 8 * 1024;

/// The largest file whose content is remembered by its hash.
const HASHED: u64 = 1024 * 1024;

/// The result of scanning a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    size_bytes: u64,
    modified_at: Option<SystemTime>,
    hash: Option<ContentHash>,
}

impl Found {
    pub(super) fn written(&self, path: TreePath, encoding: Option<Encoding>) -> FileChange {
        FileChange::written(path, self.size_bytes, encoding)
    }

    pub(super) fn has_size(&self, size_bytes: u64) -> bool {
        self.size_bytes == size_bytes
    }

    /// Adds the hash of the content, if that is not large.
    pub(super) fn hashed(mut self, tree: &dyn Tree, path: &TreePath) -> Self {
        let is_small = self.size_bytes <= HASHED;
        self.hash = is_small.then(|| ops::content_hash(tree, path).ok()).flatten();
        self
    }

    /// Returns whether no program has touched the file since.
    pub(super) fn is_untouched(&self, later: &Self) -> bool {
        self.size_bytes == later.size_bytes && self.modified_at == later.modified_at
    }

    /// Returns whether the content is the same; none if the old content is unknown.
    pub(super) fn has_content_of(&self, later: &Self) -> Option<bool> {
        match (self.size_bytes == later.size_bytes, self.hash) {
            (false, _) => Some(false),
            (true, Some(hash)) => Some(Some(hash) == later.hash),
            (true, None) => None,
        }
    }
}

/// Scans one entry; none if it is not a file, or was deleted.
pub(super) fn at(tree: &dyn Tree, path: &TreePath) -> Result<Option<Found>> {
    let file = unless_gone(tree.stat(path))?.filter(|stat| stat.kind == Kind::File);
    Ok(file.map(|stat| Found {
        size_bytes: stat.size_bytes,
        modified_at: stat.modified_at,
        hash: None,
    }))
}

/// Looks at the files at some paths, and at all below them.
pub(super) fn look(tree: &dyn Tree, paths: &[TreePath]) -> Result<BTreeMap<TreePath, Found>> {
    let mut found = BTreeMap::new();
    let mut pending = Vec::new();
    for path in paths {
        match unless_gone(tree.stat(path))?.map(|stat| stat.kind) {
            Some(Kind::Directory) => pending.push(path.clone()),
            Some(Kind::File) => found.extend(at(tree, path)?.map(|file| (path.clone(), file))),
            _ => {}
        }
    }
    while let Some(directory) = pending.pop() {
        for entry in unless_gone(tree.list(&directory))?.unwrap_or_default() {
            let path = directory.join(&entry.name)?;
            match entry.kind {
                Kind::Directory => pending.push(path),
                Kind::File => found.extend(at(tree, &path)?.map(|file| (path, file))),
                _ => {}
            }
        }
    }
    Ok(found)
}

/// Another program may delete from a disk what was just listed.
fn unless_gone<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Guesses from the beginning of a file; it is a hint, and a file that cannot be read has none.
pub(super) fn encoding(tree: &dyn Tree, path: &TreePath) -> Option<Encoding> {
    let content = tree.open(path).ok()?;
    let start = content.read_range(0, LOOKED_AT).ok()?;
    Some(match std::str::from_utf8(&start) {
        _ if start.contains(&0) => Encoding::Binary,
        Ok(_) => Encoding::Utf8,
        // The sample may end within a character.
        Err(error) if error.error_len().is_none() && content.len() > LOOKED_AT => Encoding::Utf8,
        Err(_) => Encoding::Binary,
    })
}
