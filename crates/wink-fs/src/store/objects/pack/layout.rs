//! The format of a pack, except its blocks; see `docs/store-format.md`.

use crate::store::objects::object::{ObjectId, ObjectKind};
use crate::store::objects::take;

pub(super) const MAGIC: [u8; 8] = *b"winkpack";
pub(super) const VERSION: u32 = 1;

pub(super) const HEADER_BYTES: usize = 12;
pub(super) const BLOCK_ROW_BYTES: usize = 21;
pub(super) const OBJECT_ROW_BYTES: usize = 53;
pub(super) const FOOTER_BYTES: usize = 48;
pub(super) const CHECKSUM_BYTES: usize = 32;

/// The largest block, which bounds the memory of a reader.
pub(super) const MAX_BLOCK_BYTES: u32 = 8 * 1024 * 1024;

/// Returns the header of a pack.
pub(super) fn header() -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..].copy_from_slice(&VERSION.to_le_bytes());
    header
}

/// How a block is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Codec {
    Raw,
    Zstd,
}

/// The location of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BlockRow {
    pub(crate) offset: u64,
    pub(crate) stored: u32,
    pub(crate) raw: u32,
    pub(crate) crc: u32,
    pub(crate) codec: Codec,
}

impl BlockRow {
    pub(super) fn encode(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.offset.to_le_bytes());
        into.extend_from_slice(&self.stored.to_le_bytes());
        into.extend_from_slice(&self.raw.to_le_bytes());
        into.extend_from_slice(&self.crc.to_le_bytes());
        into.push(self.codec as u8);
    }

    /// Decodes a row; `None` if it is not valid.
    pub(super) fn decode(mut row: &[u8]) -> Option<Self> {
        let decoded = Self {
            offset: u64::from_le_bytes(take(&mut row)?),
            stored: u32::from_le_bytes(take(&mut row)?),
            raw: u32::from_le_bytes(take(&mut row)?),
            crc: u32::from_le_bytes(take(&mut row)?),
            codec: match take(&mut row)? {
                [0] => Codec::Raw,
                [1] => Codec::Zstd,
                _ => return None,
            },
        };
        decoded.is_sound().then_some(decoded)
    }

    fn is_sound(&self) -> bool {
        let sizes = match self.codec {
            Codec::Raw => self.stored == self.raw,
            Codec::Zstd => self.stored < self.raw,
        };
        sizes && self.raw <= MAX_BLOCK_BYTES
    }
}

/// The location of an object in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ObjectRow {
    pub(crate) id: ObjectId,
    pub(crate) block: u32,
    pub(crate) offset: u32,
    pub(crate) length: u32,
    /// The size of the file for a list, otherwise the object's length.
    pub(crate) size: u64,
}

impl ObjectRow {
    pub(super) fn encode(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.id.key);
        into.push(self.id.kind.to_byte());
        for number in [self.block, self.offset, self.length] {
            into.extend_from_slice(&number.to_le_bytes());
        }
        into.extend_from_slice(&self.size.to_le_bytes());
    }

    /// Decodes a row; `None` if it is not valid.
    pub(super) fn decode(mut row: &[u8]) -> Option<Self> {
        let key = take(&mut row)?;
        let kind = ObjectKind::from_byte(take::<1>(&mut row)?[0])?;
        let decoded = Self {
            id: ObjectId { key, kind },
            block: u32::from_le_bytes(take(&mut row)?),
            offset: u32::from_le_bytes(take(&mut row)?),
            length: u32::from_le_bytes(take(&mut row)?),
            size: u64::from_le_bytes(take(&mut row)?),
        };
        let sized = kind == ObjectKind::List || decoded.size == u64::from(decoded.length);
        sized.then_some(decoded)
    }
}

/// The footer: where the tables are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Footer {
    pub(super) tables_at: u64,
    pub(super) blocks: u32,
    pub(super) objects: u32,
}

impl Footer {
    /// Encodes the footer without its checksum.
    pub(super) fn encode(&self) -> [u8; FOOTER_BYTES - CHECKSUM_BYTES] {
        let mut footer = [0; FOOTER_BYTES - CHECKSUM_BYTES];
        footer[..8].copy_from_slice(&self.tables_at.to_le_bytes());
        footer[8..12].copy_from_slice(&self.blocks.to_le_bytes());
        footer[12..].copy_from_slice(&self.objects.to_le_bytes());
        footer
    }

    pub(super) fn decode(mut footer: &[u8]) -> Option<Self> {
        Some(Self {
            tables_at: u64::from_le_bytes(take(&mut footer)?),
            blocks: u32::from_le_bytes(take(&mut footer)?),
            objects: u32::from_le_bytes(take(&mut footer)?),
        })
    }

    pub(super) fn block_table_bytes(&self) -> usize {
        self.blocks as usize * BLOCK_ROW_BYTES
    }

    /// Returns the size of a pack with these tables.
    pub(super) fn pack_bytes(&self) -> Option<u64> {
        let index = self.objects as usize * OBJECT_ROW_BYTES;
        let tables = self.block_table_bytes() + index + FOOTER_BYTES;
        self.tables_at.checked_add(tables as u64)
    }
}

/// Returns the checksum of everything except the blocks.
pub(super) fn checksum(header: &[u8], tables_and_footer: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(header);
    hasher.update(tables_and_footer);
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(stored: u32, raw: u32, codec: Codec) -> Option<BlockRow> {
        let mut bytes = Vec::new();
        BlockRow { offset: 12, stored, raw, crc: 7, codec }.encode(&mut bytes);
        assert_eq!(bytes.len(), BLOCK_ROW_BYTES);
        BlockRow::decode(&bytes)
    }

    #[test]
    fn threat_50_blocks_that_would_unpack_to_more_than_memory_are_refused() {
        assert!(block(10, MAX_BLOCK_BYTES, Codec::Zstd).is_some());
        assert!(block(10, 10, Codec::Raw).is_some());
        for (stored, raw, codec) in [
            (10, MAX_BLOCK_BYTES + 1, Codec::Zstd),
            (u32::MAX, u32::MAX, Codec::Raw),
            (10, 9, Codec::Zstd),
            (10, 10, Codec::Zstd),
            (9, 10, Codec::Raw),
        ] {
            assert_eq!(block(stored, raw, codec), None, "{stored} {raw} {codec:?}");
        }
    }

    #[test]
    fn rows_and_footers_are_read_as_they_were_written() {
        let id = ObjectId { key: [3; 32], kind: ObjectKind::List };
        let row = ObjectRow { id, block: 1, offset: 2, length: 3, size: 1 << 40 };
        let mut bytes = Vec::new();
        row.encode(&mut bytes);
        assert_eq!((bytes.len(), ObjectRow::decode(&bytes)), (OBJECT_ROW_BYTES, Some(row)));
        bytes[32] = b'b';
        assert_eq!(ObjectRow::decode(&bytes), None, "only a list stands for something larger");
        let footer = Footer { tables_at: 5, blocks: 1, objects: 2 };
        assert_eq!(Footer::decode(&footer.encode()), Some(footer));
        assert_eq!(footer.pack_bytes(), Some(5 + 21 + 2 * 53 + 48));
        assert_eq!(Footer { tables_at: u64::MAX, ..footer }.pack_bytes(), None);
    }
}
