//! Content of files, read on demand.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;

use crate::hash::ContentHash;

/// How much is read at a time: large enough for speed, small enough for bounded memory.
const CHUNK: usize = 256 * 1024;

/// The largest offset of the system.
const MAX_POSITION: u64 = i64::MAX as u64;

/// Reads bytes at a position, from several threads at once.
pub trait ReadAt: Send + Sync {
    /// Reads some bytes at `offset`; zero bytes means that the content ends there.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Returns the open file that all bytes come from, so that its space can be shared.
    fn file(&self) -> Option<&File> {
        None
    }
}

#[cfg(unix)]
impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }

    fn file(&self) -> Option<&File> {
        Some(self)
    }
}

#[cfg(windows)]
impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, offset)
    }
}

/// The content of a file: shared bytes, or an open file.
///
/// Clones are cheap and read independently. The content stays readable when the file is replaced or deleted.
///
/// ```
/// use wink_fs::Content;
///
/// let content = Content::from(&b"hello"[..]);
/// let mut middle = [0; 3];
/// assert_eq!(content.read_at(&mut middle, 1)?, 3);
/// assert_eq!(&middle, b"ell");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Content {
    repr: Repr,
    known_hash: Option<ContentHash>,
}

#[derive(Clone)]
enum Repr {
    Shared(Bytes),
    Positional { source: Arc<dyn ReadAt>, len: u64 },
}

impl Content {
    /// Wraps a positional source; `len` is its size when it was opened.
    pub fn positional(source: Arc<dyn ReadAt>, len: u64) -> Self {
        Self { repr: Repr::Positional { source, len }, known_hash: None }
    }

    /// Sets the known hash, so that it need not be computed.
    #[must_use]
    pub fn with_known_hash(mut self, hash: ContentHash) -> Self {
        self.known_hash = Some(hash);
        self
    }

    /// Returns the hash, if it is known.
    pub fn known_hash(&self) -> Option<ContentHash> {
        self.known_hash
    }

    /// Returns the size in bytes; an open file that another process writes to may have a different size by now.
    pub fn len(&self) -> u64 {
        match &self.repr {
            Repr::Shared(bytes) => bytes.len() as u64,
            Repr::Positional { len, .. } => *len,
        }
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes if they are in memory, shared and not copied.
    pub fn shared(&self) -> Option<&Bytes> {
        match &self.repr {
            Repr::Shared(bytes) => Some(bytes),
            Repr::Positional { .. } => None,
        }
    }

    /// Returns the open file, if there is one.
    #[cfg(target_os = "linux")]
    pub(crate) fn file(&self) -> Option<&File> {
        match &self.repr {
            Repr::Shared(_) => None,
            Repr::Positional { source, .. } => source.file(),
        }
    }

    /// Reads some bytes at `offset`; zero bytes means that the content ends there.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.repr {
            Repr::Shared(bytes) => Ok(copy_from(bytes, buffer, offset)),
            // No file reaches that far, and the system call would fail.
            Repr::Positional { .. }
                if offset.saturating_add(buffer.len() as u64) > MAX_POSITION =>
            {
                Ok(0)
            }
            Repr::Positional { source, .. } => retry(|| source.read_at(buffer, offset)),
        }
    }

    /// Reads at most `limit` bytes from `offset`.
    pub fn read_range(&self, offset: u64, limit: u64) -> io::Result<Bytes> {
        let wanted = usize::try_from(limit.min(self.len().saturating_sub(offset)))
            .map_err(|_| io::ErrorKind::OutOfMemory)?;
        match &self.repr {
            // `wanted` is zero if `offset` is past the end, so the slice is in bounds.
            Repr::Shared(_) if wanted == 0 => Ok(Bytes::new()),
            Repr::Shared(bytes) => Ok(bytes.slice(offset as usize..offset as usize + wanted)),
            Repr::Positional { .. } => self.read_copy(offset, wanted),
        }
    }

    /// Reads everything into memory.
    pub fn read_all(&self) -> io::Result<Bytes> {
        self.read_range(0, u64::MAX)
    }

    /// Returns a reader from the first byte to the last.
    pub fn reader(&self) -> ContentReader<'_> {
        ContentReader { content: self, offset: 0 }
    }

    /// Returns the hash, computed in bounded memory if it is not known.
    pub fn hash(&self) -> io::Result<ContentHash> {
        if let Some(hash) = self.known_hash {
            return Ok(hash);
        }
        let mut hasher = blake3::Hasher::new();
        self.for_each_chunk(|chunk| {
            hasher.update(chunk);
            Ok(())
        })?;
        Ok(ContentHash::from_bytes(hasher.finalize().into()))
    }

    /// Calls `visit` with all bytes in order, in bounded chunks.
    pub fn for_each_chunk(&self, mut visit: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if let Repr::Shared(bytes) = &self.repr {
            return visit(bytes);
        }
        let mut buffer = vec![0; CHUNK.min((self.len() as usize).saturating_add(1))];
        let mut offset = 0;
        loop {
            match self.read_at(&mut buffer, offset)? {
                0 => return Ok(()),
                read => {
                    visit(&buffer[..read])?;
                    offset += read as u64;
                }
            }
        }
    }

    fn read_copy(&self, offset: u64, wanted: usize) -> io::Result<Bytes> {
        let mut buffer = vec![0; wanted];
        let mut filled = 0;
        while filled < wanted {
            match self.read_at(&mut buffer[filled..], offset + filled as u64)? {
                0 => break,
                read => filled += read,
            }
        }
        buffer.truncate(filled);
        Ok(buffer.into())
    }
}

fn copy_from(bytes: &[u8], buffer: &mut [u8], offset: u64) -> usize {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    let count = buffer.len().min(bytes.len() - start);
    buffer[..count].copy_from_slice(&bytes[start..start + count]);
    count
}

fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

impl ReadAt for Content {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Self::read_at(self, buffer, offset)
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self { repr: Repr::Shared(bytes), known_hash: None }
    }
}

impl From<&'static [u8]> for Content {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Content({} bytes)", self.len())
    }
}

/// Reads a [`Content`] from its start to its end.
#[derive(Debug)]
pub struct ContentReader<'a> {
    content: &'a Content,
    offset: u64,
}

impl Read for ContentReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
