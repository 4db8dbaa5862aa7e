//! Writes a pack, from many threads at once.

use std::collections::HashSet;
use std::io::{self, Write};

use parking_lot::{Mutex, MutexGuard};
use uuid::Uuid;
use zstd::bulk::Compressor;

use super::layout::{BlockRow, Codec, Footer, ObjectRow, checksum, header};
use super::{DIRECTORY, file_name};
use crate::store::disk::Disk;
use crate::store::objects::object::{ObjectId, ObjectKind};
use crate::store::temporary::Temporary;

/// How many bytes of small contents are compressed together.
pub(crate) const BLOCK_BYTES: usize = 256 * 1024;

/// The same for directories and other objects that are looked up one by one.
pub(crate) const LOOKUP_BLOCK_BYTES: usize = 16 * 1024;

const LEVEL: i32 = 1;

/// How many shards the set of new ids has, so that threads rarely wait for each other.
const SHARDS: usize = 64;

/// Writes new objects as one pack; without objects, no file is made.
pub(crate) struct PackWriter<'a> {
    disk: &'a Disk,
    id: String,
    claimed: [Mutex<HashSet<ObjectId>>; SHARDS],
    /// Contents and everything else are in separate blocks, so that walking a tree reads few of them.
    builders: [Mutex<Vec<Builder>>; 2],
    output: Mutex<Output<'a>>,
}

#[derive(Default)]
struct Output<'a> {
    file: Option<Temporary<'a>>,
    position: u64,
    blocks: Vec<BlockRow>,
    objects: Vec<ObjectRow>,
}

impl<'a> PackWriter<'a> {
    pub(crate) fn new(disk: &'a Disk) -> Self {
        Self {
            disk,
            id: Uuid::new_v4().simple().to_string(),
            claimed: std::array::from_fn(|_| Mutex::default()),
            builders: Default::default(),
            output: Mutex::default(),
        }
    }

    /// Returns whether an object was added.
    pub(crate) fn contains(&self, id: &ObjectId) -> bool {
        lock(self.shard(id)).contains(id)
    }

    /// Adds an object, unless it was added before.
    pub(crate) fn add(&self, id: ObjectId, size: u64, bytes: &[u8]) -> io::Result<()> {
        if !lock(self.shard(&id)).insert(id) {
            return Ok(());
        }
        let is_content = id.kind == ObjectKind::Blob;
        let builders = &self.builders[usize::from(is_content)];
        let block_bytes = if is_content { BLOCK_BYTES } else { LOOKUP_BLOCK_BYTES };
        let taken = lock(builders).pop();
        let mut builder = taken.map_or_else(|| Builder::new(block_bytes), Ok)?;
        self.append(&mut builder, id, size, bytes)?;
        lock(builders).push(builder);
        Ok(())
    }

    fn shard(&self, id: &ObjectId) -> &Mutex<HashSet<ObjectId>> {
        &self.claimed[id.key[0] as usize % SHARDS]
    }

    fn append(
        &self,
        builder: &mut Builder,
        id: ObjectId,
        size: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let row = |offset| ObjectRow { id, block: 0, offset, length, size };
        if bytes.len() >= builder.block_bytes / 2 {
            let packed = builder.pack(bytes)?;
            return self.write_block(packed, vec![row(0)]);
        }
        if builder.raw.len() + bytes.len() > builder.block_bytes {
            self.flush(builder)?;
        }
        builder.rows.push(row(builder.raw.len() as u32));
        builder.raw.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&self, builder: &mut Builder) -> io::Result<()> {
        if builder.rows.is_empty() {
            return Ok(());
        }
        let raw = std::mem::take(&mut builder.raw);
        let rows = std::mem::take(&mut builder.rows);
        self.write_block(builder.pack(&raw)?, rows)?;
        builder.raw = raw;
        builder.raw.clear();
        Ok(())
    }

