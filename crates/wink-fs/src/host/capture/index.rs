//! The index: stamps and hashes of all entries, from the last capture.
//!
//! It is a cache in one flat, checksummed buffer, decoded on demand. If it is missing or damaged, every file is read
//! again. `docs/host-index.md` has the format.

use std::borrow::Cow;
use std::ops::Range;

use super::stamp::{Moment, Reader, Stamp};
use super::tree::{Node, NodeData};
use crate::hash::ContentHash;
use crate::host::mount_id::MountId;
use crate::path::Name;
use crate::tree::FileMode;
use crate::tree::hash::TreeHash;
use crate::tree::scope::Exclusions;

const MAGIC: &[u8; 8] = b"WINKIDX\x04";
const HASH_BYTES: usize = 32;

/// Precedes the hash of a directory.
const HASH: u8 = 1;

/// Precedes the hash of a private directory.
const PRIVATE_HASH: u8 = 2;

/// The most bytes that a directory's block has before its rows.
const BLOCK_HEAD_BYTES: usize = 1 + HASH_BYTES + 1 + Stamp::BYTES + 4 + 4;

/// How long after a write a power loss may still lose content whose stamp is on disk: ten times the kernel's write-back
/// time.
const SETTLING_SECONDS: i64 = 300;

/// The encoded index; the checksum was verified when it was loaded.
#[derive(Default)]
pub(in crate::host) struct Index {
    bytes: Vec<u8>,
    /// A hash of the exclusions and the mount that the capture used.
    scope_hash: [u8; HASH_BYTES],
    /// When the file was written; `None` if this process made the index.
    written: Option<Moment>,
    /// The offset of each directory's block; the root comes first.
    starts: Vec<u32>,
}

/// NodeData the index has about one directory.
pub(super) struct Block<'a> {
    /// Its hash, and the mode that it covers.
    pub(super) hash: Option<(TreeHash, FileMode)>,
    /// The directory's own stamp, if the rows are complete.
    pub(super) stamp: Option<Stamp>,
    pub(super) rows: Rows<'a>,
}

/// The rows of one directory, sorted by name and decoded one at a time.
#[derive(Clone)]
pub(super) struct Rows<'a> {
    reader: Reader<'a>,
    left: u32,
    next_child: u32,
}

/// NodeData the index has about one entry.
pub(super) struct Row<'a> {
    pub(super) name: &'a [u8],
    pub(super) what: RowData,
}

#[derive(Clone, Copy)]
pub(super) enum RowData {
    File { stamp: Stamp, hash: Option<ContentHash> },
    Link { stamp: Stamp },
    Directory { number: u32 },
}

impl<'a> Rows<'a> {
    /// Returns whether all rows were decoded; decoding stops at a damaged row.
    pub(super) fn is_at_end(&self) -> bool {
        self.left == 0
    }

