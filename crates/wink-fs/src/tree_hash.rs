//! The identity of a whole tree: equal trees have equal hashes, on whatever backend.

use std::fmt;

use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::ops;
use crate::path::TreePath;
use crate::tree::{Entry, FileMode, Kind, Tree};

const DIRECTORY_CONTEXT: &str = "wink-fs tree hash v1: directory";
const LINK_CONTEXT: &str = "wink-fs tree hash v1: symlink";

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
    directory(tree, &TreePath::root()).map(TreeHash)
}

fn directory(tree: &dyn Tree, path: &TreePath) -> Result<[u8; 32]> {
    let entries = tree.list(path)?;
    let encoded = entries.par_iter().map(|entry| encode(tree, path, entry));
    let encoded: Vec<Vec<u8>> = encoded.collect::<Result<_>>()?;
    let mut hasher = blake3::Hasher::new_derive_key(DIRECTORY_CONTEXT);
    encoded.iter().for_each(|entry| {
        hasher.update(entry);
    });
    Ok(hasher.finalize().into())
}

/// Encodes one entry: kind, mode, length of the name, name, identity of what it names.
fn encode(tree: &dyn Tree, directory: &TreePath, entry: &Entry) -> Result<Vec<u8>> {
    let path = directory.join(&entry.name)?;
    let (kind, mode, identity) = identify(tree, &path, entry.kind)?;
    let name = entry.name.as_bytes();
    let mut encoded = Vec::with_capacity(3 + name.len() + identity.len());
    // A name has at most 255 bytes.
    encoded.extend_from_slice(&[kind, mode_bits(mode), name.len() as u8]);
    encoded.extend_from_slice(name);
    encoded.extend_from_slice(&identity);
    Ok(encoded)
}

fn identify(tree: &dyn Tree, path: &TreePath, kind: Kind) -> Result<(u8, FileMode, [u8; 32])> {
    match kind {
        Kind::File => {
            let hash: ContentHash = ops::content_hash(tree, path)?;
            Ok((b'f', tree.stat(path)?.mode, *hash.as_bytes()))
        }
        Kind::Directory => Ok((b'd', FileMode::default(), self::directory(tree, path)?)),
        Kind::Symlink => {
            let target = tree.read_link(path)?;
            Ok((b'l', FileMode::default(), blake3::derive_key(LINK_CONTEXT, &target)))
        }
        Kind::Other => Err(Error::new(Operation::Read, ErrorKind::SpecialFile).with_path(path)),
    }
}

fn mode_bits(mode: FileMode) -> u8 {
    u8::from(mode.executable) | u8::from(mode.private) << 1
}
