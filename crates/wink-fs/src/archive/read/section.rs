//! Reads a section of the archive.

use std::io::{self, Read};
use std::sync::Arc;

use crate::tree::content::ReadAt;

/// Reads the bytes between two positions.
#[derive(Clone)]
pub(super) struct Section {
    source: Arc<dyn ReadAt>,
    position: u64,
    end: u64,
}

impl Section {
    /// Takes `len` bytes from `start`, which the caller has checked.
    pub(super) fn new(source: &Arc<dyn ReadAt>, start: u64, len: u64) -> Self {
        Self { source: source.clone(), position: start, end: start.saturating_add(len) }
    }

    /// Reads all of it into memory.
    pub(super) fn read_all(mut self) -> io::Result<Vec<u8>> {
        let len = self.end - self.position;
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?];
        self.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.position).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        if wanted == 0 {
            return Ok(0);
        }
        match self.source.read_at(&mut buffer[..wanted], self.position)? {
            // The archive was truncated after it was opened.
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.position += read as u64;
                Ok(read)
            }
        }
    }
}
