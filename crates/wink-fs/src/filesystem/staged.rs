//! Staged content: written where no reader sees it, then put in place in one step.

use std::any::Any;
use std::fmt;
use std::io::{self, Write};

use bytes::Bytes;

use crate::hash::ContentHash;
use crate::tree::content::Content;

/// Receives bytes for a backend until they are complete.
pub trait StagingSink: Write + Send {
    /// Ends the writing and returns the content.
    fn finish(self: Box<Self>) -> io::Result<Box<dyn StagedBody>>;
}

/// Complete content that a backend can put in place; dropping it discards the content.
pub trait StagedBody: Any + Send {
    /// Returns the content.
    fn content(&self) -> Content;
}

impl StagedBody for Bytes {
    fn content(&self) -> Content {
        self.clone().into()
    }
}

/// Writes staged content of any size; made by [`Filesystem::stage`].
///
/// The backend's lock is not held meanwhile, so no other call waits. Dropped before [`finish`](Self::finish), or
/// never put, it changes nothing.
///
/// ```
/// use std::io::Write;
/// use wink_fs::{Filesystem, MemoryBackend, PutOptions, TreePath, Tree};
///
/// let mut files = MemoryBackend::new();
/// let mut staging = files.stage()?;
/// staging.write_all(b"one ")?;
/// staging.write_all(b"two")?;
/// let mut staged = staging.finish()?;
///
/// let path = TreePath::parse("numbers.txt")?;
/// files.put(&path, &mut staged, &PutOptions::default())?;
/// assert_eq!(&files.open(&path)?.read_all()?[..], b"one two");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Filesystem::stage`]: crate::Filesystem::stage
pub struct Staging {
    sink: Box<dyn StagingSink>,
    hasher: blake3::Hasher,
    len: u64,
    carried: u64,
}

impl Staging {
    /// Starts writing into a backend's sink.
    pub fn new(sink: Box<dyn StagingSink>) -> Self {
        Self { sink, hasher: blake3::Hasher::new(), len: 0, carried: 0 }
    }

    /// Starts writing into memory.
    pub fn in_memory() -> Self {
        Self::new(Box::new(Buffer::default()))
    }

    /// Copies existing content, which does not count as supplied by the caller.
    pub fn carry_over(&mut self, content: &Content) -> io::Result<()> {
        let before = self.len;
        content.for_each_chunk(|chunk| self.write_all(chunk))?;
        self.carried += self.len - before;
        Ok(())
    }

    /// Returns the hash so far.
    pub fn hash_so_far(&self) -> ContentHash {
        ContentHash::from_bytes(self.hasher.finalize().into())
    }

    /// Ends the writing.
    pub fn finish(self) -> io::Result<Staged> {
        let hash = self.hash_so_far();
        let body = self.sink.finish()?;
        Ok(Staged { body, hash, len: self.len, carried: self.carried })
    }
}

/// Collects staged bytes.
#[derive(Default)]
struct Buffer(Vec<u8>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl StagingSink for Buffer {
    fn finish(self: Box<Self>) -> io::Result<Box<dyn StagedBody>> {
        Ok(Box::new(Bytes::from(self.0)))
    }
}

impl Write for Staging {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl fmt::Debug for Staging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Staging({} bytes so far)", self.len)
    }
}

/// Complete content with its hash, ready for [`Filesystem::put`].
///
/// ```
/// use wink_fs::{ContentHash, Staged};
///
/// let staged = Staged::from_bytes("hello");
/// assert_eq!(staged.hash(), ContentHash::of(b"hello"));
/// assert_eq!(staged.len(), 5);
/// ```
///
/// [`Filesystem::put`]: crate::Filesystem::put
pub struct Staged {
    body: Box<dyn StagedBody>,
    hash: ContentHash,
    len: u64,
    carried: u64,
}

impl Staged {
    /// Wraps bytes in memory.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let hash = ContentHash::of(&bytes);
        let len = bytes.len() as u64;
        Self { body: Box::new(bytes), hash, len, carried: 0 }
    }

    /// Returns the hash of the content.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Returns the size in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns how many bytes the caller supplied, not counting what was carried over.
    pub fn bytes_supplied(&self) -> u64 {
        self.len - self.carried
    }

    /// Returns the content, whichever backend staged it.
    pub fn content(&self) -> Content {
        self.body.content()
    }

    /// Returns the body if it has the backend's own type, so that it need not be copied.
    pub fn body_mut<B: StagedBody>(&mut self) -> Option<&mut B> {
        let body: &mut dyn Any = &mut *self.body;
        body.downcast_mut()
    }
}

impl fmt::Debug for Staged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Staged({} bytes, {})", self.len, self.hash)
    }
}
