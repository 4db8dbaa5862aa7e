//! Reads pages of a file, as text and as bytes.

use std::borrow::Cow;

use bytes::Bytes;

use super::page::{self, RawPage, Wanted};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::limits::Limits;
use crate::path::TreePath;
use crate::tree::Tree;
use crate::tree::content::Content;

/// How much of a file to read.
///
/// ```
/// assert_eq!(wink_fs::PageLimit::default(), wink_fs::PageLimit::Usual);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum PageLimit {
    /// The workspace's [limits](Limits).
    #[default]
    Usual,
    /// At most so many lines (within the limit of bytes), or at most so many bytes.
    Count(u64),
    /// Everything from the offset on.
    All,
}

/// Which part of a file to read, in lines for text and in bytes otherwise.
///
/// ```
/// use wink_fs::{PageLimit, ReadOptions, Workspace};
///
/// let files = Workspace::memory();
/// files.write("numbers", "0\n1\n2\n3\n")?;
/// let page = files.read_with("numbers", &ReadOptions::default().offset(1).limit(PageLimit::Count(2)))?;
/// assert_eq!(page.content, "1\n2\n");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The first line or byte, counted from 0.
    pub offset: u64,
    /// How much to read.
    pub limit: PageLimit,
    /// The encoding; anything but `utf-8` is Unsupported.
    pub encoding: Cow<'static, str>,
    /// Whether to return the hash of the whole file, computed from the same content as the page.
    pub hash: bool,
}

impl ReadOptions {
    /// Sets the first line or byte, counted from 0.
    #[must_use]
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets how much to read.
    #[must_use]
    pub fn limit(mut self, limit: PageLimit) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the encoding.
    #[must_use]
    pub fn encoding(mut self, encoding: impl Into<Cow<'static, str>>) -> Self {
        self.encoding = encoding.into();
        self
    }

    /// Sets whether to return the hash of the whole file.
    #[must_use]
    pub fn hash(mut self, hash: bool) -> Self {
        self.hash = hash;
        self
    }

    fn hash_of(&self, path: &TreePath, content: &Content) -> Result<Option<ContentHash>> {
        let hash = self.hash.then(|| content.hash()).transpose();
        hash.map_err(|error| failed(path, error))
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { offset: 0, limit: PageLimit::Usual, encoding: Cow::Borrowed("utf-8"), hash: false }
    }
}

/// A page of a text file, with exact lines and line endings.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write("a.txt", "one\r\ntwo")?;
/// let page = files.read("a.txt")?;
/// assert_eq!(page.content, "one\r\ntwo");
/// assert_eq!((page.total_lines, page.limit, page.truncated), (2, 2, false));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TextPage {
    /// The lines.
    pub content: String,
    /// The file.
    pub path: TreePath,
    /// The number of lines in the file.
    pub total_lines: u64,
    /// The first line of the page, counted from 0.
    pub offset: u64,
    /// The number of lines on the page.
    pub limit: u64,
    /// Whether lines remain after the page.
    pub truncated: bool,
    /// The hash of the whole file, if asked for.
    pub content_hash: Option<ContentHash>,
}

/// A range of a file's bytes.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write_bytes("a.bin", &b"\xff\x00"[..])?;
/// let page = files.read_bytes("a.bin")?;
/// assert_eq!((&page.content[..], page.total_bytes), (&b"\xff\x00"[..], 2));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BytePage {
    /// The bytes.
    pub content: Bytes,
    /// The file.
    pub path: TreePath,
    /// The size of the file.
    pub total_bytes: u64,
    /// The first byte of the range, counted from 0.
    pub offset: u64,
    /// Whether bytes remain after the range.
    pub truncated: bool,
    /// The hash of the whole file, if asked for.
    pub content_hash: Option<ContentHash>,
}

