//! Writes a pack: the objects of a snapshot that the repository does not have yet.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use libdeflater::{CompressionLvl, Compressor};
use parking_lot::Mutex;
use sha1::{Digest, Sha1};

use super::index::{self, Row};
use super::object::{ID_BYTES, ObjectId, ObjectKind};
use super::packs::Location;
use super::{PACKS, pack_name};
use crate::error::damaged;
use crate::store::disk::Disk;
use crate::store::temporary::Temporary;
use crate::tree::content::Content;

const HEAD_BYTES: u64 = 12;
const BUFFER_BYTES: usize = 256 * 1024;

/// Most content is small text, and a snapshot must be fast.
const LEVEL: i32 = 1;

pub(super) struct PackWriter<'d> {
    disk: &'d Disk,
    name: String,
    state: Mutex<State<'d>>,
}

struct State<'d> {
    file: Temporary<'d>,
    end: u64,
    rows: BTreeMap<ObjectId, Row>,
}

impl<'d> PackWriter<'d> {
    pub(super) fn new(disk: &'d Disk, name: String) -> io::Result<Self> {
        let mut file = Temporary::new(disk, PACKS, name.clone())?;
        file.write_all(&head(0))?;
        let state = State { file, end: HEAD_BYTES, rows: BTreeMap::new() };
        Ok(Self { disk, name, state: Mutex::new(state) })
    }

    pub(super) fn contains(&self, id: &ObjectId) -> bool {
        self.state.lock().rows.contains_key(id)
    }

    /// Adds an object from memory.
    pub(super) fn add(&self, kind: ObjectKind, id: ObjectId, bytes: &[u8]) -> io::Result<()> {
        let mut packed = entry_head(kind, bytes.len() as u64);
        // Compressed outside of the lock, so that threads wait only for the write.
        packed.extend_from_slice(&compress(bytes)?);
        let mut state = self.state.lock();
        let State { file, end, rows } = &mut *state;
        if let Entry::Vacant(row) = rows.entry(id) {
            file.write_all(&packed)?;
            row.insert(Row { offset: *end, crc: crc32fast::hash(&packed) });
            *end += packed.len() as u64;
        }
        Ok(())
    }

    /// Adds content that is too large for memory.
    pub(super) fn add_large(&self, id: ObjectId, content: &Content) -> io::Result<()> {
        let mut state = self.state.lock();
        let State { file, end, rows } = &mut *state;
        let mut out = Counting { file, count: 0, crc: crc32fast::Hasher::new() };
        out.write_all(&entry_head(ObjectKind::Blob, content.len()))?;
        let mut packer = ZlibEncoder::new(out, Compression::new(LEVEL as u32));
        content.for_each_chunk(|chunk| packer.write_all(chunk))?;
        let Counting { count, crc, .. } = packer.finish()?;
        rows.insert(id, Row { offset: *end, crc: crc.finalize() });
        *end += count;
        Ok(())
    }

    /// Copies an object from another pack, after checking its bytes.
    pub(super) fn copy(&self, id: ObjectId, from: &Location<'_>) -> io::Result<()> {
        let mut state = self.state.lock();
        let State { file, end, rows } = &mut *state;
        let mut out = Counting { file, count: 0, crc: crc32fast::Hasher::new() };
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut at = from.range.start;
        while at < from.range.end {
            let wanted = BUFFER_BYTES.min((from.range.end - at) as usize);
            let read = from.file.read_at(&mut buffer[..wanted], at)?;
            if read == 0 {
                break;
            }
            out.write_all(&buffer[..read])?;
            at += read as u64;
        }
        let Counting { count, crc, .. } = out;
        if crc.finalize() != from.crc {
            return Err(damaged("an object of the repository is damaged; verify the snapshots"));
        }
        rows.insert(id, Row { offset: *end, crc: from.crc });
        *end += count;
        Ok(())
    }

    /// Syncs and publishes the pack and its table, and returns its name.
    pub(super) fn finish(self) -> io::Result<String> {
        let State { mut file, rows, .. } = self.state.into_inner();
        // The number of objects is in the header, and the hash covers it: both are known only now.
        let sum = seal(file.file(), rows.len() as u32)?;
        file.write_all(&sum)?;
        file.sync()?;
        let name = ObjectId(sum).to_hex();
        // With a `.keep` file, git does not repack it.
        let keep = Temporary::new(self.disk, PACKS, format!("{}.keep", self.name))?;
        let mut table = Temporary::new(self.disk, PACKS, format!("{}.idx", self.name))?;
        table.write_all(&index::encode(rows.iter(), &sum))?;
        table.sync()?;
        // The table last, because a pack is found by it.
        for (file, extension) in [(keep, "keep"), (file, "pack"), (table, "idx")] {
            let mut file = file.named(pack_name(&name, extension));
            file.rename()?;
            file.keep();
        }
        self.disk.sync_dir(PACKS)?;
        Ok(name)
    }
}

fn head(count: u32) -> [u8; HEAD_BYTES as usize] {
    let mut head = *b"PACK\0\0\0\x02\0\0\0\0";
    head[8..].copy_from_slice(&count.to_be_bytes());
    head
}

/// Writes the number of objects, now that it is known, and returns the hash of all bytes.
fn seal(file: &File, count: u32) -> io::Result<[u8; ID_BYTES]> {
    std::os::unix::fs::FileExt::write_all_at(file, &head(count), 0)?;
    let mut hasher = Sha1::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut at = 0;
    loop {
        match std::os::unix::fs::FileExt::read_at(file, &mut buffer, at)? {
            0 => return Ok(hasher.finalize().into()),
            read => {
                hasher.update(&buffer[..read]);
                at += read as u64;
            }
        }
    }
}

/// Encodes the head of an object: its kind, and its size in groups of seven bits.
fn entry_head(kind: ObjectKind, size: u64) -> Vec<u8> {
    let mut byte = kind.number() << 4 | (size & 15) as u8;
    let mut rest = size >> 4;
    let mut head = Vec::new();
    while rest > 0 {
        head.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    head.push(byte);
    head
}

fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let level = CompressionLvl::new(LEVEL).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut packer = Compressor::new(level);
    let mut packed = vec![0; packer.zlib_compress_bound(bytes.len())];
    let len = packer.zlib_compress(bytes, &mut packed).map_err(|_| io::ErrorKind::OutOfMemory)?;
    packed.truncate(len);
    Ok(packed)
}

struct Counting<'a, 'd> {
    file: &'a mut Temporary<'d>,
    count: u64,
    crc: crc32fast::Hasher,
}

impl Write for Counting<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.count += written as u64;
        self.crc.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
