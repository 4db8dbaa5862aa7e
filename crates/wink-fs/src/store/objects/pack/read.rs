//! Reads a pack.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::fs::File;
use std::io;

use bytes::Bytes;
use zstd::bulk::Decompressor;

use super::layout::{
    BLOCK_ROW_BYTES, BlockRow, CHECKSUM_BYTES, Codec, FOOTER_BYTES, Footer, HEADER_BYTES,
    OBJECT_ROW_BYTES, ObjectRow, checksum, header,
};
use super::place;
use crate::error::{damaged, worded};
use crate::store::disk::Disk;
use crate::store::objects::object::{KEY_BYTES, ObjectKind};
use crate::tree::content::ReadAt;

/// How many interpolation steps are made before a binary search, and for how few rows none are needed.
const GUESSES: usize = 6;
const FEW: usize = 8;

/// The tables of a pack, as flat bytes that are searched in place.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) id: String,
    blocks: Bytes,
    objects: Bytes,
    tables_at: u64,
    /// The size of the file.
    pub(crate) bytes: u64,
}

impl Pack {
    /// Reads and checks everything except the blocks.
    pub(crate) fn open(disk: &Disk, id: &str) -> io::Result<Self> {
        let file = open(disk, id)?;
        let len = file.metadata()?.len();
        let whole = |bytes: io::Result<Bytes>| bytes.map_err(|error| cut_off(id, error));
        let footer_at = len.checked_sub(FOOTER_BYTES as u64).ok_or_else(|| broken(id))?;
        let footer = Footer::decode(&whole(read(&file, footer_at, FOOTER_BYTES))?);
        let footer = footer.filter(|footer| footer.pack_bytes() == Some(len));
        let footer = footer.ok_or_else(|| broken(id))?;
        let tables = whole(read(&file, footer.tables_at, (len - footer.tables_at) as usize))?;
        let head = whole(read(&file, 0, HEADER_BYTES))?;
        let (covered, sum) = tables.split_at(tables.len() - CHECKSUM_BYTES);
        if head != header()[..] || checksum(&head, covered) != sum {
            return Err(broken(id));
        }
        let index = footer.block_table_bytes()..tables.len() - FOOTER_BYTES;
        let blocks = tables.slice(..index.start);
        let objects = tables.slice(index);
        Ok(Self { id: id.to_string(), blocks, objects, tables_at: footer.tables_at, bytes: len })
    }

