//! Reads content by position that can only be unpacked from its start.

use std::io::{self, Read};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::tree::content::{Content, ReadAt};

type Unpacking = Box<dyn Read + Send>;

/// Wraps a function that unpacks content from its start.
pub(crate) fn streamed(
    unpack: impl Fn() -> io::Result<Unpacking> + Send + Sync + 'static,
    size: u64,
) -> Content {
    Content::positional(Arc::new(Streamed { unpack, size, reader: Mutex::default() }), size)
}

/// Reads forward from the last position, or again from the start.
struct Streamed<F> {
    unpack: F,
    size: u64,
    reader: Mutex<Option<(Unpacking, u64)>>,
}

impl<F: Fn() -> io::Result<Unpacking> + Send + Sync> ReadAt for Streamed<F> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        if wanted == 0 {
            return Ok(0);
        }
        let mut last = self.reader.lock();
        let (mut reader, position) = match last.take() {
            Some((reader, position)) if position <= offset => (reader, position),
            _ => ((self.unpack)()?, 0),
        };
        io::copy(&mut reader.by_ref().take(offset - position), &mut io::sink())?;
        let read = reader.read(&mut buffer[..wanted])?;
        *last = Some((reader, offset + read as u64));
        Ok(read)
    }
}

/// Reads from a position.
pub(crate) struct ReadFrom {
    pub(crate) source: Arc<dyn ReadAt>,
    pub(crate) at: u64,
}

impl Read for ReadFrom {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
