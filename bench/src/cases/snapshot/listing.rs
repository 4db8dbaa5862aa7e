//! What a snapshot holds, as far as every keeper can say: the paths of files and their sizes.

use std::collections::BTreeMap;

use anyhow::Result;
use wink_fs::{Kind, Tree, TreePath};

/// Identifies the files of a tree by their paths and sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Listing {
    pub(super) files: u64,
    bytes: u64,
    hash: blake3::Hash,
}

/// Takes files in any order.
#[derive(Default)]
pub(super) struct Lister(BTreeMap<Vec<u8>, u64>);

impl Lister {
    pub(super) fn add(&mut self, path: &[u8], bytes: u64) {
        self.0.insert(path.to_vec(), bytes);
    }

    pub(super) fn finish(self) -> Listing {
        let mut hasher = blake3::Hasher::new();
        for (path, bytes) in &self.0 {
            hasher.update(&(path.len() as u64).to_le_bytes()).update(path);
            hasher.update(&bytes.to_le_bytes());
        }
        let (files, bytes) = (self.0.len() as u64, self.0.values().sum());
        Listing { files, bytes, hash: hasher.finalize() }
    }
}

/// Lists any tree of wink's.
pub(super) fn of_tree(tree: &dyn Tree) -> Result<Listing> {
    let (mut lister, mut pending) = (Lister::default(), vec![TreePath::root()]);
    while let Some(directory) = pending.pop() {
        for entry in tree.list(&directory)? {
            let path = directory.join(&entry.name)?;
            match entry.kind {
                Kind::Directory => pending.push(path),
                _ => lister.add(path.as_bytes(), tree.stat(&path)?.size_bytes),
            }
        }
    }
    Ok(lister.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_sizes_count_and_their_order_does_not() {
        let listing = |files: &[(&str, u64)]| {
            let mut lister = Lister::default();
            files.iter().for_each(|(path, bytes)| lister.add(path.as_bytes(), *bytes));
            lister.finish()
        };
        assert_eq!(listing(&[("a", 1), ("b", 2)]), listing(&[("b", 2), ("a", 1)]));
        assert_ne!(listing(&[("a", 1), ("b", 2)]), listing(&[("a", 2), ("b", 1)]));
    }

    #[test]
    fn a_tree_is_listed_with_all_that_is_below() {
        let files = wink_fs::Workspace::memory();
        files.write("a/b", "12").unwrap();
        let mut lister = Lister::default();
        lister.add(b"a/b", 2);
        assert_eq!(of_tree(&*files.tree()).unwrap(), lister.finish());
    }
}
