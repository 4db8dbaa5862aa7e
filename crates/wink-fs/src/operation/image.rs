//! What is about to change, kept as it was.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::Tree;

/// What the name of the list of paths that an operation may have changed ends with, after the operation's own.
///
/// A backend that uses the place beside it writes each path there before it changes, so that a call can be
/// taken back whose process died.
pub(crate) const BEGUN: &str = ".begun";

/// The directory, in one that has the operation's name, of what is kept at its own path.
pub(crate) const BEFORE: &str = "before";

/// Returns the place that belongs to an operation and ends so.
pub(crate) fn beside(operation: &Path, ending: &str) -> PathBuf {
    let mut place = operation.as_os_str().to_owned();
    place.push(ending);
    place.into()
}

/// Returns what the name ends with of the entry that is kept for a line of the list.
pub(crate) fn numbered(line: usize) -> String {
    format!(".{line}")
}

/// A line of the list of what an operation may have changed.
pub(crate) struct Touched {
    /// The number of the line, from 0.
    pub(crate) line: usize,
    pub(crate) path: TreePath,
    /// What is about to be put there, where it is a file.
    pub(crate) content: Option<ContentHash>,
}

/// Returns the line of a path: its CRC-32, the path as text, and after a tab, which is in no such text, what is
/// put there.
pub(crate) fn touched_line(path: &TreePath, content: Option<ContentHash>) -> String {
    let text = match content {
        Some(content) => format!("{path}\t{content}"),
        None => path.to_string(),
    };
    format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()))
}

/// Returns the lines of a list; one that is damaged or not whole is none.
pub(crate) fn touched(list: &[u8]) -> Vec<Touched> {
    let read = |(number, line): (usize, &[u8])| {
        let text = std::str::from_utf8(line.get(9..)?.strip_suffix(b"\n")?).ok()?;
        let (path, content) = match text.split_once('\t') {
            Some((path, content)) => (path, Some(content.parse().ok()?)),
            None => (text, None),
        };
        let path = TreePath::parse(path).ok()?;
        let is_whole = touched_line(&path, content).as_bytes() == line;
        is_whole.then_some(Touched { line: number, path, content })
    };
    list.split_inclusive(|byte| *byte == b'\n').enumerate().filter_map(read).collect()
}

/// Keeps entries before they change; made by [`Backend::before_image`](crate::Backend::before_image).
///
/// ```
/// use wink_fs::{Backend, Filesystem, MemoryBackend, TreePath};
///
/// let mut files = MemoryBackend::new();
/// let path = TreePath::parse("src")?;
/// let mut image = files.before_image(std::path::Path::new("unused"))?;
/// image.keep(&path)?;
/// files.create_dir(&path)?;
/// assert!(image.tree()?.stat(&path).is_err(), "it was not there before");
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub trait BeforeImage: Send {
    /// Keeps what is at a path, with all that is below it, if anything is.
    fn keep(&mut self, path: &TreePath) -> Result<()>;

    /// Keeps what is at a path where this content is about to be put.
    fn keep_replaced(&mut self, path: &TreePath, _by: ContentHash) -> Result<()> {
        self.keep(path)
    }

    /// Keeps what is at a path and goes on elsewhere, where anybody may write into it.
    fn keep_moved(&mut self, path: &TreePath) -> Result<()> {
        self.keep(path)
    }

    /// Keeps what is at a path and will be gone; refuses a directory with something in it that could not be
    /// brought back.
    fn keep_removed(&mut self, path: &TreePath) -> Result<()> {
        self.keep(path)
    }

    /// Keeps what is at a path that will be changed where it lies.
    fn keep_copy(&mut self, path: &TreePath) -> Result<()>;

    /// Keeps a directory, but not what is in it.
    fn keep_directory(&mut self, path: &TreePath) -> Result<()>;

    /// Notes that this content is about to be put where something was kept already, or made since.
    fn note_replaced(&mut self, _path: &TreePath, _by: ContentHash) -> Result<()> {
        Ok(())
    }

    /// Returns a tree in which every path that was kept is as it was.
    fn tree(&self) -> Result<Arc<dyn Tree>>;
}

/// Keeps nothing.
pub(super) struct Nothing;

impl BeforeImage for Nothing {
    fn keep(&mut self, _: &TreePath) -> Result<()> {
        Ok(())
    }

    fn keep_copy(&mut self, _: &TreePath) -> Result<()> {
        Ok(())
    }

    fn keep_directory(&mut self, _: &TreePath) -> Result<()> {
        Ok(())
    }

    fn tree(&self) -> Result<Arc<dyn Tree>> {
        Ok(crate::Backend::live(&crate::MemoryBackend::new()))
    }
}
