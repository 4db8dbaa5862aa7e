//! The entries of a tree in the order of their paths.

use std::vec;

use crate::archive::portability::{Portability, check_directory};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::path::TreePath;
use crate::tree::{Entry, Kind, Tree};

/// Walks a tree: files, links and those directories that have no entries.
pub(super) struct Walk<'a> {
    tree: &'a dyn Tree,
    open: Vec<(TreePath, vec::IntoIter<Entry>)>,
    portability: Vec<Portability>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(tree: &'a dyn Tree) -> Result<Self> {
        let mut walk = Self { tree, open: Vec::new(), portability: Vec::new() };
        walk.enter(TreePath::root())?;
        Ok(walk)
    }

    /// Returns what is the matter with the names seen.
    pub(super) fn into_portability(self) -> Vec<Portability> {
        self.portability
    }

    /// Goes into a directory, and returns whether it has entries.
    fn enter(&mut self, path: TreePath) -> Result<bool> {
        let entries = self.tree.list(&path)?;
        check_directory(&path, &entries, &mut self.portability)?;
        let has_entries = !entries.is_empty();
        self.open.push((path, entries.into_iter()));
        Ok(has_entries)
    }

    fn step(&mut self) -> Result<Option<(TreePath, Kind)>> {
        while let Some((directory, entries)) = self.open.last_mut() {
            let Some(entry) = entries.next() else {
                self.open.pop();
                continue;
            };
            let path = directory.join(&entry.name)?;
            match entry.kind {
                Kind::Directory if self.enter(path.clone())? => {}
                Kind::Other => return Err(special(&path)),
                kind => return Ok(Some((path, kind))),
            }
        }
        Ok(None)
    }
}

fn special(path: &TreePath) -> Error {
    Error::new(Operation::Export, ErrorKind::SpecialFile)
        .with_path(path)
        .with_detail("it is a FIFO, socket or device, which no archive holds; delete it first")
}

impl Iterator for Walk<'_> {
    type Item = Result<(TreePath, Kind)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}
