//! The encoding of directories that hashes are computed from; see `docs/tree-hash.md`.

use crate::hash::ContentHash;
use crate::path::Name;
use crate::tree::hash::TreeHash;
use crate::tree::{FileMode, Kind};

const DIRECTORY_CONTEXT: &str = "wink-fs tree hash v1: directory";
const LINK_CONTEXT: &str = "wink-fs tree hash v1: symlink";

const IDENTITY_BYTES: usize = 32;
const EXECUTABLE: u8 = 1;
const PRIVATE: u8 = 2;

/// Begins the encoding of a private directory; no entry begins with it.
const PRIVATE_DIRECTORY: u8 = b'p';

/// A decoded directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Decoded {
    /// Only `private` can be set.
    pub(crate) mode: FileMode,
    /// Sorted by name.
    pub(crate) entries: Vec<(Name, Identity)>,
}

/// The identity of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Identity {
    File {
        mode: FileMode,
        hash: ContentHash,
    },
    Directory(TreeHash),
    /// The hash of a link's target.
    Link([u8; IDENTITY_BYTES]),
}

impl Identity {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::File { .. } => Kind::File,
            Self::Directory(_) => Kind::Directory,
            Self::Link(_) => Kind::Symlink,
        }
    }

    pub(crate) fn of_link(target: &[u8]) -> Self {
        Self::Link(link_hash(target))
    }

    /// Returns it as text: its kind, its mode and its hash.
    pub(crate) fn to_text(self) -> String {
        let (kind, mode, hash) = self.parts();
        format!("{}{mode}{}", char::from(kind), blake3::Hash::from_bytes(*hash).to_hex())
    }

    /// Parses its text; `None` if it is not valid.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let (head, hash) = text.split_at_checked(2)?;
        let [kind, mode] = *head.as_bytes().first_chunk::<2>()?;
        let hash = blake3::Hash::from_hex(hash).ok()?;
        Self::from_parts(kind, mode.checked_sub(b'0')?, *hash.as_bytes())
    }

    fn parts(&self) -> (u8, u8, &[u8; IDENTITY_BYTES]) {
        match self {
            Self::File { mode, hash } => (b'f', mode_bits(*mode), hash.as_bytes()),
            Self::Directory(hash) => (b'd', 0, hash.as_bytes()),
            Self::Link(hash) => (b'l', 0, hash),
        }
    }

    fn from_parts(kind: u8, mode: u8, identity: [u8; IDENTITY_BYTES]) -> Option<Self> {
        match (kind, mode) {
            (b'f', 0..4) => {
                Some(Self::File { mode: mode_of(mode), hash: ContentHash::from_bytes(identity) })
            }
            (b'd', 0) => Some(Self::Directory(TreeHash::from_bytes(identity))),
            (b'l', 0) => Some(Self::Link(identity)),
            _ => None,
        }
    }
}

/// Returns the hash of a link's target.
pub(crate) fn link_hash(target: &[u8]) -> [u8; IDENTITY_BYTES] {
    blake3::derive_key(LINK_CONTEXT, target)
}

/// Returns the hash of an encoded directory.
pub(crate) fn directory_hash(encoded: &[u8]) -> TreeHash {
    TreeHash::from_bytes(blake3::derive_key(DIRECTORY_CONTEXT, encoded))
}

/// Begins the encoding of a directory, before its first entry.
pub(crate) fn encode_start(mode: FileMode) -> Vec<u8> {
    // Within the directory's own encoding, so that its hash alone tells a private one from another.
    if mode.private { vec![PRIVATE_DIRECTORY] } else { Vec::new() }
}

/// Appends an entry to an encoded directory; entries must be sorted by name.
pub(crate) fn encode_entry(into: &mut Vec<u8>, name: &[u8], identity: &Identity) {
    let (kind, mode, hash) = identity.parts();
    // A name has at most 255 bytes.
    into.extend_from_slice(&[kind, mode, name.len() as u8]);
    into.extend_from_slice(name);
    into.extend_from_slice(hash);
}

/// Decodes a directory; `None` if it is not valid.
pub(crate) fn decode(mut encoded: &[u8]) -> Option<Decoded> {
    let rest = encoded.strip_prefix(&[PRIVATE_DIRECTORY]);
    let mode = FileMode::default().private(rest.is_some());
    encoded = rest.unwrap_or(encoded);
    let mut entries: Vec<(Name, Identity)> = Vec::new();
    while !encoded.is_empty() {
        let (head, rest) = encoded.split_first_chunk::<3>()?;
        let (name, rest) = rest.split_at_checked(head[2].into())?;
        let (identity, rest) = rest.split_first_chunk::<IDENTITY_BYTES>()?;
        let entry =
            (Name::from_disk(name).ok()?, Identity::from_parts(head[0], head[1], *identity)?);
        if entries.last().is_some_and(|(last, _)| *last >= entry.0) {
            return None;
        }
        entries.push(entry);
        encoded = rest;
    }
    Some(Decoded { mode, entries })
}

pub(crate) fn mode_bits(mode: FileMode) -> u8 {
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    bit(mode.executable, EXECUTABLE) | bit(mode.private, PRIVATE)
}

pub(crate) fn mode_of(bits: u8) -> FileMode {
    FileMode::default().executable(bits & EXECUTABLE != 0).private(bits & PRIVATE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &[u8]) -> Identity {
        Identity::File { mode: mode_of(3), hash: ContentHash::of(content) }
    }

    fn encoded(entries: &[(&[u8], Identity)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        entries.iter().for_each(|(name, identity)| encode_entry(&mut bytes, name, identity));
        bytes
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        let entries = [
            (&b"a\n\xff"[..], file(b"a")),
            (b"d", Identity::Directory(directory_hash(b""))),
            (b"l", Identity::of_link(b"d")),
        ];
        for mode in [FileMode::default(), FileMode::default().private(true)] {
            let encoded = [encode_start(mode), encoded(&entries)].concat();
            let decoded = decode(&encoded).unwrap();
            assert_eq!(decoded.mode, mode);
            let decoded = decoded.entries.iter().map(|(name, id)| (name.as_bytes(), *id));
            assert_eq!(decoded.collect::<Vec<_>>(), entries);
        }
        assert_eq!(decode(b"pp"), None);
    }

    #[test]
    fn threat_50_names_that_no_directory_has_are_refused() {
        for names in
            [&[&b".."[..]][..], &[b"."], &[b""], &[b"a/b"], &[b"a\0"], &[b"a", b"a"], &[b"b", b"a"]]
        {
            let entries: Vec<_> = names.iter().map(|name| (*name, file(b""))).collect();
            assert_eq!(decode(&encoded(&entries)), None, "{names:?}");
        }
    }

    #[test]
    fn what_is_cut_short_or_of_no_kind_is_refused() {
        let whole = encoded(&[(b"name", file(b""))]);
        (1..whole.len()).for_each(|len| assert_eq!(decode(&whole[..len]), None, "{len}"));
        for (at, byte) in [(0, b'x'), (0, b'd'), (1, 4)] {
            let mut odd = whole.clone();
            odd[at] = byte;
            assert_eq!(decode(&odd), None);
        }
    }
}
