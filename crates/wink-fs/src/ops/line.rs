//! Reads parts of one line of any length.

use super::read::{PageHasher, failed};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::limits::Limits;
use crate::path::TreePath;
use crate::tree::Tree;
use crate::tree::content::Content;

/// The longest character in bytes; fewer bytes could not show it.
const LONGEST_CHARACTER: u64 = 4;

/// Which part of which line to read.
///
/// ```
/// let options = wink_fs::LineOptions::default().line(2).column(100);
/// assert_eq!((options.line, options.column), (2, 100));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct LineOptions {
    /// The line, counted from 0.
    pub line: u64,
    /// The first byte of the line to read, counted from 0.
    pub column: u64,
    /// Whether to return the hash of the whole file, computed from the same content as the part.
    pub hash: bool,
}

impl LineOptions {
    /// Sets the line, counted from 0.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = line;
        self
    }

    /// Sets the first byte of the line to read, counted from 0.
    #[must_use]
    pub fn column(mut self, column: u64) -> Self {
        self.column = column;
        self
    }

    /// Sets whether to return the hash of the whole file.
    #[must_use]
    pub fn hash(mut self, hash: bool) -> Self {
        self.hash = hash;
        self
    }
}

/// A part of a line, without its newline.
///
/// ```
/// use wink_fs::{LineOptions, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "one\ntwo\n")?;
/// let part = files.read_line("a.txt", &LineOptions::default().line(1).column(1))?;
/// assert_eq!((part.content.as_str(), part.line_bytes, part.truncated), ("wo", 3, false));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LinePart {
    /// The text; it begins and ends with whole characters.
    pub content: String,
    /// The file.
    pub path: TreePath,
    /// The line, counted from 0.
    pub line: u64,
    /// The first byte of the part, counted from 0.
    pub column: u64,
    /// The bytes of the line, without its newline; 0 if there is no such line.
    pub line_bytes: u64,
    /// The number of lines in the file.
    pub total_lines: u64,
    /// Whether the line continues after the part.
    pub truncated: bool,
    /// Whether a newline ends the line.
    pub has_newline: bool,
    /// The hash of the whole file, if asked for.
    pub content_hash: Option<ContentHash>,
}

/// Reads a part of one line of a text file, at most `max_read_bytes`.
///
/// A column within a character is InvalidArgument; a part that is not UTF-8 is NotText.
pub fn read_line(
    tree: &dyn Tree,
    path: &TreePath,
    options: &LineOptions,
    limits: &Limits,
) -> Result<LinePart> {
    let content = tree.open(path)?;
    let mut hasher = PageHasher::new(options.hash, &content);
    let mut finder = Finder::new(options.line);
    let seen = content.for_each_chunk(|chunk| {
        finder.take(chunk);
        hasher.see(chunk);
        Ok(())
    });
    seen.map_err(|error| failed(path, error))?;
    let found = finder.finish();
    let content = part(&content, path, &found, options.column, limits)?;
    let end = options.column.saturating_add(content.len() as u64);
    Ok(LinePart {
        path: path.clone(),
        line: options.line,
        column: options.column,
        line_bytes: found.len,
        total_lines: found.total_lines,
        truncated: end < found.len,
        has_newline: found.has_newline,
        content_hash: hasher.finish(),
        content,
    })
}

fn part(
    content: &Content,
    path: &TreePath,
    found: &Found,
    column: u64,
    limits: &Limits,
) -> Result<String> {
    let left = found.len.saturating_sub(column);
    let wanted = left.min(limits.max_read_bytes.max(LONGEST_CHARACTER));
    if wanted == 0 {
        return Ok(String::new());
    }
    let bytes = content.read_range(found.start + column, wanted);
    let bytes = bytes.map_err(|error| failed(path, error))?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) if column > 0 && bytes.first().is_some_and(|byte| byte & 0xc0 == 0x80) => {
            Err(within_character(path, column))
        }
        // The part ends within a character, with which the next part begins.
        Err(error) if error.error_len().is_none() && wanted < left => {
            Ok(String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned())
        }
        Err(_) => Err(Error::new(Operation::Read, ErrorKind::NotText).with_path(path)),
    }
}

fn within_character(path: &TreePath, column: u64) -> Error {
    Error::new(Operation::Read, ErrorKind::InvalidArgument).with_path(path).with_detail(format!(
        "byte {column} of the line lies within a character; begin where a part ended"
    ))
}

/// A line that was found.
struct Found {
    start: u64,
    len: u64,
    total_lines: u64,
    has_newline: bool,
}

/// Finds the start and the end of a line, and counts all lines.
struct Finder {
    line: u64,
    start: Option<u64>,
    end: Option<u64>,
    newlines: u64,
    position: u64,
    ends_in_newline: bool,
}

impl Finder {
    fn new(line: u64) -> Self {
        let start = (line == 0).then_some(0);
        Self { line, start, end: None, newlines: 0, position: 0, ends_in_newline: true }
    }

    fn take(&mut self, chunk: &[u8]) {
        for at in memchr::memchr_iter(b'\n', chunk) {
            let at = self.position + at as u64;
            if self.newlines == self.line {
                self.end = Some(at);
            }
            self.newlines += 1;
            if self.newlines == self.line {
                self.start = Some(at + 1);
            }
        }
        self.position += chunk.len() as u64;
        self.ends_in_newline = chunk.last().map_or(self.ends_in_newline, |last| *last == b'\n');
    }

    fn finish(self) -> Found {
        let start = self.start.unwrap_or(self.position);
        let len = self.end.unwrap_or(self.position) - start;
        let total_lines = self.newlines + u64::from(!self.ends_in_newline);
        Found { start, len, total_lines, has_newline: self.end.is_some() }
    }
}
