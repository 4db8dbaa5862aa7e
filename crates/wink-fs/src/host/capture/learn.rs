//! From a capture that was saved to the index of the next one.

use super::index::{self, Index, Learnt};
use super::stamp::Stamp;
use super::tree::{Captured, Directory, Listing, Node, What};
use crate::path::TreePath;
use crate::tree::Tree;
use crate::util::parallel;

impl Captured {
    /// Writes down what is known of the capture, with the hashes that `saved`, the same tree, knows.
    pub(in crate::host) fn learn(&self, saved: &dyn Tree) -> Option<Index> {
        let mut directories = parallel::map(&self.directories, |it| self.learnt(it, saved));
        forget_above(&mut directories);
        index::encode(&directories, &self.excluded, &self.host.mounting)
    }

    fn learnt<'a>(&'a self, directory: &'a Directory, saved: &dyn Tree) -> Learnt<'a> {
        let Directory { path, listing, children, hash, stamp, is_whole, .. } = directory;
        let (rows, count, is_certain) = match listing {
            Listing::Known { block, .. } => {
                let (rows, count) = self.index.rows(*block);
                (rows, count, true)
            }
            Listing::Looked(nodes) => {
                let (rows, is_certain) = self.rows(path, nodes, saved);
                (rows.into(), nodes.len() as u32, is_certain)
            }
        };
        let hash = hash.or_else(|| saved.known_tree_hash(path)).filter(|_| is_certain);
        let stamp = Some(*stamp).filter(|stamp| *is_whole && !self.is_racy(stamp));
        Learnt { hash, stamp, children: children.clone(), rows, count }
    }

    /// Writes the rows of a directory, and tells whether nothing in it is uncertain.
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

    fn what(&self, directory: &TreePath, node: &Node, saved: &dyn Tree) -> What {
        match node.what {
            What::File { stamp, .. } if self.is_racy(&stamp) => What::File { stamp, hash: None },
            What::File { stamp, hash: None } => {
                let path = directory.join(&node.name).ok();
                let path = path.filter(|path| !self.open_for_writing().contains(path));
                What::File { stamp, hash: path.and_then(|path| saved.known_hash(&path)) }
            }
            what => what,
        }
    }

    /// A stamp as late as the walk itself may hide a change within the same tick of the clock.
    fn is_racy(&self, stamp: &Stamp) -> bool {
        stamp.changed.latest_meant() >= self.moment
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
fn forget_above(directories: &mut [Learnt<'_>]) {
    for at in (0..directories.len()).rev() {
        let children = directories[at].children.clone();
        let children = &directories[children.start as usize..children.end as usize];
        if children.iter().any(|child| child.hash.is_none()) {
            directories[at].hash = None;
        }
    }
}
