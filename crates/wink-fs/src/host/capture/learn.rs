//! From a capture that was saved to the index of the next one.

use rayon::prelude::*;

use super::index::{self, Index};
use super::stamp::Stamp;
use super::tree::{Captured, Directory, Node, What};
use crate::path::TreePath;
use crate::tree::Tree;

impl Captured {
    /// Writes down what is known of the capture, with the hashes that `saved`, the same tree, knows.
    pub(in crate::host) fn learn(&self, saved: &dyn Tree) -> Option<Index> {
        let directories = self.directories.par_iter().map(|it| self.learnt(it, saved));
        let mut directories: Vec<Directory> = directories.collect();
        forget_above(&mut directories);
        index::encode(&directories)
    }

    fn learnt(&self, directory: &Directory, saved: &dyn Tree) -> Directory {
        let Directory { path, nodes, hash, hides } = directory;
        let what = |node: &Node| self.what(path, node, saved);
        let node = |node: &Node| Node { name: node.name.clone(), what: what(node) };
        let nodes: Vec<Node> = nodes.iter().map(node).collect();
        let certain = nodes.iter().all(|node| self.is_certain(&node.what));
        let hash = hash.or_else(|| saved.known_tree_hash(path)).filter(|_| certain);
        Directory { path: path.clone(), nodes, hash, hides: *hides }
    }

    fn what(&self, directory: &TreePath, node: &Node, saved: &dyn Tree) -> What {
        match node.what {
            What::File { stamp, .. } if self.is_racy(&stamp) => What::File { stamp, hash: None },
            What::File { stamp, hash: None } => {
                let path = directory.join(&node.name).ok();
                What::File { stamp, hash: path.and_then(|path| saved.known_hash(&path)) }
            }
            what => what,
        }
    }

    /// A stamp as late as the walk itself may hide a change within the same tick of the clock.
    fn is_racy(&self, stamp: &Stamp) -> bool {
        stamp.changed >= self.moment
    }

    fn is_certain(&self, what: &What) -> bool {
        match what {
            What::File { hash, .. } => hash.is_some(),
            What::Link { stamp } => !self.is_racy(stamp),
            What::Directory { .. } => true,
        }
    }
}

/// A directory is known only where all that is below it is.
fn forget_above(directories: &mut [Directory]) {
    for at in (0..directories.len()).rev() {
        let (above, below) = directories.split_at_mut(at + 1);
        let is_known = |node: &Node| match node.what {
            What::Directory { number } => below[number as usize - at - 1].hash.is_some(),
            _ => true,
        };
        if !above[at].nodes.iter().all(is_known) {
            above[at].hash = None;
        }
    }
}
