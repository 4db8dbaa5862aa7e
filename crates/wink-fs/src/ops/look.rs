//! Simple questions about entries, and the hash of a file.

use crate::error::{Error, Operation, Result};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// Returns whether something is there; a link exists even if its target does not.
pub fn exists(tree: &dyn Tree, path: &TreePath) -> bool {
    tree.stat(path).is_ok()
}

/// Returns whether a file is there; a link is not a file.
pub fn is_file(tree: &dyn Tree, path: &TreePath) -> bool {
    kind_is(tree, path, Kind::File)
}

/// Returns whether a directory is there; a link is not a directory.
pub fn is_dir(tree: &dyn Tree, path: &TreePath) -> bool {
    kind_is(tree, path, Kind::Directory)
}

/// Returns the hash of a file's content, and reads the file only if the hash is not known.
pub fn content_hash(tree: &dyn Tree, path: &TreePath) -> Result<ContentHash> {
    if let Some(hash) = tree.known_hash(path) {
        return Ok(hash);
    }
    let content = tree.open(path)?;
    content.hash().map_err(|error| Error::system(Operation::Read, error).with_path(path))
}

fn kind_is(tree: &dyn Tree, path: &TreePath, kind: Kind) -> bool {
    tree.stat(path).is_ok_and(|stat| stat.kind == kind)
}
