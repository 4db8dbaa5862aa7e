//! Objects and their ids.

use std::fmt;

use crate::hash::ContentHash;
use crate::tree::hash::TreeHash;
use crate::tree::merkle;

pub(crate) const KEY_BYTES: usize = 32;

/// The kind of an object; a hash is unique within one kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum ObjectKind {
    /// A small file's content, or a part of a large one.
    Blob,
    /// The parts of a large file.
    List,
    /// An encoded directory.
    Directory,
    /// The target of a link.
    Link,
}

impl ObjectKind {
    /// Returns whether such an object refers to others, without which it is useless.
    pub(crate) fn names_others(self) -> bool {
        matches!(self, Self::Directory | Self::List)
    }

    pub(crate) fn to_byte(self) -> u8 {
        match self {
            Self::Blob => b'b',
            Self::List => b'c',
            Self::Directory => b'd',
            Self::Link => b'l',
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Blob, Self::List, Self::Directory, Self::Link]
            .into_iter()
            .find(|kind| kind.to_byte() == byte)
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blob => "content",
            Self::List => "list of parts",
            Self::Directory => "directory",
            Self::Link => "link",
        })
    }
}

/// The id of an object: its kind and the hash of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ObjectId {
    // The order of rows in a pack: key first, then kind.
    pub(crate) key: [u8; KEY_BYTES],
    pub(crate) kind: ObjectKind,
}

impl ObjectId {
    pub(crate) fn blob(hash: &ContentHash) -> Self {
        Self { key: *hash.as_bytes(), kind: ObjectKind::Blob }
    }

    pub(crate) fn list(hash: &ContentHash) -> Self {
        Self { key: *hash.as_bytes(), kind: ObjectKind::List }
    }

    pub(crate) fn directory(hash: &TreeHash) -> Self {
        Self { key: *hash.as_bytes(), kind: ObjectKind::Directory }
    }

    pub(crate) fn link(hash: &[u8; KEY_BYTES]) -> Self {
        Self { key: *hash, kind: ObjectKind::Link }
    }

    /// Checks the hash of bytes. A list is named after its file, so its own bytes cannot be checked.
    pub(crate) fn names(&self, bytes: &[u8]) -> bool {
        match self.kind {
            ObjectKind::Blob => ContentHash::of(bytes).as_bytes() == &self.key,
            ObjectKind::Directory => merkle::directory_hash(bytes).as_bytes() == &self.key,
            ObjectKind::Link => merkle::link_hash(bytes) == self.key,
            ObjectKind::List => true,
        }
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, blake3::Hash::from(self.key).to_hex())
    }
}
