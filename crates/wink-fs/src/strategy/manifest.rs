//! The manifest: everything about a snapshot except the contents.
//!
//! Strategies keep contents in different forms. The manifest says what they must be, so that a copy's permissions, a
//! clone's times or the names in an archive are never trusted.

use std::io;
use std::sync::Arc;

use crate::error::damaged;
use crate::hash::ContentHash;
use crate::path::Name;
use crate::tree::descend;
use crate::tree::hash::TreeHash;
use crate::tree::merkle::{self, Identity};
use crate::tree::{FileMode, Kind};

const MAGIC: &[u8] = b"wink manifest 1\n";
const SUM_BYTES: usize = 32;

/// The location of a thing, in the strategy's own encoding.
pub(super) type Place = Vec<u8>;

/// A whole snapshot.
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    pub(super) root: Arc<Directory>,
    /// The strategy's own data about the snapshot.
    pub(super) notes: Vec<u8>,
}

/// A directory and everything below it, entries sorted by name.
#[derive(Debug)]
pub(super) struct Directory {
    /// Only `private` can be set.
    pub(super) mode: FileMode,
    pub(super) hash: TreeHash,
    pub(super) place: Place,
    pub(super) entries: Vec<(Name, Node)>,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    File(KeptFile),
    Directory(Arc<Directory>),
    /// The target of a link.
    Link(Vec<u8>),
}

#[derive(Clone, Debug)]
pub(super) struct KeptFile {
    pub(super) mode: FileMode,
    pub(super) size: u64,
    pub(super) hash: ContentHash,
    pub(super) place: Place,
}

impl Node {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::File(_) => Kind::File,
            Self::Directory(_) => Kind::Directory,
            Self::Link(_) => Kind::Symlink,
        }
    }

    fn identity(&self) -> Identity {
        match self {
            Self::File(file) => Identity::File { mode: file.mode, hash: file.hash },
            Self::Directory(directory) => Identity::Directory(directory.hash),
            Self::Link(target) => Identity::of_link(target),
        }
    }
}

impl Directory {
    /// Makes a directory and computes its hash.
    pub(super) fn new(mode: FileMode, entries: Vec<(Name, Node)>, place: Place) -> Self {
        let mut encoded = merkle::encode_start(mode);
        for (name, node) in &entries {
            merkle::encode_entry(&mut encoded, name.as_bytes(), &node.identity());
        }
        Self { mode, hash: merkle::directory_hash(&encoded), place, entries }
    }

    pub(super) fn find(&self, name: &[u8]) -> Option<&Node> {
        let at = self.entries.binary_search_by(|(other, _)| other.as_bytes().cmp(name)).ok()?;
        Some(&self.entries[at].1)
    }
}

impl Manifest {
    /// Encodes the manifest; it ends with the hash of the rest.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        put_bytes(&mut bytes, &self.notes);
        put_directory(&mut bytes, &self.root);
        let sum = blake3::hash(&bytes);
        bytes.extend_from_slice(sum.as_bytes());
        bytes
    }

    /// Decodes a manifest; anything that was not written exactly so is damage.
    pub(super) fn decode(bytes: &[u8]) -> io::Result<Self> {
        parse(bytes)
            .ok_or_else(|| damaged("a snapshot's manifest is damaged; verify the snapshots"))
    }
}

fn put_bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    into.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    into.extend_from_slice(bytes);
}

fn put_directory(into: &mut Vec<u8>, directory: &Directory) {
    put_bytes(into, &directory.place);
    into.extend_from_slice(&(directory.entries.len() as u32).to_le_bytes());
    for (name, node) in &directory.entries {
        put_bytes(into, name.as_bytes());
        match node {
            Node::File(file) => put_file(into, file),
            Node::Link(target) => {
                into.push(b'l');
                put_bytes(into, target);
            }
            Node::Directory(below) => {
                into.push(if below.mode.private { b'p' } else { b'd' });
                descend(|| put_directory(into, below));
            }
        }
    }
}