    fn decode(&mut self) -> Option<Row<'a>> {
        let kind = self.reader.byte()?;
        let len = self.reader.byte()?;
        let name = self.reader.take(len.into())?;
        let what = match kind {
            b'f' => {
                let stamp = Stamp::decode(&mut self.reader)?;
                let hash = self.reader.optional(Reader::array)?;
                RowData::File { stamp, hash: hash.map(ContentHash::from_bytes) }
            }
            b'l' => RowData::Link { stamp: Stamp::decode(&mut self.reader)? },
            b'd' => {
                self.next_child = self.next_child.checked_add(1)?;
                RowData::Directory { number: self.next_child - 1 }
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
    /// Loads the bytes that [`encode`] made; `None` if they are damaged or of another version.
    pub(in crate::host) fn from_bytes(bytes: Vec<u8>, written: Moment) -> Option<Self> {
        let mut reader = Reader(&bytes);
        (reader.take(MAGIC.len())? == MAGIC).then_some(())?;
        let checksum: [u8; HASH_BYTES] = reader.array()?;
        // The file is not synced, so a power loss may leave parts of it.
        (blake3::hash(reader.0) == checksum).then_some(())?;
        let scope_hash = reader.array()?;
        let count = reader.number()? as usize;
        let starts = reader.take(count.checked_mul(4)?)?;
        let starts = starts.chunks_exact(4).map(|start| Reader(start).number());
        let starts = starts.collect::<Option<_>>()?;
        let written = Some(written);
        Some(Self { starts, scope_hash, written, bytes })
    }

    pub(in crate::host) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns whether the capture used these exclusions and this mount.
    pub(super) fn matches_scope(&self, excluded: &Exclusions, mount_id: &MountId) -> bool {
        self.scope_hash == hash_scope(excluded, mount_id)
    }

    /// Returns the moment from which on a stamp may have reached the disk without the file's content.
    pub(super) fn unsettled_from(&self) -> Option<Moment> {
        self.written.map(|written| written.minus_seconds(SETTLING_SECONDS))
    }

    /// Returns a directory's block.
    pub(super) fn block(&self, number: u32) -> Option<Block<'_>> {
        let at = number as usize;
        let start = *self.starts.get(at)? as usize;
        let end = self.starts.get(at + 1).map_or(self.bytes.len(), |end| *end as usize);
        let mut reader = Reader(self.bytes.get(start..end)?);
        let known = reader.byte()?;
        let hash = match known {
            0 => None,
            HASH | PRIVATE_HASH => {
                let mode = FileMode::default().private(known == PRIVATE_HASH);
                Some((TreeHash::from_bytes(reader.array()?), mode))
            }
            _ => return None,
        };
        let stamp = reader.optional(Stamp::decode)?;
        let next_child = reader.number()?;
        let left = reader.number()?;
        Some(Block { hash, stamp, rows: Rows { reader, left, next_child } })
    }

    /// Returns a directory's encoded rows and their number.
    pub(super) fn rows(&self, number: u32) -> (Cow<'_, [u8]>, u32) {
        let rows = self.block(number).map(|block| block.rows);
        rows.map_or_else(Default::default, |rows| (rows.reader.0.into(), rows.left))
    }

    /// Returns the entries of a directory that is unchanged.
    pub(super) fn nodes(&self, number: u32) -> Vec<Node> {
        let mut directories = 0..;
        let node = |row: Row<'_>| {
            let what = match row.what {
                RowData::File { stamp, hash } => NodeData::File { stamp, hash },
                RowData::Link { stamp } => NodeData::Link { stamp },
                RowData::Directory { .. } => NodeData::Directory { ordinal: directories.next()? },
            };
            Some(Node { name: Name::from_disk(row.name).ok()?, what })
        };
        self.block(number).into_iter().flat_map(|block| block.rows).filter_map(node).collect()
    }
}

/// One directory, ready to be encoded.
pub(super) struct BlockData<'a> {
    pub(super) hash: Option<TreeHash>,
    pub(super) mode: FileMode,
    pub(super) stamp: Option<Stamp>,
    pub(super) children: Range<u32>,
    pub(super) rows: Cow<'a, [u8]>,
    pub(super) count: u32,
}

/// Encodes directories, each after its parent.
pub(super) fn encode(
    directories: &[BlockData<'_>],
    excluded: &Exclusions,
    mount_id: &MountId,
) -> Option<Index> {
    let scope_hash = hash_scope(excluded, mount_id);
    let table = MAGIC.len() + 2 * HASH_BYTES + 4;
    let rows: usize = directories.iter().map(|directory| directory.rows.len()).sum();
    let heads = directories.len() * (4 + BLOCK_HEAD_BYTES);
    let mut bytes = Vec::with_capacity(table + heads + rows);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[0; HASH_BYTES]);
    bytes.extend_from_slice(&scope_hash);
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
    Some(Index { bytes, scope_hash, written: None, starts })
}

fn encode_directory(into: &mut Vec<u8>, directory: &BlockData<'_>) {
    let known = if directory.mode.private { PRIVATE_HASH } else { HASH };
    into.push(if directory.hash.is_some() { known } else { 0 });
    directory.hash.iter().for_each(|hash| into.extend_from_slice(hash.as_bytes()));
    into.push(u8::from(directory.stamp.is_some()));
    directory.stamp.iter().for_each(|stamp| stamp.encode(into));
    into.extend_from_slice(&directory.children.start.to_le_bytes());
    into.extend_from_slice(&directory.count.to_le_bytes());
    into.extend_from_slice(&directory.rows);
}

