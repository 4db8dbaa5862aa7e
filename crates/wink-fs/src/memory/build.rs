//! Nodes made of the entries of another tree.

use std::sync::Arc;
use std::time::SystemTime;

use imbl::OrdMap;

use super::body::{Body, There};
use super::node::{Directory, File, Link, Node, Times};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::descend::descend;
use crate::tree::scope::Exclusions;
use crate::tree::{Kind, KnownEntry, KnownFile, Tree};
use crate::util::parallel;

/// Makes nodes of what is in another tree and not excluded.
pub(super) struct Builder<'a> {
    pub(super) target: &'a dyn Tree,
    /// The same tree where it never changes, so that its files need not be copied.
    pub(super) shared: Option<&'a Arc<dyn Tree>>,
    pub(super) excluded: &'a Exclusions,
    pub(super) now: SystemTime,
}

impl Builder<'_> {
    /// Makes the node of an entry, with all that is below it.
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
                return Ok(None);
            }
            let node = match self.shared.zip(*file) {
                Some((tree, file)) => self.there(tree, path, file),
                None => self.node(&path, entry.kind)?,
            };
            Ok(Some((entry.name.clone(), node)))
        };
        let children = parallel::try_map(&entries, child)?;
        let children: OrdMap<_, _> = children.into_iter().flatten().collect();
        let directory = Directory::with(children, Times::new(self.now));
        let known = self.shared.and_then(|tree| tree.known_tree_hash(path));
        Ok(known.into_iter().fold(directory, Directory::with_known_hash))
    }

    /// Makes the node of a file that is read where it is.
    fn there(&self, tree: &Arc<dyn Tree>, path: TreePath, file: KnownFile) -> Node {
        let KnownFile { mode, hash, size_bytes: len, .. } = file;
        let content = Body::There(Arc::new(There { tree: tree.clone(), path, len }));
        Node::File(Arc::new(File { content, hash, mode, times: Times::new(self.now) }))
    }

    fn copied(&self, path: &TreePath) -> Result<Node> {
        let failed = |error| Error::system(Operation::Replace, error).with_path(path);
        let opened = self.target.open(path)?;
        let bytes = opened.read_all().map_err(failed)?;
        let hash = opened.known_hash().unwrap_or_else(|| ContentHash::of(&bytes));
        let (content, mode) = (Body::Here(bytes), self.target.stat(path)?.mode);
        Ok(Node::File(Arc::new(File { content, hash, mode, times: Times::new(self.now) })))
    }
}
