//! `archive`: a compressed tar for each snapshot, which any tar can unpack.
//!
//! It is a stream of zstd frames, each with some entries or one large file. The manifest has the position of each
//! content, so that one file is read without unpacking those before it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use zstd::stream::read::Decoder;
use zstd::stream::write::Encoder;

use super::keeper::{Finished, Keeper, KeptContent, Reader, Work};
use super::manifest::{Directory, KeptFile, Manifest, Place};
use super::tar::{self, Member};
use crate::error::{damaged, worded};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::snapshot::{Snapshot, SnapshotId};
use crate::store::disk::Disk;
use crate::tree::FileMode;
use crate::tree::content::{Content, ReadAt};
use crate::tree::streamed::{ReadFrom, streamed};

/// The directory of archives.
pub(super) const DIRECTORY: &str = "archives";

const SUFFIX: &str = ".tar.zst";
const LEVEL: i32 = 3;

/// A frame ends at this size; a larger file has its own.
const FRAME_BYTES: usize = 256 * 1024;

/// Larger than any frame of several files.
const MAX_FRAME_BYTES: u64 = 1024 * 1024;

/// Keeps each snapshot as an archive.
#[derive(Debug)]
pub(super) struct ArchiveKeeper {
    disk: Disk,
}

impl ArchiveKeeper {
    pub(super) fn new(disk: Disk) -> Self {
        Self { disk }
    }
}

fn place(id: &str) -> String {
    format!("{DIRECTORY}/{id}{SUFFIX}")
}

impl Keeper for ArchiveKeeper {
    fn begin<'a>(
        &'a self,
        id: &SnapshotId,
        _: Option<&'a Manifest>,
    ) -> io::Result<Box<dyn Work + 'a>> {
        let reference = place(&id.to_string());
        let writer = Writer { file: self.disk.create(&reference)?, end: 0, frame: Vec::new() };
        Ok(Box::new(Packing { disk: &self.disk, writer: Mutex::new(writer), reference }))
    }

    fn reader(&self, id: &SnapshotId) -> io::Result<Arc<dyn Reader>> {
        let file = self.disk.open(&place(&id.to_string())).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => damaged("a snapshot's archive is missing"),
            _ => error,
        })?;
        Ok(Arc::new(ArchiveReader { file: Arc::new(file), last: Mutex::default() }))
    }

    fn held(&self) -> io::Result<Vec<String>> {
        let names = self.disk.names(DIRECTORY)?.into_iter();
        Ok(names.filter_map(|name| name.strip_suffix(SUFFIX).map(str::to_owned)).collect())
    }

    fn forget(&self, id: &str) -> io::Result<()> {
        self.disk.remove(&place(id)).map(drop)
    }
}

/// An archive being written.
struct Writer {
    file: File,
    /// The start of the next frame.
    end: u64,
    /// The content of the next frame so far.
    frame: Vec<u8>,
}

impl Writer {
    /// Writes the frame.
    fn flush(&mut self) -> io::Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        let packed = zstd::bulk::compress(&self.frame, LEVEL)?;
        self.file.write_all(&packed)?;
        self.end += packed.len() as u64;
        self.frame.clear();
        Ok(())
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.frame.len() >= FRAME_BYTES { self.flush() } else { Ok(()) }
    }

    fn add_small(&mut self, content: &Content) -> io::Result<ContentHash> {
        let bytes = content.read_all()?;
        check_size(bytes.len() as u64, content)?;
        self.frame.extend_from_slice(&bytes);
        tar::put_padding(&mut self.frame, bytes.len() as u64);
        Ok(ContentHash::of(&bytes))
    }

    /// Writes a frame of a pending header and a whole content.
    fn add_large(&mut self, content: &Content) -> io::Result<ContentHash> {
        let header = std::mem::take(&mut self.frame);
        let mut hasher = blake3::Hasher::new();
        let mut size = 0;
        let mut padding = Vec::new();
        let mut packer = Encoder::new(Counting { file: &self.file, count: 0 }, LEVEL)?;
        packer.write_all(&header)?;
        content.for_each_chunk(|chunk| {
            hasher.update(chunk);
            size += chunk.len() as u64;
            packer.write_all(chunk)
        })?;
        check_size(size, content)?;
        tar::put_padding(&mut padding, size);
        packer.write_all(&padding)?;
        self.end += packer.finish()?.count;
        Ok(ContentHash::from_bytes(hasher.finalize().into()))
    }
}