fn put_file(into: &mut Vec<u8>, file: &KeptFile) {
    into.extend_from_slice(&[b'f', merkle::mode_bits(file.mode)]);
    into.extend_from_slice(&file.size.to_le_bytes());
    into.extend_from_slice(file.hash.as_bytes());
    put_bytes(into, &file.place);
}

fn parse(bytes: &[u8]) -> Option<Manifest> {
    let (body, sum) = bytes.split_last_chunk::<SUM_BYTES>()?;
    if blake3::hash(body) != *sum {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    let notes = take_bytes(&mut rest)?.to_vec();
    let root = Arc::new(take_directory(&mut rest, FileMode::default())?);
    rest.is_empty().then_some(Manifest { root, notes })
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (front, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*front)
}

fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = u32::from_le_bytes(take(bytes)?);
    let (front, rest) = bytes.split_at_checked(len as usize)?;
    *bytes = rest;
    Some(front)
}

fn take_directory(bytes: &mut &[u8], mode: FileMode) -> Option<Directory> {
    let place = take_bytes(bytes)?.to_vec();
    let count = u32::from_le_bytes(take(bytes)?);
    let mut entries: Vec<(Name, Node)> = Vec::new();
    for _ in 0..count {
        let name = Name::from_disk(take_bytes(bytes)?).ok()?;
        if entries.last().is_some_and(|(last, _)| *last >= name) {
            return None;
        }
        entries.push((name, take_node(bytes)?));
    }
    Some(Directory::new(mode, entries, place))
}

fn take_node(bytes: &mut &[u8]) -> Option<Node> {
    let directory = |bytes: &mut &[u8], private: bool| {
        let mode = FileMode::default().private(private);
        Some(Node::Directory(Arc::new(descend(|| take_directory(bytes, mode))?)))
    };
    Some(match take::<1>(bytes)? {
        [b'f'] => Node::File(take_file(bytes)?),
        [b'l'] => Node::Link(take_bytes(bytes)?.to_vec()),
        [b'd'] => return directory(bytes, false),
        [b'p'] => return directory(bytes, true),
        _ => return None,
    })
}

fn take_file(bytes: &mut &[u8]) -> Option<KeptFile> {
    let [bits] = take(bytes)?;
    Some(KeptFile {
        mode: (bits < 4).then(|| merkle::mode_of(bits))?,
        size: u64::from_le_bytes(take(bytes)?),
        hash: ContentHash::from_bytes(take(bytes)?),
        place: take_bytes(bytes)?.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        let file = KeptFile {
            mode: merkle::mode_of(3),
            size: 5,
            hash: ContentHash::of(b"hello"),
            place: b"somewhere".to_vec(),
        };
        let name = |raw: &[u8]| Name::from_disk(raw).unwrap();
        let private = FileMode::default().private(true);
        let below =
            Directory::new(private, vec![(name(b"\xff\n"), Node::Link(b"..".to_vec()))], vec![1]);
        let entries =
            vec![(name(b"a"), Node::File(file)), (name(b"d"), Node::Directory(Arc::new(below)))];
        Manifest {
            root: Arc::new(Directory::new(FileMode::default(), entries, vec![])),
            notes: b"notes".to_vec(),
        }
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        let manifest = sample();
        let decoded = Manifest::decode(&manifest.encode()).unwrap();
        assert_eq!(decoded.root.hash, manifest.root.hash);
        assert_eq!(format!("{decoded:?}"), format!("{manifest:?}"));
    }

    #[test]
    fn every_other_byte_and_every_other_length_is_refused() {
        let whole = sample().encode();
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 1;
            assert!(Manifest::decode(&other).is_err(), "byte {at}");
            assert!(Manifest::decode(&whole[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn threat_50_a_manifest_with_names_that_no_directory_has_is_refused() {
        let whole = sample().encode();
        let body = &whole[..whole.len() - SUM_BYTES];
        let at = body.windows(6).position(|part| part == b"\x01\0\0\0af").unwrap() + 4;
        for name in [b'/', b'.', 0] {
            let mut odd = body.to_vec();
            odd[at] = name;
            let sum = blake3::hash(&odd);
            odd.extend_from_slice(sum.as_bytes());
            assert!(Manifest::decode(&odd).is_err(), "{name}");
        }
    }
}