/// Encodes one row.
pub(super) fn encode_row(into: &mut Vec<u8>, name: &Name, what: &NodeData) {
    let kind = match what {
        NodeData::File { .. } => b'f',
        NodeData::Link { .. } => b'l',
        NodeData::Directory { .. } => b'd',
    };
    // A name has at most 255 bytes.
    into.extend_from_slice(&[kind, name.as_bytes().len() as u8]);
    into.extend_from_slice(name.as_bytes());
    match what {
        NodeData::File { stamp, hash } => {
            stamp.encode(into);
            encode_hash(into, hash.as_ref().map(ContentHash::as_bytes));
        }
        NodeData::Link { stamp } => stamp.encode(into),
        NodeData::Directory { .. } => {}
    }
}

fn encode_hash(into: &mut Vec<u8>, hash: Option<&[u8; HASH_BYTES]>) {
    into.push(u8::from(hash.is_some()));
    into.extend_from_slice(hash.map_or(&[], |hash| &hash[..]));
}

/// Hashes the exclusions and the mount, on which the names in the index depend.
fn hash_scope(excluded: &Exclusions, mount_id: &MountId) -> [u8; HASH_BYTES] {
    let mut hasher = blake3::Hasher::new();
    for pattern in excluded.patterns() {
        // A NUL separates patterns, because no pattern contains one.
        hasher.update(pattern.as_bytes()).update(&[0]);
    }
    hasher.update(mount_id.as_bytes()).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::capture::stamp::tests::stamp;

    fn learnt() -> Vec<BlockData<'static>> {
        let name = |name: &str| Name::from_disk(name.as_bytes()).unwrap();
        let mut rows = Vec::new();
        encode_row(&mut rows, &name("d"), &NodeData::Directory { ordinal: 0 });
        let hash = Some(ContentHash::of(b"f"));
        encode_row(&mut rows, &name("f"), &NodeData::File { stamp: stamp(2), hash });
        encode_row(&mut rows, &name("l"), &NodeData::Link { stamp: stamp(3) });
        let hash = Some(TreeHash::from_bytes([7; HASH_BYTES]));
        vec![
            BlockData {
                hash,
                mode: FileMode::default(),
                stamp: Some(stamp(1)),
                children: 1..2,
                rows: rows.into(),
                count: 3,
            },
            BlockData {
                hash,
                mode: FileMode::default().private(true),
                stamp: None,
                children: 2..2,
                rows: Cow::default(),
                count: 0,
            },
        ]
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        let excluded = Exclusions::parse(["/target"]).unwrap();
        let mount_id = MountId::of(rustix::fs::CWD);
        let index = encode(&learnt(), &excluded, &mount_id).unwrap();
        let index = Index::from_bytes(index.bytes, Moment::now()).unwrap();
        assert!(index.matches_scope(&excluded, &mount_id));
        assert!(!index.matches_scope(&Exclusions::default(), &mount_id));
        assert!(!index.matches_scope(&excluded, &MountId::default()));
        let root = index.block(0).unwrap();
        assert_eq!(root.stamp, Some(stamp(1)));
        let numbers = root.rows.map(|row| match row.what {
            RowData::Directory { number } => Some(number),
            _ => None,
        });
        assert_eq!(numbers.collect::<Vec<_>>(), [Some(1), None, None]);
        assert_eq!(index.nodes(0).len(), 3);
        assert!(index.block(1).unwrap().rows.is_at_end());
        let modes = [0, 1].map(|number| index.block(number).unwrap().hash.unwrap().1.private);
        assert_eq!(modes, [false, true]);
    }

    /// The format's test vector; a change of it needs another version.
    #[test]
    fn the_bytes_are_those_of_version_4() {
        let index = encode(&learnt(), &Exclusions::default(), &MountId::default()).unwrap();
        assert_eq!(index.bytes.len(), 336);
        let sum = blake3::hash(&index.bytes).to_hex();
        assert_eq!(sum[..16], *"7c4d2d47b3453ccc");
    }

    /// In version 3 the hash of a directory did not say whether it is private.
    #[test]
    fn hashes_of_an_earlier_version_are_not_trusted() {
        let mut index = encode(&learnt(), &Exclusions::default(), &MountId::default()).unwrap();
        assert!(Index::from_bytes(index.bytes.clone(), Moment::now()).is_some());
        index.bytes[MAGIC.len() - 1] = 3;
        assert!(Index::from_bytes(index.bytes, Moment::now()).is_none());
    }
}
