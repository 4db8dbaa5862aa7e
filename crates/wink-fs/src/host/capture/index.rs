//! What the last capture learnt: the stamp of each entry, and the hashes that go with them.
//!
//! One flat, checksummed run of bytes, read as it lies there. It is a cache: without it, or with one
//! that is damaged, every file is read again. `docs/host-index.md` has the format.

use std::borrow::Cow;
use std::ops::Range;

use super::bytes::Reader;
use super::stamp::{Moment, Stamp};
use super::tree::{Node, What};
use crate::hash::ContentHash;
use crate::host::mount_id::MountId;
use crate::path::Name;
use crate::tree::hash::TreeHash;
use crate::tree::scope::Exclusions;

const MAGIC: &[u8; 8] = b"WINKIDX\x03";
const HASH_BYTES: usize = 32;

/// What the block of a directory has before its rows, at most.
const BLOCK_HEAD_BYTES: usize = 1 + HASH_BYTES + 1 + Stamp::BYTES + 4 + 4;

/// How long the kernel may keep what was written to a file in memory only, and much more.
const SETTLING_SECONDS: i64 = 300;

/// The bytes, checked when they are taken.
#[derive(Default)]
pub(in crate::host) struct Index {
    bytes: Vec<u8>,
    /// Which exclusions the directories were captured with, and by which mount.
    circumstances: [u8; HASH_BYTES],
    /// When it was written to the disk; none where this process made it.
    written: Option<Moment>,
    /// Where the block of each directory starts; the first is the root's.
    starts: Vec<u32>,
}

/// What is known of one directory.
pub(super) struct Block<'a> {
    pub(super) hash: Option<TreeHash>,
    /// The directory's own stamp, where the rows are all that is in it.
    pub(super) stamp: Option<Stamp>,
    pub(super) rows: Rows<'a>,
}

/// The rows of one directory in the order of their names, decoded one after the other.
#[derive(Clone)]
pub(super) struct Rows<'a> {
    reader: Reader<'a>,
    left: u32,
    next_child: u32,
}

/// What is known of one entry.
pub(super) struct Row<'a> {
    pub(super) name: &'a [u8],
    pub(super) what: Known,
}

#[derive(Clone, Copy)]
pub(super) enum Known {
    File { stamp: Stamp, hash: Option<ContentHash> },
    Link { stamp: Stamp },
    Directory { number: u32 },
}

impl<'a> Rows<'a> {
    /// Tells whether all rows were decoded; one that is damaged is the last, and then some are left.
    pub(super) fn is_at_end(&self) -> bool {
        self.left == 0
    }

    fn decode(&mut self) -> Option<Row<'a>> {
        let (kind, len) = (self.reader.byte()?, self.reader.byte()?);
        let name = self.reader.take(len.into())?;
        let what = match kind {
            b'f' => {
                let stamp = Stamp::decode(&mut self.reader)?;
                let hash = optional(&mut self.reader, Reader::array)?;
                Known::File { stamp, hash: hash.map(ContentHash::from_bytes) }
            }
            b'l' => Known::Link { stamp: Stamp::decode(&mut self.reader)? },
            b'd' => {
                self.next_child = self.next_child.checked_add(1)?;
                Known::Directory { number: self.next_child - 1 }
            }
            _ => return None,
        };
        Some(Row { name, what })
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        let row = if self.left > 0 { self.decode() } else { None };
        self.left -= u32::from(row.is_some());
        row
    }
}

impl Index {
    /// Takes what [`encode`] made; `None` where it is not that.
    pub(in crate::host) fn from_bytes(bytes: Vec<u8>, written: Moment) -> Option<Self> {
        let mut reader = Reader(&bytes);
        (reader.take(MAGIC.len())? == MAGIC).then_some(())?;
        let checksum: [u8; HASH_BYTES] = reader.array()?;
        (blake3::hash(reader.0) == checksum).then_some(())?;
        let circumstances = reader.array()?;
        let count = reader.number()? as usize;
        let starts = reader.take(count.checked_mul(4)?)?;
        let starts = starts.chunks_exact(4).map(|start| Reader(start).number());
        let (starts, written) = (starts.collect::<Option<_>>()?, Some(written));
        Some(Self { starts, circumstances, written, bytes })
    }

