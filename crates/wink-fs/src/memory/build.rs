//! Builds nodes from the entries of another tree.

use std::sync::Arc;
use std::time::SystemTime;

use imbl::OrdMap;

use super::node::{Body, Directory, File, FileElsewhere, Link, Node, Times};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::descend;
use crate::tree::hash::directory_mode;
use crate::tree::scope::Exclusions;
use crate::tree::{Kind, KnownEntry, KnownFile, Tree};
use crate::util::parallel;

/// Builds nodes from everything in a tree that is not excluded.
pub(super) struct Builder<'a> {
    pub(super) target: &'a dyn Tree,
    /// The same tree if it is immutable, so that its files need not be copied.
    pub(super) shared: Option<&'a Arc<dyn Tree>>,
    pub(super) excluded: &'a Exclusions,
    pub(super) now: SystemTime,
}

impl Builder<'_> {
    /// Builds the node of an entry and everything below it.
    pub(super) fn node(&self, path: &TreePath, kind: Kind) -> Result<Node> {
        match kind {
            Kind::Directory => {
                let directory = descend(|| self.directory(path))?;
                Ok(Node::Directory(Arc::new(directory)))
            }
            Kind::File => self.copied(path),
            Kind::Symlink => {
                let target = self.target.read_link(path)?.into();
                Ok(Node::Link(Arc::new(Link { target, times: Times::new(self.now) })))
            }
            Kind::Other => {
                Err(Error::new(Operation::Replace, ErrorKind::SpecialFile).with_path(path))
            }
        }
    }

    pub(super) fn directory(&self, path: &TreePath) -> Result<Directory> {
        let entries = self.target.list_known(path)?;
        let child = |KnownEntry { entry, file, .. }: &KnownEntry| {
            let path = path.join(&entry.name)?;
            if self.excluded.matches_entry(&path) {
                return Ok::<_, Error>(None);
            }
            let node = match self.shared.zip(*file) {
                Some((tree, file)) => self.there(tree, path, file),
                None => self.node(&path, entry.kind)?,
            };
            Ok(Some((entry.name.clone(), node)))
        };
        let children = parallel::try_map(&entries, child)?;
        let children: OrdMap<_, _> = children.into_iter().flatten().collect();
        let mode = directory_mode(self.target, path)?;
        let directory = Directory::with(children, Times::new(self.now)).with_mode(mode);
        let known = self.shared.and_then(|tree| tree.known_tree_hash(path));
        Ok(known.into_iter().fold(directory, Directory::with_known_hash))
    }

    /// Builds the node of a file that stays in the other tree.
    fn there(&self, tree: &Arc<dyn Tree>, path: TreePath, file: KnownFile) -> Node {
        let KnownFile { mode, hash, size_bytes: len, .. } = file;
        let content = Body::Elsewhere(Arc::new(FileElsewhere { tree: tree.clone(), path, len }));
        Node::File(Arc::new(File { content, hash, mode, times: Times::new(self.now) }))
    }

    fn copied(&self, path: &TreePath) -> Result<Node> {
        let failed = |error| Error::system(Operation::Replace, error).with_path(path);
        let opened = self.target.open(path)?;
        let bytes = opened.read_all().map_err(failed)?;
        let hash = opened.known_hash().unwrap_or_else(|| ContentHash::of(&bytes));
        let content = Body::Bytes(bytes);
        let mode = self.target.stat(path)?.mode;
        Ok(Node::File(Arc::new(File { content, hash, mode, times: Times::new(self.now) })))
    }
}