/// Reads a page of lines of a text file.
///
/// Only the page decides whether it is text: a page that is not UTF-8 is NotText. A page ends after a whole line; a
/// line over `max_read_bytes` is TooLarge, and the error says where it starts. [`read_line`](super::read_line) reads
/// such a line in parts.
pub fn read(
    tree: &dyn Tree,
    path: &TreePath,
    options: &ReadOptions,
    limits: &Limits,
) -> Result<TextPage> {
    check_encoding(path, &options.encoding)?;
    let content = tree.open(path)?;
    let mut hasher = PageHasher::new(options.hash, &content);
    let raw = page::cut(&content, wanted(options, limits), |chunk| hasher.see(chunk))
        .map_err(|error| failed(path, error))?;
    if let Some(at) = raw.oversized_at {
        return Err(oversized(path, options.offset, at, limits));
    }
    text_page(path, options.offset, raw, hasher.finish())
}

/// Reads a range of a file's bytes.
pub fn read_bytes(
    tree: &dyn Tree,
    path: &TreePath,
    options: &ReadOptions,
    limits: &Limits,
) -> Result<BytePage> {
    let content = tree.open(path)?;
    let limit = match options.limit {
        PageLimit::Usual => limits.max_read_bytes,
        PageLimit::Count(bytes) => bytes,
        PageLimit::All => u64::MAX,
    };
    let offset = options.offset;
    let bytes = content.read_range(offset, limit).map_err(|error| failed(path, error))?;
    let total_bytes = content.len();
    let truncated = offset.saturating_add(bytes.len() as u64) < total_bytes;
    let content_hash = options.hash_of(path, &content)?;
    let path = path.clone();
    Ok(BytePage { content: bytes, path, total_bytes, offset, truncated, content_hash })
}

/// Hashes the bytes that a page is cut from, if asked for and not known.
pub(super) struct PageHasher {
    known: Option<ContentHash>,
    hasher: Option<blake3::Hasher>,
}

impl PageHasher {
    pub(super) fn new(wanted: bool, content: &Content) -> Self {
        let known = content.known_hash().filter(|_| wanted);
        let hasher = (wanted && known.is_none()).then(blake3::Hasher::new);
        Self { known, hasher }
    }

    pub(super) fn see(&mut self, chunk: &[u8]) {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(chunk);
        }
    }

    pub(super) fn finish(self) -> Option<ContentHash> {
        let computed = self.hasher.map(|hasher| ContentHash::from_bytes(hasher.finalize().into()));
        self.known.or(computed)
    }
}

fn check_encoding(path: &TreePath, encoding: &str) -> Result<()> {
    if ["utf-8", "utf8"].iter().any(|known| known.eq_ignore_ascii_case(encoding)) {
        return Ok(());
    }
    Err(Error::new(Operation::Read, ErrorKind::Unsupported)
        .with_path(path)
        .with_detail("only utf-8 text is read as text; use read_bytes for everything else"))
}

fn wanted(options: &ReadOptions, limits: &Limits) -> Wanted {
    let (lines, bytes) = match options.limit {
        PageLimit::Usual => (limits.page_lines, limits.max_read_bytes),
        PageLimit::Count(lines) => (lines, limits.max_read_bytes),
        PageLimit::All => (u64::MAX, u64::MAX),
    };
    Wanted { offset: options.offset, lines, bytes }
}

fn text_page(
    path: &TreePath,
    offset: u64,
    raw: RawPage,
    content_hash: Option<ContentHash>,
) -> Result<TextPage> {
    let RawPage { bytes, lines, total_lines, .. } = raw;
    let content = String::from_utf8(bytes)
        .map_err(|_| Error::new(Operation::Read, ErrorKind::NotText).with_path(path))?;
    let truncated = offset.saturating_add(lines) < total_lines;
    let path = path.clone();
    let limit = lines;
    Ok(TextPage { content, path, total_lines, offset, limit, truncated, content_hash })
}

fn oversized(path: &TreePath, line: u64, at: u64, limits: &Limits) -> Error {
    let max = limits.max_read_bytes;
    Error::new(Operation::Read, ErrorKind::TooLarge).with_path(path).with_detail(format!(
        "line {} has more than {max} bytes (limit max_read_bytes); read it with read_bytes from \
         offset {at} on",
        line + 1
    ))
}

pub(super) fn failed(path: &TreePath, error: std::io::Error) -> Error {
    Error::system(Operation::Read, error).with_path(path)
}
