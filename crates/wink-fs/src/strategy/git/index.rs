//! The table of a git pack, version 2: its objects and their offsets.

use sha1::{Digest, Sha1};

use super::object::{ID_BYTES, ObjectId};

const MAGIC: [u8; 8] = *b"\xfftOc\0\0\0\x02";
const FANOUT: usize = 256;
const HEAD_BYTES: usize = MAGIC.len() + 4 * FANOUT;

/// Marks an offset of more than 31 bits.
const LARGE: u32 = 1 << 31;

/// The offset of an object in a pack, and the checksum of its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) offset: u64,
    pub(super) crc: u32,
}

/// Encodes a table; rows must be sorted by object.
pub(super) fn encode<'r>(
    rows: impl ExactSizeIterator<Item = (&'r ObjectId, &'r Row)> + Clone,
    pack_sum: &[u8; ID_BYTES],
) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let mut counts = [0u32; FANOUT];
    rows.clone().for_each(|(id, _)| counts[id.0[0] as usize] += 1);
    let mut below = 0;
    for count in counts {
        below += count;
        bytes.extend_from_slice(&below.to_be_bytes());
    }
    rows.clone().for_each(|(id, _)| bytes.extend_from_slice(&id.0));
    rows.clone().for_each(|(_, row)| bytes.extend_from_slice(&row.crc.to_be_bytes()));
    let mut large = Vec::new();
    for (_, row) in rows {
        let small = u32::try_from(row.offset).ok().filter(|offset| *offset < LARGE);
        let short = small.unwrap_or_else(|| {
            large.push(row.offset);
            LARGE | (large.len() as u32 - 1)
        });
        bytes.extend_from_slice(&short.to_be_bytes());
    }
    large.iter().for_each(|offset| bytes.extend_from_slice(&offset.to_be_bytes()));
    bytes.extend_from_slice(pack_sum);
    let sum = Sha1::digest(&bytes);
    bytes.extend_from_slice(&sum);
    bytes
}

/// A checked table.
pub(super) struct Index {
    bytes: Vec<u8>,
    count: usize,
}

impl Index {
    /// Decodes a table; `None` if it is damaged.
    pub(super) fn decode(bytes: Vec<u8>) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<ID_BYTES>()?;
        let whole = body.starts_with(&MAGIC) && <[u8; ID_BYTES]>::from(Sha1::digest(body)) == *sum;
        let count = number(&bytes, HEAD_BYTES - 4)? as usize;
        let least = HEAD_BYTES + count.checked_mul(ID_BYTES + 8)? + 2 * ID_BYTES;
        (whole && bytes.len() >= least).then_some(Self { bytes, count })
    }

    pub(super) fn find(&self, id: &ObjectId) -> Option<u64> {
        let first = usize::from(id.0[0]);
        let fan = |at: usize| number(&self.bytes, MAGIC.len() + 4 * at).map(|it| it as usize);
        let start = if first == 0 { 0 } else { fan(first - 1)? };
        let ids = self.bytes.get(HEAD_BYTES..HEAD_BYTES + self.count * ID_BYTES)?;
        let (ids, _) = ids.as_chunks::<ID_BYTES>();
        let at = start + ids.get(start..fan(first)?)?.binary_search(&id.0).ok()?;
        self.offset(at)
    }

    /// Returns all objects, sorted by id.
    pub(super) fn rows(&self) -> impl Iterator<Item = (ObjectId, Row)> {
        let ids = self.bytes.get(HEAD_BYTES..HEAD_BYTES + self.count * ID_BYTES);
        let (ids, _) = ids.unwrap_or_default().as_chunks::<ID_BYTES>();
        let row = |(at, id): (usize, &[u8; ID_BYTES])| {
            let crc = number(&self.bytes, HEAD_BYTES + self.count * ID_BYTES + 4 * at)?;
            Some((ObjectId(*id), Row { offset: self.offset(at)?, crc }))
        };
        ids.iter().enumerate().filter_map(row)
    }

    fn offset(&self, at: usize) -> Option<u64> {
        let offsets = HEAD_BYTES + self.count * (ID_BYTES + 4);
        let short = number(&self.bytes, offsets + 4 * at)?;
        if short < LARGE {
            return Some(short.into());
        }
        let at = offsets + 4 * self.count + 8 * (short - LARGE) as usize;
        Some(u64::from_be_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_object_is_found_where_it_is_also_far_into_a_pack() {
        let id = |byte: u8| ObjectId([byte; ID_BYTES]);
        let rows: BTreeMap<_, _> = (0..=255u8)
            .step_by(5)
            .map(|byte| (id(byte), Row { offset: u64::from(byte) << 28, crc: 7 }))
            .collect();
        let index = Index::decode(encode(rows.iter(), &[9; ID_BYTES])).unwrap();
        for byte in 0..=255u8 {
            let expected = rows.get(&id(byte)).map(|row| row.offset);
            assert_eq!(index.find(&id(byte)), expected, "{byte}");
        }
        let found: Vec<_> = index.rows().map(|(id, row)| (id, row.offset, row.crc)).collect();
        let written: Vec<_> = rows.iter().map(|(id, row)| (*id, row.offset, row.crc)).collect();
        assert_eq!(found, written);
    }

    #[test]
    fn a_damaged_table_is_refused() {
        let rows = BTreeMap::from([(ObjectId([1; ID_BYTES]), Row { offset: 12, crc: 0 })]);
        let whole = encode(rows.iter(), &[9; ID_BYTES]);
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 1;
            assert!(Index::decode(other).is_none(), "byte {at}");
            assert!(Index::decode(whole[..at].to_vec()).is_none(), "cut at {at}");
        }
    }
}
