//! A backend's files with mounted ones over them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::hash::ContentHash;
use crate::path::{Name, TreePath};
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::{Entry, Kind, Stat, Tree};

/// The mounted entries by path, including parents.
#[derive(Default)]
pub(super) struct Added(BTreeMap<TreePath, Node>);

/// A mounted entry; a file is read from the host on demand.
#[derive(Clone)]
pub(super) enum Node {
    Directory,
    Link(Vec<u8>),
    File { source: Arc<dyn Tree>, path: TreePath, stat: Stat },
}

impl Added {
    /// Adds an entry and its parents, replacing an earlier mount's.
    pub(super) fn insert(&mut self, path: TreePath, node: Node) {
        for parent in path.ancestors() {
            if !matches!(self.0.get(&parent), Some(Node::Directory)) {
                self.0.insert(parent, Node::Directory);
            }
        }
        let is_directory = matches!(node, Node::Directory);
        if !is_directory {
            self.remove_below(&path);
        }
        if !path.is_root() {
            self.0.insert(path, node);
        }
    }

    fn remove_below(&mut self, path: &TreePath) {
        let below: Vec<_> = self.below(path).map(|(path, _)| path.clone()).collect();
        below.iter().for_each(|path| drop(self.0.remove(path)));
    }

    fn below(&self, path: &TreePath) -> impl Iterator<Item = (&TreePath, &Node)> {
        let from = path.clone();
        let under = path.clone();
        let all = self.0.range(from..).take_while(move |(found, _)| found.starts_with(&under));
        let path = path.clone();
        all.filter(move |(found, _)| **found != path)
    }

    fn children(&self, directory: &TreePath) -> BTreeMap<Name, Kind> {
        let depth = directory.depth() + 1;
        let children = self.below(directory).filter(|(path, _)| path.depth() == depth);
        children.filter_map(|(path, node)| Some((path.name()?, node.kind()))).collect()
    }
}

impl Node {
    fn kind(&self) -> Kind {
        match self {
            Self::Directory => Kind::Directory,
            Self::Link(_) => Kind::Symlink,
            Self::File { .. } => Kind::File,
        }
    }
}

/// A tree with other entries over it.
pub(super) struct Overlay {
    base: Arc<dyn Tree>,
    added: Arc<Added>,
}

impl Overlay {
    pub(super) fn new(base: Arc<dyn Tree>, added: Arc<Added>) -> Self {
        Self { base, added }
    }

    /// Returns whether the base is visible at a path.
    fn base_shows(&self, path: &TreePath) -> bool {
        let hides = |above: &TreePath| {
            self.added.0.get(above).is_some_and(|node| node.kind() != Kind::Directory)
        };
        !path.ancestors().any(|above| hides(&above)) && !hides(path)
    }

    fn added(&self, path: &TreePath) -> Option<&Node> {
        self.added.0.get(path)
    }
}

fn missing(operation: Operation, path: &TreePath) -> Error {
    Error::new(operation, ErrorKind::NotFound).with_path(path)
}

impl Tree for Overlay {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        match self.added(path) {
            Some(Node::File { stat, .. }) => Ok(stat.clone()),
            Some(Node::Link(target)) => Ok(Stat::new(Kind::Symlink, target.len() as u64)),
            Some(Node::Directory) => Ok(Stat::new(Kind::Directory, 0)),
            None if self.base_shows(path) => self.base.stat(path),
            None => Err(missing(Operation::Stat, path)),
        }
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let is_added = path.is_root() || matches!(self.added(path), Some(Node::Directory));
        let base = if self.base_shows(path) { self.base.list(path) } else { Ok(Vec::new()) };
        let mut entries: BTreeMap<Name, Kind> = match base {
            Ok(entries) => entries.into_iter().map(|entry| (entry.name, entry.kind)).collect(),
            // A mounted directory replaces anything else.
            Err(_) if is_added => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        entries.extend(self.added.children(path));
        Ok(entries.into_iter().map(|(name, kind)| Entry::new(name, kind)).collect())
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        match self.added(path) {
            Some(Node::File { source, path: from, stat }) => {
                let content = source.open(from).map_err(|error| error.with_path(path))?;
                if content.len() == stat.size_bytes { Ok(content) } else { Err(grown(path)) }
            }
            Some(node) => Err(checks::check_file(Operation::Read, path, node.kind())
                .err()
                .unwrap_or_else(|| missing(Operation::Read, path))),
            None if self.base_shows(path) => self.base.open(path),
            None => Err(missing(Operation::Read, path)),
        }
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        match self.added(path) {
            Some(Node::Link(target)) => Ok(target.clone()),
            Some(_) => Err(checks::not_a_link(path)),
            None if self.base_shows(path) => self.base.read_link(path),
            None => Err(missing(Operation::Read, path)),
        }
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        let shows = self.added(path).is_none() && self.base_shows(path);
        shows.then(|| self.base.known_hash(path)).flatten()
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
}

fn grown(path: &TreePath) -> Error {
    Error::new(Operation::Mount, ErrorKind::Conflict)
        .with_path(path)
        .with_detail("the host file changed its size while it was mounted; mount again")
}