    pub(crate) fn object_count(&self) -> usize {
        self.objects.len() / OBJECT_ROW_BYTES
    }

    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len() / BLOCK_ROW_BYTES
    }

    /// Returns all rows, sorted by key.
    pub(crate) fn objects(&self) -> impl Iterator<Item = io::Result<ObjectRow>> {
        (0..self.object_count()).map(|at| self.object(at))
    }

    /// Finds an object by its key and possible kinds.
    pub(crate) fn find(
        &self,
        key: &[u8; KEY_BYTES],
        kinds: &[ObjectKind],
    ) -> Option<io::Result<ObjectRow>> {
        let rows = self.first_not_before(key)..self.object_count();
        rows.take_while(|at| self.row(*at).starts_with(key))
            .find(|at| kinds.iter().any(|kind| self.row(*at)[KEY_BYTES] == kind.to_byte()))
            .map(|at| self.object(at))
    }

    fn first_not_before(&self, key: &[u8; KEY_BYTES]) -> usize {
        let (mut low, mut high) = self.around(key);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.row(middle)[..KEY_BYTES] < key[..] { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Narrows down the position of a key: keys are hashes, so they are evenly distributed.
    fn around(&self, key: &[u8; KEY_BYTES]) -> (usize, usize) {
        let wanted = start_of(key);
        let mut low = 0;
        let mut high = self.object_count();
        let mut low_key = 0;
        let mut high_key = u64::MAX;
        for _ in 0..GUESSES {
            if high - low <= FEW {
                break;
            }
            let share = u128::from(wanted.saturating_sub(low_key)) * (high - low) as u128;
            let guess = low + (share / (u128::from(high_key - low_key) + 1)) as usize;
            let found = start_of(self.row(guess));
            match found.cmp(&wanted) {
                Ordering::Less => (low, low_key) = (guess + 1, found),
                Ordering::Greater => (high, high_key) = (guess, found),
                Ordering::Equal => break,
            }
        }
        (low, high)
    }

    fn row(&self, at: usize) -> &[u8] {
        &self.objects[at * OBJECT_ROW_BYTES..][..OBJECT_ROW_BYTES]
    }

    fn object(&self, at: usize) -> io::Result<ObjectRow> {
        ObjectRow::decode(self.row(at)).ok_or_else(|| broken(&self.id))
    }

    fn block(&self, at: u32) -> io::Result<BlockRow> {
        let row = self.blocks.chunks_exact(BLOCK_ROW_BYTES).nth(at as usize);
        row.and_then(BlockRow::decode).ok_or_else(|| broken(&self.id))
    }

    /// Reads and decompresses a block.
    pub(crate) fn read_block(&self, disk: &Disk, at: u32) -> io::Result<Bytes> {
        let (row, stored) = self.read_stored(disk, at)?;
        let raw = unpack(&row, stored).filter(|raw| raw.len() == row.raw as usize);
        raw.ok_or_else(|| self.broken_block(at))
    }

    /// Reads a block as stored, and checks it.
    pub(crate) fn read_stored(&self, disk: &Disk, at: u32) -> io::Result<(BlockRow, Bytes)> {
        let row = self.block(at)?;
        let file = open(disk, &self.id)?;
        let stored = read(&file, row.offset, row.stored as usize)
            .map_err(|error| cut_off(&self.id, error))?;
        if crc32fast::hash(&stored) == row.crc {
            Ok((row, stored))
        } else {
            Err(self.broken_block(at))
        }
    }

    fn broken_block(&self, at: u32) -> io::Error {
        damaged(format!("block {at} of pack {} is damaged", self.id))
    }

    /// Checks that blocks are adjacent, and that rows are sorted and within their blocks.
    pub(crate) fn check_rows(&self) -> io::Result<()> {
        let mut end = HEADER_BYTES as u64;
        let mut raw = Vec::with_capacity(self.block_count());
        for at in 0..self.block_count() {
            let block = self.block(at as u32)?;
            if block.offset != end {
                return Err(broken(&self.id));
            }
            end += u64::from(block.stored);
            raw.push(block.raw);
        }
        let ordered = (1..self.object_count())
            .all(|at| self.row(at - 1)[..=KEY_BYTES] < self.row(at)[..=KEY_BYTES]);
        if end != self.tables_at || !ordered {
            return Err(broken(&self.id));
        }
        self.objects().try_for_each(|row| self.check_inside(&row?, &raw))
    }

    fn check_inside(&self, row: &ObjectRow, raw: &[u32]) -> io::Result<()> {
        let end = row.offset.checked_add(row.length);
        match (end, raw.get(row.block as usize)) {
            (Some(end), Some(raw)) if end <= *raw => Ok(()),
            _ => Err(broken(&self.id)),
        }
    }
}

/// Returns the first bytes of a key as a number of the same order.
fn start_of(key: &[u8]) -> u64 {
    key.first_chunk().map_or(0, |start| u64::from_be_bytes(*start))
}

/// Decompresses a block; `None` if that fails.
fn unpack(row: &BlockRow, stored: Bytes) -> Option<Bytes> {
    match row.codec {
        Codec::Raw => Some(stored),
        Codec::Zstd => decompress(&stored, row.raw as usize).ok().map(Bytes::from),
    }
}

fn decompress(stored: &[u8], len: usize) -> io::Result<Vec<u8>> {
    thread_local! {
        // Making a decompressor takes as long as using it.
        static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    }
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(Decompressor::new()?),
        };
        decompressor.decompress(stored, len)
    })
}

fn open(disk: &Disk, id: &str) -> io::Result<File> {
    disk.open(&place(id)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => damaged(format!("pack {id} is missing")),
        _ => error,
    })
}

fn read(file: &File, offset: u64, len: usize) -> io::Result<Bytes> {
    let mut bytes = vec![0; len];
    let mut filled = 0;
    while filled < len {
        match ReadAt::read_at(file, &mut bytes[filled..], offset + filled as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes.into())
}

fn cut_off(id: &str, error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged(format!("pack {id} is cut off")),
        _ => worded(
            io::ErrorKind::Other,
            format!("the disk failed to read pack {id}; look after the disk and verify the store"),
        ),
    }
}

fn broken(id: &str) -> io::Error {
    damaged(format!("the tables of pack {id} are damaged"))
}