    pub(in crate::host) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Tells whether its directories were captured with these exclusions and by this mount.
    pub(super) fn is_with(&self, excluded: &Exclusions, mounting: &MountId) -> bool {
        self.circumstances == named(excluded, mounting)
    }

    /// Returns from which moment on a stamp may have reached the disk without the content.
    pub(super) fn unsettled_from(&self) -> Option<Moment> {
        self.written.map(|written| written.minus_seconds(SETTLING_SECONDS))
    }

    /// Returns what is known of the directory of that number.
    pub(super) fn block(&self, number: u32) -> Option<Block<'_>> {
        let at = number as usize;
        let start = *self.starts.get(at)? as usize;
        let end = self.starts.get(at + 1).map_or(self.bytes.len(), |end| *end as usize);
        let mut reader = Reader(self.bytes.get(start..end)?);
        let hash = optional(&mut reader, Reader::array)?.map(TreeHash::from_bytes);
        let stamp = optional(&mut reader, Stamp::decode)?;
        let (next_child, left) = (reader.number()?, reader.number()?);
        Some(Block { hash, stamp, rows: Rows { reader, left, next_child } })
    }

    /// Returns the rows of a directory as they lie there, and how many there are.
    pub(super) fn rows(&self, number: u32) -> (Cow<'_, [u8]>, u32) {
        let rows = self.block(number).map(|block| block.rows);
        rows.map_or_else(Default::default, |rows| (rows.reader.0.into(), rows.left))
    }

    /// Returns the entries of a directory that is known to be as it was.
    pub(super) fn nodes(&self, number: u32) -> Vec<Node> {
        let mut directories = 0..;
        let node = |row: Row<'_>| {
            let what = match row.what {
                Known::File { stamp, hash } => What::File { stamp, hash },
                Known::Link { stamp } => What::Link { stamp },
                Known::Directory { .. } => What::Directory { ordinal: directories.next()? },
            };
            Some(Node { name: Name::from_disk(row.name).ok()?, what })
        };
        self.block(number).into_iter().flat_map(|block| block.rows).filter_map(node).collect()
    }
}

fn optional<'a, T>(
    reader: &mut Reader<'a>,
    decode: impl FnOnce(&mut Reader<'a>) -> Option<T>,
) -> Option<Option<T>> {
    match reader.byte()? {
        0 => Some(None),
        1 => decode(reader).map(Some),
        _ => None,
    }
}

/// What is written down of one directory.
pub(super) struct Learnt<'a> {
    pub(super) hash: Option<TreeHash>,
    pub(super) stamp: Option<Stamp>,
    pub(super) children: Range<u32>,
    pub(super) rows: Cow<'a, [u8]>,
    pub(super) count: u32,
}

/// Writes down directories, each after its parent.
pub(super) fn encode(
    directories: &[Learnt<'_>],
    excluded: &Exclusions,
    mounting: &MountId,
) -> Option<Index> {
    let circumstances = named(excluded, mounting);
    let table = MAGIC.len() + 2 * HASH_BYTES + 4;
    let rows: usize = directories.iter().map(|directory| directory.rows.len()).sum();
    let heads = directories.len() * (4 + BLOCK_HEAD_BYTES);
    let mut bytes = Vec::with_capacity(table + heads + rows);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[0; HASH_BYTES]);
    bytes.extend_from_slice(&circumstances);
    bytes.extend_from_slice(&u32::try_from(directories.len()).ok()?.to_le_bytes());
    bytes.resize(table + 4 * directories.len(), 0);
    let mut starts = Vec::with_capacity(directories.len());
    for directory in directories {
        starts.push(u32::try_from(bytes.len()).ok()?);
        encode_directory(&mut bytes, directory);
    }
    for (slot, start) in bytes[table..].chunks_exact_mut(4).zip(&starts) {
        slot.copy_from_slice(&start.to_le_bytes());
    }
    let covered = MAGIC.len() + HASH_BYTES;
    let checksum = blake3::hash(&bytes[covered..]);
    bytes[MAGIC.len()..covered].copy_from_slice(checksum.as_bytes());
    Some(Index { bytes, circumstances, written: None, starts })
}

