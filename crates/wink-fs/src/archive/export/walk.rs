//! Walks the entries of a tree in the order of their paths.

use std::vec;

use crate::archive::portability::{Portability, check_directory};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::path::TreePath;
use crate::tree::hash::directory_mode;
use crate::tree::{Entry, Kind, Tree};

/// Walks a tree: files, links, and directories that are empty or private; the others follow from their entries.
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

    /// Returns the problems of the names so far.
    pub(super) fn into_portability(self) -> Vec<Portability> {
        self.portability
    }

    /// Enters a directory, and returns whether it follows from its entries.
    fn enter(&mut self, path: TreePath) -> Result<bool> {
        let entries = self.tree.list(&path)?;
        check_directory(&path, &entries, &mut self.portability)?;
        let follows = !entries.is_empty() && !directory_mode(self.tree, &path)?.private;
        self.open.push((path, entries.into_iter()));
        Ok(follows)
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
