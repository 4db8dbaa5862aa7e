//! Hashes of files that a call knows without reading them.

use std::any::Any;
use std::collections::BTreeMap;

use super::content_id::ContentId;
use crate::error::Result;
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::merkle::Identity;
use crate::tree::{Entry, KnownEntry, Stat, Tree};

/// Known hashes of files and of whole directories, by path.
#[derive(Default)]
pub(crate) struct Hashes {
    files: BTreeMap<TreePath, ContentHash>,
    directories: Vec<(TreePath, TreeHash)>,
}

impl Hashes {
    pub(super) fn note(&mut self, path: &TreePath, hash: ContentHash) {
        self.files.insert(path.clone(), hash);
    }

    /// Notes the hash of an entry at its new path.
    pub(super) fn note_moved(&mut self, to: &TreePath, moved: &ContentId) {
        match moved {
            ContentId::Entry(Identity::File { hash, .. }) => self.note(to, *hash),
            ContentId::Entry(Identity::Directory(hash)) => {
                self.directories.push((to.clone(), *hash))
            }
            _ => {}
        }
    }

    /// Forgets everything at a path and below it, and the directories above it.
    pub(super) fn forget(&mut self, path: &TreePath) {
        self.directories.retain(|(known, _)| !known.overlaps(path));
        if self.files.is_empty() {
            return;
        }
        let from_there = self.files.range(path.clone()..).map(|(known, _)| known);
        let below = from_there.take_while(|known| known.starts_with(path)).cloned();
        for known in below.collect::<Vec<_>>() {
            self.files.remove(&known);
        }
    }

    pub(crate) fn of(&self, path: &TreePath) -> Option<ContentHash> {
        self.files.get(path).copied()
    }

    fn of_directory(&self, path: &TreePath) -> Option<TreeHash> {
        self.directories.iter().find(|(known, _)| known == path).map(|(_, hash)| *hash)
    }

    /// Returns the tree with these hashes known.
    pub(crate) fn within<'t>(&'t self, tree: &'t dyn Tree) -> impl Tree + 't {
        WithHashes { tree, hashes: self }
    }
}

struct WithHashes<'t> {
    tree: &'t dyn Tree,
    hashes: &'t Hashes,
}

#[deny(clippy::missing_trait_methods)]
impl Tree for WithHashes<'_> {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.tree.stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.tree.list(path)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.tree.open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.tree.read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.hashes.of(path).or_else(|| self.tree.known_hash(path))
    }

    fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
        self.tree.list_known(path)
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        self.hashes.of_directory(path).or_else(|| self.tree.known_tree_hash(path))
    }

    fn own_state(&self) -> Option<&dyn Any> {
        None
    }
}