fn encode_directory(into: &mut Vec<u8>, directory: &Learnt<'_>) {
    encode_hash(into, directory.hash.as_ref().map(TreeHash::as_bytes));
    into.push(u8::from(directory.stamp.is_some()));
    directory.stamp.iter().for_each(|stamp| stamp.encode(into));
    into.extend_from_slice(&directory.children.start.to_le_bytes());
    into.extend_from_slice(&directory.count.to_le_bytes());
    into.extend_from_slice(&directory.rows);
}

/// Writes the row of an entry.
pub(super) fn encode_row(into: &mut Vec<u8>, name: &Name, what: &What) {
    let kind = match what {
        What::File { .. } => b'f',
        What::Link { .. } => b'l',
        What::Directory { .. } => b'd',
    };
    // A name has at most 255 bytes.
    into.extend_from_slice(&[kind, name.as_bytes().len() as u8]);
    into.extend_from_slice(name.as_bytes());
    match what {
        What::File { stamp, hash } => {
            stamp.encode(into);
            encode_hash(into, hash.as_ref().map(ContentHash::as_bytes));
        }
        What::Link { stamp } => stamp.encode(into),
        What::Directory { .. } => {}
    }
}

fn encode_hash(into: &mut Vec<u8>, hash: Option<&[u8; HASH_BYTES]>) {
    into.push(u8::from(hash.is_some()));
    into.extend_from_slice(hash.map_or(&[], |hash| &hash[..]));
}

/// Returns what tells exclusions and a mount from others.
fn named(excluded: &Exclusions, mounting: &MountId) -> [u8; HASH_BYTES] {
    let mut hasher = blake3::Hasher::new();
    for pattern in excluded.patterns() {
        // No pattern has a NUL in it.
        hasher.update(pattern.as_bytes()).update(&[0]);
    }
    hasher.update(mounting.as_bytes()).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::capture::stamp::tests::stamp;

    fn learnt() -> Vec<Learnt<'static>> {
        let name = |name: &str| Name::from_disk(name.as_bytes()).unwrap();
        let mut rows = Vec::new();
        encode_row(&mut rows, &name("d"), &What::Directory { ordinal: 0 });
        let hash = Some(ContentHash::of(b"f"));
        encode_row(&mut rows, &name("f"), &What::File { stamp: stamp(2), hash });
        encode_row(&mut rows, &name("l"), &What::Link { stamp: stamp(3) });
        let hash = Some(TreeHash::from_bytes([7; HASH_BYTES]));
        vec![
            Learnt { hash, stamp: Some(stamp(1)), children: 1..2, rows: rows.into(), count: 3 },
            Learnt { hash: None, stamp: None, children: 2..2, rows: Cow::default(), count: 0 },
        ]
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        let excluded = Exclusions::parse(["/target"]).unwrap();
        let mounting = MountId::of(rustix::fs::CWD);
        let index = encode(&learnt(), &excluded, &mounting).unwrap();
        let index = Index::from_bytes(index.bytes, Moment::now()).unwrap();
        assert!(index.is_with(&excluded, &mounting));
        assert!(!index.is_with(&Exclusions::default(), &mounting));
        assert!(!index.is_with(&excluded, &MountId::default()));
        let root = index.block(0).unwrap();
        assert_eq!(root.stamp, Some(stamp(1)));
        let numbers = root.rows.map(|row| match row.what {
            Known::Directory { number } => Some(number),
            _ => None,
        });
        assert_eq!(numbers.collect::<Vec<_>>(), [Some(1), None, None]);
        assert_eq!(index.nodes(0).len(), 3);
        assert!(index.block(1).unwrap().rows.is_at_end());
    }

    /// The format's test vector; a change of it needs another version.
    #[test]
    fn the_bytes_are_those_of_version_3() {
        let index = encode(&learnt(), &Exclusions::default(), &MountId::default()).unwrap();
        assert_eq!(index.bytes.len(), 304);
        let sum = blake3::hash(&index.bytes).to_hex();
        assert_eq!(sum[..16], *"94d6f66136bd8e90");
    }

    /// In version 2 the hash of a directory did not say of all its files whether they are private.
    #[test]
    fn hashes_of_an_earlier_version_are_not_trusted() {
        let mut index = encode(&learnt(), &Exclusions::default(), &MountId::default()).unwrap();
        assert!(Index::from_bytes(index.bytes.clone(), Moment::now()).is_some());
        index.bytes[MAGIC.len() - 1] = 2;
        assert!(Index::from_bytes(index.bytes, Moment::now()).is_none());
    }
}
