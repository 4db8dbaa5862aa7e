//! What was there before a directory moved, taken from where it is now.

use std::sync::Arc;

use crate::content::Content;
use crate::error::Result;
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::{Entry, Stat, Tree};
use crate::tree_hash::TreeHash;

/// Shows what was there before, but for one directory, which is taken from another place of another tree.
pub(super) struct MovedBack {
    pub(super) before: Arc<dyn Tree>,
    /// Where the directory was.
    pub(super) to: TreePath,
    /// The tree that has it, and where.
    pub(super) now: Arc<dyn Tree>,
    pub(super) from: TreePath,
}

impl MovedBack {
    fn look<T>(
        &self,
        path: &TreePath,
        look: impl FnOnce(&dyn Tree, &TreePath) -> Result<T>,
    ) -> Result<T> {
        match path.rebase(&self.to, &self.from) {
            Some(there) => look(&*self.now, &there?).map_err(|error| error.with_path(path)),
            None => look(&*self.before, path),
        }
    }
}

impl Tree for MovedBack {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.look(path, |tree, path| tree.stat(path))
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.look(path, |tree, path| tree.list(path))
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.look(path, |tree, path| tree.open(path))
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.look(path, |tree, path| tree.read_link(path))
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.look(path, |tree, path| Ok(tree.known_hash(path))).ok().flatten()
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
}