    fn write_block(&self, packed: Packed<'_>, rows: Vec<ObjectRow>) -> io::Result<()> {
        let crc = crc32fast::hash(packed.bytes);
        let stored = packed.bytes.len() as u32;
        let row = BlockRow { offset: 0, stored, raw: packed.raw, crc, codec: packed.codec };
        self.add_block(row, packed.bytes, rows)
    }

    /// Adds a compressed block of another pack, with its objects, none of which may have been added.
    pub(crate) fn add_block(
        &self,
        row: BlockRow,
        stored: &[u8],
        rows: Vec<ObjectRow>,
    ) -> io::Result<()> {
        let mut output = lock(&self.output);
        self.begin(&mut output)?;
        let block = output.blocks.len() as u32;
        let offset = output.position;
        output.write(stored)?;
        output.blocks.push(BlockRow { offset, ..row });
        output.objects.extend(rows.into_iter().map(|row| ObjectRow { block, ..row }));
        Ok(())
    }

    fn begin(&self, output: &mut Output<'a>) -> io::Result<()> {
        if output.file.is_none() {
            output.file = Some(Temporary::new(self.disk, DIRECTORY, file_name(&self.id))?);
            output.write(&header())?;
        }
        Ok(())
    }

    /// Writes the rest, syncs it, and returns the pack, if there is one.
    pub(crate) fn finish(self) -> io::Result<Option<FinishedPack<'a>>> {
        for builders in &self.builders {
            for mut builder in std::mem::take(&mut *lock(builders)) {
                self.flush(&mut builder)?;
            }
        }
        let id = self.id;
        let output = self.output.into_inner();
        let Some(file) = output.finish()? else { return Ok(None) };
        Ok(Some(FinishedPack { id, file }))
    }
}

/// A pack that is synced and not published yet.
pub(crate) struct FinishedPack<'a> {
    pub(crate) id: String,
    pub(crate) file: Temporary<'a>,
}

impl<'a> Output<'a> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn finish(mut self) -> io::Result<Option<Temporary<'a>>> {
        if self.file.is_some() {
            let tables = self.tables()?;
            self.write(&tables)?;
        }
        let Some(file) = self.file else { return Ok(None) };
        file.sync()?;
        Ok(Some(file))
    }

    /// Returns everything after the blocks.
    fn tables(&mut self) -> io::Result<Vec<u8>> {
        self.objects.sort_unstable_by_key(|row| row.id);
        let count = |len: usize| u32::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge);
        let blocks = count(self.blocks.len())?;
        let objects = count(self.objects.len())?;
        let mut bytes = Vec::new();
        self.blocks.iter().for_each(|row| row.encode(&mut bytes));
        self.objects.iter().for_each(|row| row.encode(&mut bytes));
        bytes.extend_from_slice(&Footer { tables_at: self.position, blocks, objects }.encode());
        let sum = checksum(&header(), &bytes);
        bytes.extend_from_slice(&sum);
        Ok(bytes)
    }
}

/// Collects small objects until they fill a block; one of half a block gets its own.
struct Builder {
    block_bytes: usize,
    raw: Vec<u8>,
    rows: Vec<ObjectRow>,
    compressor: Compressor<'static>,
    packed: Vec<u8>,
}

/// A compressed block.
struct Packed<'b> {
    bytes: &'b [u8],
    raw: u32,
    codec: Codec,
}

impl Builder {
    fn new(block_bytes: usize) -> io::Result<Self> {
        let compressor = Compressor::new(LEVEL)?;
        Ok(Self {
            block_bytes,
            raw: Vec::with_capacity(block_bytes),
            rows: Vec::new(),
            compressor,
            packed: Vec::new(),
        })
    }

    /// Compresses bytes, unless that does not make them smaller.
    fn pack<'b>(&'b mut self, bytes: &'b [u8]) -> io::Result<Packed<'b>> {
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
        self.compressor.compress_to_buffer(bytes, &mut self.packed)?;
        let raw = bytes.len() as u32;
        Ok(if self.packed.len() < bytes.len() {
            Packed { bytes: &self.packed, raw, codec: Codec::Zstd }
        } else {
            Packed { bytes, raw, codec: Codec::Raw }
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}
