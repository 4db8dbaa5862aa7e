//! What a store holds: objects that are named by what they are.

use std::fmt;

use crate::hash::ContentHash;
use crate::tree::hash::TreeHash;
use crate::tree::merkle;

pub(crate) const KEY_BYTES: usize = 32;

/// Says what an object is; a name is unique together with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum ObjectKind {
    /// The content of a small file, or a part of a large one.
    Blob,
    /// The parts of a large file.
    List,
    /// An encoded directory.
    Directory,
    /// The target of a link.
    Link,
}

impl ObjectKind {
    /// Tells whether such an object names others, which it is nothing without.
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

/// Names an object: what it is, and the hash that its bytes must have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ObjectId {
    // The order of rows in a pack: first the key, then the kind.
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

    /// Tells whether bytes are those of this object; a list is known only by what its parts make.
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
