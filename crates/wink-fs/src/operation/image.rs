//! What is about to change, kept as it was.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
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

/// Returns the line that a path has in the list: its CRC-32, and the path as text.
pub(crate) fn touched_line(path: &TreePath) -> String {
    let text = path.to_string();
    format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()))
}

/// Returns the paths of a list, each with the number of its line; a line that is damaged or not whole is none.
pub(crate) fn touched_paths(list: &[u8]) -> Vec<(TreePath, usize)> {
    let path = |(number, line): (usize, &[u8])| {
        let text = std::str::from_utf8(line.get(9..)?.strip_suffix(b"\n")?).ok()?;
        let path = TreePath::parse(text).ok()?;
        (touched_line(&path).as_bytes() == line).then_some((path, number))
    };
    list.split_inclusive(|byte| *byte == b'\n').enumerate().filter_map(path).collect()
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
