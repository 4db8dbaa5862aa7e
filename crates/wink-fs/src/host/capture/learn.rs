//! Makes the next index from a capture that was saved.

use super::index::{self, BlockData, Index};
use super::stamp::Stamp;
use super::tree::{Captured, Directory, Listing, Node, NodeData};
use crate::path::TreePath;
use crate::tree::Tree;
use crate::util::parallel;

impl Captured {
    /// Builds the index, with the hashes that `saved`, the same tree, knows.
    pub(in crate::host) fn learn(&self, saved: &dyn Tree) -> Option<Index> {
        let mut directories = parallel::map(&self.directories, |it| self.learnt(it, saved));
        drop_uncertain_parents(&mut directories);
        index::encode(&directories, &self.excluded, &self.host.mount_id)
    }

    fn learnt<'a>(&'a self, directory: &'a Directory, saved: &dyn Tree) -> BlockData<'a> {
        let Directory { path, listing, children, hash, stamp, is_whole, .. } = directory;
        let (rows, count, is_certain) = match listing {
            Listing::Known { block, .. } => {
                let (rows, count) = self.index.rows(*block);
                (rows, count, true)
            }
            Listing::Read(nodes) => {
                let (rows, is_certain) = self.rows(path, nodes, saved);
                (rows.into(), nodes.len() as u32, is_certain)
            }
        };
        let hash = hash.or_else(|| saved.known_tree_hash(path)).filter(|_| is_certain);
        let stamp = Some(*stamp).filter(|stamp| *is_whole && !self.is_racy(stamp));
        let mode = directory.mode();
        BlockData { hash, mode, stamp, children: children.clone(), rows, count }
    }

    /// Encodes a directory's rows, and returns whether every entry's hash can be trusted later.
    fn rows(&self, directory: &TreePath, nodes: &[Node], saved: &dyn Tree) -> (Vec<u8>, bool) {
        let mut rows = Vec::new();
        let mut is_certain = true;
        for node in nodes {
            let what = self.what(directory, node, saved);
            is_certain &= self.is_certain(&what);
            index::encode_row(&mut rows, &node.name, &what);
        }
        (rows, is_certain)
    }

    fn what(&self, directory: &TreePath, node: &Node, saved: &dyn Tree) -> NodeData {
        match node.what {
            NodeData::File { stamp, .. } if self.is_racy(&stamp) => {
                NodeData::File { stamp, hash: None }
            }
            NodeData::File { stamp, hash: None } => {
                let path = directory.join(&node.name).ok();
                let path = path.filter(|path| !self.open_for_writing.lock().contains(path));
                NodeData::File { stamp, hash: path.and_then(|path| saved.known_hash(&path)) }
            }
            what => what,
        }
    }

    /// Returns whether a later change could have the same stamp, because the clock had not ticked since.
    fn is_racy(&self, stamp: &Stamp) -> bool {
        stamp.changed.latest_meant() >= self.moment
    }

    fn is_certain(&self, what: &NodeData) -> bool {
        match what {
            NodeData::File { hash, .. } => hash.is_some(),
            NodeData::Link { stamp } => !self.is_racy(stamp),
            NodeData::Directory { .. } => true,
        }
    }
}

/// Drops the hash of every directory that has an unknown hash below it.
fn drop_uncertain_parents(directories: &mut [BlockData<'_>]) {
    for at in (0..directories.len()).rev() {
        let children = directories[at].children.clone();
        let children = &directories[children.start as usize..children.end as usize];
        if children.iter().any(|child| child.hash.is_none()) {
            directories[at].hash = None;
        }
    }
}
