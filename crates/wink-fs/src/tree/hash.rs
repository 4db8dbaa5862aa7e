//! The hash of a tree: equal trees have equal hashes, on every backend.

use std::fmt;

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::ops;
use crate::path::TreePath;
use crate::tree::descend;
use crate::tree::merkle::{self, Identity};
use crate::tree::{Entry, FileMode, Kind, Tree};
use crate::util::parallel;

/// Identifies a directory with everything below it: names, kinds, contents, modes and link targets.
///
/// It does not depend on times, owners, or the backend. `docs/tree-hash.md` has the encoding.
///
/// ```
/// use wink_fs::{tree_hash, MemoryBackend, HostBackend, Filesystem, TreePath};
///
/// let (mut memory, mut host) = (MemoryBackend::new(), HostBackend::temporary()?);
/// for files in [&mut memory as &mut dyn Filesystem, &mut host] {
///     files.create_dir(&TreePath::parse("empty")?)?;
///     files.symlink(&TreePath::parse("link")?, b"anywhere")?;
/// }
/// assert_eq!(tree_hash(&memory)?, tree_hash(&host)?);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeHash([u8; 32]);

impl TreeHash {
    /// Wraps the 32 bytes of a hash.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from(self.0).to_hex())
    }
}

impl fmt::Debug for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreeHash({self})")
    }
}

/// Computes the hash of a whole tree; a FIFO, socket or device in it is SpecialFile.
pub fn tree_hash(tree: &dyn Tree) -> Result<TreeHash> {
    directory_at(tree, &TreePath::root())
}

/// Computes the hash of a directory and everything below it.
pub(crate) fn directory_at(tree: &dyn Tree, path: &TreePath) -> Result<TreeHash> {
    if let Some(known) = tree.known_tree_hash(path) {
        return Ok(known);
    }
    let entries = tree.list(path)?;
    let identities = parallel::try_map(&entries, |entry| identify(tree, path, entry))?;
    let mut encoded = merkle::encode_start(directory_mode(tree, path)?);
    for (entry, identity) in entries.iter().zip(&identities) {
        merkle::encode_entry(&mut encoded, entry.name.as_bytes(), identity);
    }
    Ok(merkle::directory_hash(&encoded))
}

/// Returns the mode that counts for a directory's hash.
///
/// The root's does not: it belongs to where the files are, not to the files.
pub(crate) fn directory_mode(tree: &dyn Tree, path: &TreePath) -> Result<FileMode> {
    if path.is_root() { Ok(FileMode::default()) } else { Ok(tree.stat(path)?.mode) }
}

fn identify(tree: &dyn Tree, directory: &TreePath, entry: &Entry) -> Result<Identity> {
    let path = directory.join(&entry.name)?;
    match entry.kind {
        Kind::File => {
            let hash = ops::content_hash(tree, &path)?;
            Ok(Identity::File { mode: tree.stat(&path)?.mode, hash })
        }
        Kind::Directory => descend(|| directory_at(tree, &path)).map(Identity::Directory),
        Kind::Symlink => Ok(Identity::of_link(&tree.read_link(&path)?)),
        Kind::Other => Err(Error::new(Operation::Read, ErrorKind::SpecialFile).with_path(&path)),
    }
}