/// Checks the size, because the header that declares it is written already.
fn check_size(read: u64, content: &Content) -> io::Result<()> {
    if read == content.len() {
        Ok(())
    } else {
        Err(worded(
            io::ErrorKind::StaleNetworkFileHandle,
            "it changed while the snapshot was taken; take it again",
        ))
    }
}

struct Counting<'a> {
    file: &'a File,
    count: u64,
}

impl Write for Counting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.count += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

struct Packing<'a> {
    disk: &'a Disk,
    writer: Mutex<Writer>,
    reference: String,
}

impl Packing<'_> {
    fn add(&self, name: &[u8], member: Member<'_>) -> io::Result<()> {
        let mut writer = self.writer.lock();
        tar::put_header(&mut writer.frame, name, member);
        writer.flush_if_full()
    }
}

impl Work for Packing<'_> {
    fn in_order(&self) -> bool {
        true
    }

    fn enter(&self, path: &TreePath) -> io::Result<()> {
        if path.is_root() {
            Ok(())
        } else {
            self.add(&[path.as_bytes(), b"/"].concat(), Member::Directory)
        }
    }

    fn file(&self, path: &TreePath, mode: FileMode, content: &Content) -> io::Result<KeptContent> {
        let mut writer = self.writer.lock();
        let size = content.len();
        let is_large = size > FRAME_BYTES as u64;
        if is_large {
            writer.flush()?;
        }
        tar::put_header(&mut writer.frame, path.as_bytes(), Member::File { mode, size });
        let place = encode(writer.end, writer.frame.len() as u64);
        let hash = if is_large { writer.add_large(content)? } else { writer.add_small(content)? };
        writer.flush_if_full()?;
        Ok(KeptContent { hash, size, place })
    }

    fn link(&self, path: &TreePath, target: &[u8]) -> io::Result<()> {
        self.add(path.as_bytes(), Member::Link { target })
    }

    fn finish(self: Box<Self>, _: &Snapshot, _: &Directory) -> io::Result<Finished> {
        let mut writer = self.writer.lock();
        tar::put_end(&mut writer.frame);
        writer.flush()?;
        writer.file.sync_all()?;
        self.disk.sync_dir(DIRECTORY)?;
        Ok(Finished { reference: self.reference.clone(), notes: Vec::new() })
    }
}

/// Encodes the position of content: its frame, and the offset there.
fn encode(frame: u64, offset: u64) -> Place {
    [frame.to_le_bytes(), offset.to_le_bytes()].concat()
}

fn decode(place: &[u8]) -> io::Result<(u64, u64)> {
    let number = |at: usize| Some(u64::from_le_bytes(*place.get(at..)?.first_chunk()?));
    number(0).zip(number(8)).ok_or_else(|| damaged("a manifest names no place in an archive"))
}

struct ArchiveReader {
    file: Arc<File>,
    /// The frame unpacked last, because neighbouring files share one.
    last: Mutex<Option<(u64, Bytes)>>,
}

impl ArchiveReader {
    fn frame(&self, start: u64) -> io::Result<Bytes> {
        let mut last = self.last.lock();
        if let Some((_, bytes)) = last.as_ref().filter(|(known, _)| *known == start) {
            return Ok(bytes.clone());
        }
        let mut bytes = Vec::new();
        unpack(self.file.clone(), start)?.take(MAX_FRAME_BYTES).read_to_end(&mut bytes)?;
        let (_, bytes) = last.insert((start, bytes.into()));
        Ok(bytes.clone())
    }
}

fn unpack(source: Arc<dyn ReadAt>, start: u64) -> io::Result<impl Read + Send> {
    Ok(Decoder::new(ReadFrom { source, at: start })?.single_frame())
}

impl Reader for ArchiveReader {
    fn open(&self, _: &TreePath, file: &KeptFile) -> io::Result<Content> {
        let (start, offset) = decode(&file.place)?;
        if file.size <= FRAME_BYTES as u64 {
            let content: Content = self.frame(start)?.into();
            return Ok(content.read_range(offset, file.size)?.into());
        }
        let source: Arc<dyn ReadAt> = self.file.clone();
        let from_start = move || {
            let mut reader = unpack(source.clone(), start)?;
            io::copy(&mut reader.by_ref().take(offset), &mut io::sink())?;
            Ok(Box::new(reader) as Box<dyn Read + Send>)
        };
        Ok(streamed(from_start, file.size))
    }
}
