//! Content ids: what an operation left at a path, to tell later whether it is still there.

use std::fmt;

use crate::error::{ErrorKind, Result};
use crate::hash::ContentHash;
use crate::ops;
use crate::path::TreePath;
use crate::tree::hash::{self, TreeHash};
use crate::tree::merkle::{self, Identity};
use crate::tree::{FileMode, Kind, Tree};

/// Kind, mode and hash of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ContentId {
    Entry(Identity),
    /// Something without an identity, by the word recorded for it.
    Other(Box<str>),
}

impl ContentId {
    /// Returns the id of what is at a path now; a file with a known hash is not read.
    pub(crate) fn at(tree: &dyn Tree, path: &TreePath) -> Result<Option<Self>> {
        let stat = match tree.stat(path) {
            Err(error) if error.is_absence() => return Ok(None),
            stat => stat?,
        };
        let identity = match stat.kind {
            Kind::File => return Self::file(tree, path, stat.mode).map(Some),
            Kind::Directory => match hash::directory_at(tree, path) {
                // No operation creates a special file, so it belongs to another program and equals nothing.
                Err(error) if error.kind() == ErrorKind::SpecialFile => return Ok(special()),
                hash => Identity::Directory(hash?),
            },
            Kind::Symlink => Identity::of_link(&tree.read_link(path)?),
            Kind::Other => return Ok(special()),
        };
        Ok(Some(Self::Entry(identity)))
    }

    /// Returns the id of a file with a known mode.
    pub(crate) fn file(tree: &dyn Tree, path: &TreePath, mode: FileMode) -> Result<Self> {
        Ok(Self::Entry(Identity::File { mode, hash: ops::content_hash(tree, path)? }))
    }

    /// Compares content, ignoring the modes of files and of empty directories: a call that makes one does not know which
    /// mode the host gives it.
    pub(crate) fn has_content_of(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Entry(Identity::File { hash, .. }),
                Self::Entry(Identity::File { hash: other, .. }),
            ) => hash == other,
            _ => self == other || self.is_empty_directory() && other.is_empty_directory(),
        }
    }

    fn is_empty_directory(&self) -> bool {
        let Self::Entry(Identity::Directory(hash)) = self else { return false };
        let modes = [false, true].map(|private| FileMode::default().private(private));
        modes.iter().any(|mode| *hash == merkle::directory_hash(&merkle::encode_start(*mode)))
    }

    /// Parses a recorded id; an unknown text equals only itself.
    pub(crate) fn parse(text: &str) -> Self {
        let other = || Self::Other(text.into());
        identity(text).map(Self::Entry).filter(|it| it.to_string() == text).unwrap_or_else(other)
    }
}

/// The id of a special file, and of a directory that contains one.
fn special() -> Option<ContentId> {
    Some(ContentId::Other("special".into()))
}

fn identity(text: &str) -> Option<Identity> {
    let (kind, rest) = text.split_once(' ')?;
    let (mode, hash) = rest.split_once(' ').unwrap_or(("0", rest));
    let hash = blake3::Hash::from_hex(hash).ok()?.into();
    Some(match kind {
        "file" => Identity::File {
            mode: merkle::mode_of(mode.parse().ok()?),
            hash: ContentHash::from_bytes(hash),
        },
        "directory" => Identity::Directory(TreeHash::from_bytes(hash)),
        "link" => Identity::Link(hash),
        _ => return None,
    })
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(identity) => identity.fmt(f),
            Self::Other(word) => f.write_str(word),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { mode, hash } => write!(f, "file {} {hash}", merkle::mode_bits(*mode)),
            Self::Directory(hash) => write!(f, "directory {hash}"),
            Self::Link(hash) => write!(f, "link {}", blake3::Hash::from(*hash).to_hex()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_identity_is_read_as_it_was_written() {
        let bytes = *ContentHash::of(b"a").as_bytes();
        let file = |bits| Identity::File {
            mode: merkle::mode_of(bits),
            hash: ContentHash::from_bytes(bytes),
        };
        let others = [Identity::Directory(TreeHash::from_bytes(bytes)), Identity::Link(bytes)];
        for identity in (0..4).map(file).chain(others) {
            let left = ContentId::Entry(identity);
            assert_eq!(ContentId::parse(&left.to_string()), left);
        }
    }

    #[test]
    fn a_text_of_another_form_is_kept_as_it_is() {
        let hash = ContentHash::of(b"a").to_string();
        let upper = format!("link {}", hash.to_uppercase());
        for text in ["special", "", "file", "file 0 xyz", &format!("file 9 {hash}"), &upper] {
            let left = ContentId::parse(text);
            assert!(matches!(left, ContentId::Other(_)), "{text}");
            assert_eq!(left.to_string(), text);
        }
    }
}
