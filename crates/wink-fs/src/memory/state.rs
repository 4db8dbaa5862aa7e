//! A state in memory: a root, read and changed by path.

use std::any::Any;
use std::sync::Arc;
use std::time::SystemTime;

use super::node::{Directory, Node};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::Totals;
use crate::filesystem::checks;
use crate::hash::ContentHash;
use crate::path::{Name, TreePath};
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::{Entry, Stat, Tree};

/// The files of one moment; clones share everything.
#[derive(Clone)]
pub(super) struct State {
    root: Arc<Directory>,
}

/// Why a path could not be followed.
enum Obstacle {
    Missing,
    File,
    Link,
}

impl State {
    pub(super) fn new(now: SystemTime) -> Self {
        Self { root: Arc::new(Directory::new(now)) }
    }

    /// Makes a state from its root.
    pub(super) fn with_root(root: Arc<Directory>) -> Self {
        Self { root }
    }

    /// Returns the state behind a tree, of any memory backend.
    pub(super) fn of(tree: &dyn Tree) -> Option<&Self> {
        tree.own_state()?.downcast_ref()
    }

    pub(super) fn root(&self) -> &Directory {
        &self.root
    }

    pub(super) fn totals(&self) -> Totals {
        self.root.totals()
    }

    /// Finds an existing entry.
    pub(super) fn find(&self, operation: Operation, path: &TreePath) -> Result<Node> {
        self.walk(path.segments()).map_err(|obstacle| match obstacle {
            Obstacle::Link => Error::through_link(operation, path),
            Obstacle::Missing | Obstacle::File => {
                Error::new(operation, ErrorKind::NotFound).with_path(path)
            }
        })
    }

    /// Finds what is at the path of a new entry, whose parent must exist.
    pub(super) fn find_place(&self, operation: Operation, path: &TreePath) -> Result<Option<Node>> {
        let mut parents = path.segments();
        let Some(name) = parents.next_back() else {
            return Ok(Some(Node::Directory(self.root.clone())));
        };
        match self.walk(parents) {
            Ok(Node::Directory(directory)) => {
                Ok(directory.children.get(&Name::from_segment(name)).cloned())
            }
            Ok(Node::File(_)) | Err(Obstacle::File) => {
                Err(Error::new(operation, ErrorKind::NotADirectory).with_path(path))
            }
            Ok(Node::Link(_)) | Err(Obstacle::Link) => Err(Error::through_link(operation, path)),
            Err(Obstacle::Missing) => Err(checks::no_parent(operation, path)),
        }
    }

    fn walk<'a>(&self, segments: impl Iterator<Item = &'a [u8]>) -> Result<Node, Obstacle> {
        let mut directory = &self.root;
        let mut segments = segments.peekable();
        while let Some(segment) = segments.next() {
            let child =
                directory.children.get(&Name::from_segment(segment)).ok_or(Obstacle::Missing)?;
            match child {
                Node::Directory(next) => directory = next,
                _ if segments.peek().is_none() => return Ok(child.clone()),
                Node::File(_) => return Err(Obstacle::File),
                Node::Link(_) => return Err(Obstacle::Link),
            }
        }
        Ok(Node::Directory(directory.clone()))
    }

    /// Sets or removes the entry at a path whose parent exists; the root stays.
    pub(super) fn set(&mut self, path: &TreePath, node: Option<Node>, now: SystemTime) {
        self.set_over(path, node, self.totals_at(path), now);
    }

    /// Like [`set`](Self::set), given the change of the totals.
    pub(super) fn set_over(
        &mut self,
        path: &TreePath,
        node: Option<Node>,
        taken: Totals,
        now: SystemTime,
    ) {
        if let Some(directory) = self.put_child(path, node, taken) {
            directory.times.modified = now;
        }
    }

    /// Replaces a node without changing its directory's time.
    pub(super) fn update(&mut self, path: &TreePath, node: Node) {
        self.put_child(path, Some(node), self.totals_at(path));
    }

    fn totals_at(&self, path: &TreePath) -> Totals {
        self.walk(path.segments()).map_or(Totals::default(), |old| old.totals())
    }

    fn put_child(
        &mut self,
        path: &TreePath,
        node: Option<Node>,
        taken: Totals,
    ) -> Option<&mut Directory> {
        let name = path.name()?;
        let added = node.as_ref().map_or(Totals::default(), Node::totals);
        let directory = self.change_parent(path, added, taken)?;
        match node {
            Some(node) => directory.children.insert(name, node),
            None => directory.children.remove(&name),
        };
        Some(directory)
    }

    /// Returns the parent of a path, copying only nodes that a captured state shares.
    fn change_parent(
        &mut self,
        path: &TreePath,
        added: Totals,
        taken: Totals,
    ) -> Option<&mut Directory> {
        let mut directory = Directory::change(&mut self.root, added, taken);
        let mut parents = path.segments();
        parents.next_back();
        for segment in parents {
            match directory.children.get_mut(&Name::from_segment(segment))? {
                Node::Directory(next) => directory = Directory::change(next, added, taken),
                Node::File(_) | Node::Link(_) => return None,
            }
        }
        Some(directory)
    }
}

impl Tree for State {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        Ok(self.find(Operation::Stat, path)?.stat())
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let node = self.find(Operation::List, path)?;
        checks::check_directory(path, node.kind())?;
        Ok(node.entries())
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let node = self.find(Operation::Read, path)?;
        checks::check_file(Operation::Read, path, node.kind())?;
        node.content()
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        match self.find(Operation::Read, path)? {
            Node::Link(link) => Ok(link.target.to_vec()),
            Node::File(_) | Node::Directory(_) => Err(checks::not_a_link(path)),
        }
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        match self.walk(path.segments()) {
            Ok(Node::File(file)) => Some(file.hash),
            _ => None,
        }
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        match self.walk(path.segments()) {
            Ok(Node::Directory(directory)) => Some(directory.hash()),
            _ => None,
        }
    }

    fn own_state(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
