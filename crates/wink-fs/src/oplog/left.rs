//! What an operation left at a path, to tell later whether it still stands there.

use std::fmt;

use crate::error::{ErrorKind, Result};
use crate::hash::ContentHash;
use crate::ops;
use crate::path::TreePath;
use crate::tree::hash::{self, TreeHash};
use crate::tree::merkle::{self, Identity};
use crate::tree::{FileMode, Kind, Tree};

/// The identity of what stood at a path; as text it is kind, mode and hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Left {
    Entry(Identity),
    /// What has no identity of ours, by the word that was written down for it.
    Other(Box<str>),
}

impl Left {
    /// Looks at what is at a path now; a file whose hash is known is not read.
    pub(crate) fn at(tree: &dyn Tree, path: &TreePath) -> Result<Option<Self>> {
        let stat = match tree.stat(path) {
            Err(error) if error.is_absence() => return Ok(None),
            stat => stat?,
        };
        let identity = match stat.kind {
            Kind::File => return Self::file(tree, path, stat.mode).map(Some),
            Kind::Directory => match hash::directory_at(tree, path) {
                // No operation leaves a special file: another program created it.
                Err(error) if error.kind() == ErrorKind::SpecialFile => return Ok(special()),
                hash => Identity::Directory(hash?),
            },
            Kind::Symlink => Identity::of_link(&tree.read_link(path)?),
            Kind::Other => return Ok(special()),
        };
        Ok(Some(Self::Entry(identity)))
    }

    /// Takes a file whose mode was looked at already.
    pub(crate) fn file(tree: &dyn Tree, path: &TreePath, mode: FileMode) -> Result<Self> {
        Ok(Self::Entry(Identity::File { mode, hash: ops::content_hash(tree, path)? }))
    }

    /// Tells whether both are of the same content, whatever the modes of files are.
    pub(crate) fn has_content_of(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Entry(Identity::File { hash, .. }),
                Self::Entry(Identity::File { hash: other, .. }),
            ) => hash == other,
            _ => self == other,
        }
    }

    /// Reads what was written down; a text that means nothing here equals only itself.
    pub(crate) fn parse(text: &str) -> Self {
        let other = || Self::Other(text.into());
        identity(text).map(Self::Entry).filter(|it| it.to_string() == text).unwrap_or_else(other)
    }
}

/// What a pipe, a socket or a device is known by, and a directory with one in it.
fn special() -> Option<Left> {
    Some(Left::Other("special".into()))
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

impl fmt::Display for Left {
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
            let left = Left::Entry(identity);
            assert_eq!(Left::parse(&left.to_string()), left);
        }
    }

    #[test]
    fn a_text_of_another_form_is_kept_as_it_is() {
        let hash = ContentHash::of(b"a").to_string();
        let upper = format!("link {}", hash.to_uppercase());
        for text in ["special", "", "file", "file 0 xyz", &format!("file 9 {hash}"), &upper] {
            let left = Left::parse(text);
            assert!(matches!(left, Left::Other(_)), "{text}");
            assert_eq!(left.to_string(), text);
        }
    }
}
