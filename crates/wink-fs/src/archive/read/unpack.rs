//! Unpacks content, and checks its size and checksum.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use flate2::read::DeflateDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use super::section::Section;
use crate::archive::WHOLE_BYTES;
use crate::tree::content::{Content, ReadAt};
use crate::tree::streamed::streamed;

const BUFFER: usize = 64 * 1024;

/// Where content is, and what it must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stored {
    pub(super) start: u64,
    pub(super) packed: u64,
    pub(super) size: u64,
    pub(super) crc: u32,
    pub(super) deflated: bool,
}

impl Stored {
    /// Returns whether it is unpacked in memory.
    fn is_small(&self) -> bool {
        self.size <= WHOLE_BYTES && self.packed <= WHOLE_BYTES
    }

    fn section(&self, source: &Arc<dyn ReadAt>) -> Section {
        Section::new(source, self.start, self.packed)
    }

    /// Reads it from start to end, and checks it.
    fn reader(&self, source: &Arc<dyn ReadAt>) -> Checked {
        let section = self.section(source);
        let inner: Box<dyn Read + Send> = if self.deflated {
            let inner = DeflateDecoder::new_with_buf(section, vec![0; BUFFER]);
            Box::new(Inflated { inner, packed: self.packed })
        } else {
            Box::new(section)
        };
        Checked { inner, left: self.size, crc: crc32fast::Hasher::new(), expected: self.crc }
    }

    /// Reads and checks all of it, and discards it.
    pub(super) fn check(&self, source: &Arc<dyn ReadAt>) -> io::Result<()> {
        if self.is_small() {
            return self.read_all(source).map(drop);
        }
        io::copy(&mut self.reader(source), &mut io::sink()).map(drop)
    }

    /// Unpacks and checks content in memory.
    pub(super) fn read_all(&self, source: &Arc<dyn ReadAt>) -> io::Result<Vec<u8>> {
        let packed = self.section(source).read_all()?;
        let bytes = if self.deflated { self.inflate(&packed)? } else { packed };
        if bytes.len() as u64 != self.size {
            return Err(damaged("it holds another number of bytes than it says"));
        }
        if crc32fast::hash(&bytes) == self.crc {
            Ok(bytes)
        } else {
            Err(damaged("its content does not have the checksum it says"))
        }
    }

    fn inflate(&self, packed: &[u8]) -> io::Result<Vec<u8>> {
        // One more than it says, so that more is noticed.
        let mut bytes = vec![0; self.size as usize + 1];
        let mut stream = Decompress::new(false);
        let status = stream.decompress(packed, &mut bytes, FlushDecompress::Finish);
        let unpacked = stream.total_out();
        if !matches!(status, Ok(Status::StreamEnd)) || unpacked > self.size {
            return Err(damaged("its content cannot be unpacked to the size it says"));
        }
        if stream.total_in() < packed.len() as u64 {
            return Err(damaged(TRAILING));
        }
        bytes.truncate(unpacked as usize);
        Ok(bytes)
    }

    /// Returns content that was checked before, or is checked now.
    pub(super) fn content(
        &self,
        source: &Arc<dyn ReadAt>,
        was_checked: bool,
    ) -> io::Result<Content> {
        if self.is_small() {
            return self.read_all(source).map(|bytes| Bytes::from(bytes).into());
        }
        if !was_checked {
            self.check(source)?;
        }
        let source = source.clone();
        let stored = *self;
        Ok(if self.deflated {
            streamed(move || Ok(Box::new(stored.reader(&source))), self.size)
        } else {
            let shifted = Shifted { source, start: self.start, len: self.size };
            Content::positional(Arc::new(shifted), self.size)
        })
    }
}

/// Why content is damaged that does not end where its packed bytes do: another program may read what is hidden there.
const TRAILING: &str = "there are bytes after the end of its packed content";

/// Unpacks content, and fails if it ends before its packed bytes do.
struct Inflated {
    inner: DeflateDecoder<Section>,
    packed: u64,
}

impl Read for Inflated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.inner.total_in() < self.packed {
            return Err(damaged(TRAILING));
        }
        Ok(read)
    }
}

/// Reads content, and fails if it is not what it must be.
struct Checked {
    inner: Box<dyn Read + Send>,
    left: u64,
    crc: crc32fast::Hasher,
    expected: u32,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.crc.update(&buffer[..read]);
        // Checked with every read: a small archive that unpacks to terabytes fails at its declared size.
        self.left = (self.left.checked_sub(read as u64))
            .ok_or_else(|| damaged("it holds more bytes than it says"))?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        match (self.left, self.crc.clone().finalize() == self.expected) {
            (0, true) => Ok(0),
            (0, false) => Err(damaged("its content does not have the checksum it says")),
            _ => Err(damaged("it holds fewer bytes than it says")),
        }
    }
}

/// Reads uncompressed content in place.
struct Shifted {
    source: Arc<dyn ReadAt>,
    start: u64,
    len: u64,
}

impl ReadAt for Shifted {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        match wanted {
            0 => Ok(0),
            _ => self.source.read_at(&mut buffer[..wanted], self.start + offset),
        }
    }
}

fn damaged(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
