//! What the last capture learnt: the stamp of each entry, and the hashes that go with them.
//!
//! One flat, checksummed run of bytes, read as it lies there. It is a cache: without it, or with one
//! that is damaged, every file is read again. `docs/host-index.md` has the format.

use super::bytes::Reader;
use super::stamp::Stamp;
use super::tree::{Directory, What};
use crate::hash::ContentHash;
use crate::tree_hash::TreeHash;

const MAGIC: &[u8; 8] = b"WINKIDX\x01";
const CHECKSUM_BYTES: usize = 32;

/// What an entry takes, unless its name is very long.
const ENOUGH_BYTES: usize = 112;

/// The bytes, checked when they are taken.
#[derive(Clone, Default)]
pub(in crate::host) struct Index {
    bytes: Vec<u8>,
    /// Where the block of each directory starts; the first is the root's.
    starts: Vec<u32>,
}

/// What is known of one directory.
pub(super) struct Block<'a> {
    pub(super) hash: Option<TreeHash>,
    pub(super) rows: Rows<'a>,
}

/// The rows of one directory in the order of their names, decoded one after the other.
pub(super) struct Rows<'a> {
    reader: Reader<'a>,
    left: u32,
    next: Option<Row<'a>>,
}

impl<'a> Rows<'a> {
    fn new(reader: Reader<'a>, count: u32) -> Self {
        let mut rows = Self { reader, left: count, next: None };
        rows.advance();
        rows
    }

    /// Decodes the next row; one that is damaged is the last, and then some are left.
    fn advance(&mut self) {
        self.next = if self.left > 0 { row(&mut self.reader) } else { None };
        self.left -= u32::from(self.next.is_some());
    }

    /// Passes over the rows before a name; returns whether there were any.
    pub(super) fn skip_to(&mut self, name: &[u8]) -> bool {
        let mut skipped = false;
        while self.next.as_ref().is_some_and(|row| row.name < name) {
            self.advance();
            skipped = true;
        }
        skipped
    }

    /// Takes what is known of a name, if that is the next one.
    pub(super) fn take(&mut self, name: &[u8]) -> Option<Known> {
        let known = self.next.as_ref().filter(|row| row.name == name)?.what;
        self.advance();
        Some(known)
    }

    /// Tells whether all rows were taken.
    pub(super) fn is_at_end(&self) -> bool {
        self.next.is_none() && self.left == 0
    }
}

/// What is known of one entry.
struct Row<'a> {
    name: &'a [u8],
    what: Known,
}

#[derive(Clone, Copy)]
pub(super) enum Known {
    File { stamp: Stamp, hash: Option<ContentHash> },
    Link { stamp: Stamp },
    Directory { number: u32 },
}

impl Index {
    /// Takes what [`encode`] made; `None` where it is not that.
    pub(in crate::host) fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let mut reader = Reader(&bytes);
        (reader.take(MAGIC.len())? == MAGIC).then_some(())?;
        let checksum: [u8; CHECKSUM_BYTES] = reader.array()?;
        (blake3::hash(reader.0) == checksum).then_some(())?;
        let count = reader.number()? as usize;
        let starts = reader.take(count.checked_mul(4)?)?;
        let starts = starts.chunks_exact(4).map(|start| Reader(start).number());
        Some(Self { starts: starts.collect::<Option<_>>()?, bytes })
    }

    pub(in crate::host) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns what is known of the directory of that number.
    pub(super) fn block(&self, number: u32) -> Option<Block<'_>> {
        let start = *self.starts.get(number as usize)? as usize;
        let mut reader = Reader(self.bytes.get(start..)?);
        let hash = optional_hash(&mut reader)?.map(TreeHash::from_bytes);
        let count = reader.number()?;
        Some(Block { hash, rows: Rows::new(reader, count) })
    }
}

fn row<'a>(reader: &mut Reader<'a>) -> Option<Row<'a>> {
    let (kind, len) = (reader.byte()?, reader.byte()?);
    let name = reader.take(len.into())?;
    let what = match kind {
        b'f' => {
            let stamp = Stamp::decode(reader)?;
            Known::File { stamp, hash: optional_hash(reader)?.map(ContentHash::from_bytes) }
        }
        b'l' => Known::Link { stamp: Stamp::decode(reader)? },
        b'd' => Known::Directory { number: reader.number()? },
        _ => return None,
    };
    Some(Row { name, what })
}

fn optional_hash(reader: &mut Reader<'_>) -> Option<Option<[u8; 32]>> {
    match reader.byte()? {
        0 => Some(None),
        1 => reader.array().map(Some),
        _ => None,
    }
}

/// Writes down the directories of a capture, with the hash of each.
pub(super) fn encode(directories: &[Directory]) -> Option<Index> {
    let table = MAGIC.len() + CHECKSUM_BYTES + 4;
    let entries: usize = directories.iter().map(|directory| directory.nodes.len()).sum();
    let mut bytes = Vec::with_capacity(table + ENOUGH_BYTES * (directories.len() + entries));
    bytes.resize(table + 4 * directories.len(), 0);
    let mut starts = Vec::with_capacity(directories.len());
    for directory in directories {
        starts.push(u32::try_from(bytes.len()).ok()?);
        encode_directory(&mut bytes, directory);
    }
    let count = u32::try_from(directories.len()).ok()?;
    bytes[table - 4..table].copy_from_slice(&count.to_le_bytes());
    for (slot, start) in bytes[table..].chunks_exact_mut(4).zip(&starts) {
        slot.copy_from_slice(&start.to_le_bytes());
    }
    let checksum = blake3::hash(&bytes[table - 4..]);
    bytes[..MAGIC.len()].copy_from_slice(MAGIC);
    bytes[MAGIC.len()..table - 4].copy_from_slice(checksum.as_bytes());
    Some(Index { bytes, starts })
}

fn encode_directory(into: &mut Vec<u8>, directory: &Directory) {
    encode_hash(into, directory.hash.as_ref().map(TreeHash::as_bytes));
    into.extend_from_slice(&(directory.nodes.len() as u32).to_le_bytes());
    for node in &directory.nodes {
        let name = node.name.as_bytes();
        let kind = match node.what {
            What::File { .. } => b'f',
            What::Link { .. } => b'l',
            What::Directory { .. } => b'd',
        };
        // A name has at most 255 bytes.
        into.extend_from_slice(&[kind, name.len() as u8]);
        into.extend_from_slice(name);
        encode_what(into, &node.what);
    }
}

fn encode_what(into: &mut Vec<u8>, what: &What) {
    match what {
        What::File { stamp, hash } => {
            stamp.encode(into);
            encode_hash(into, hash.as_ref().map(ContentHash::as_bytes));
        }
        What::Link { stamp } => stamp.encode(into),
        What::Directory { number } => into.extend_from_slice(&number.to_le_bytes()),
    }
}

fn encode_hash(into: &mut Vec<u8>, hash: Option<&[u8; 32]>) {
    into.push(u8::from(hash.is_some()));
    into.extend_from_slice(hash.map_or(&[], |hash| &hash[..]));
}
