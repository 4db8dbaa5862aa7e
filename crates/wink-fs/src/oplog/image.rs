//! What changes displace, kept under the number of each change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::recorded::{KeptEntries, KeptEntry};
use crate::error::Result;
use crate::path::TreePath;

/// What the name of an operation's list ends with, after the operation's number.
///
/// A backend that uses the place beside it writes each line there before its change is made, so that the changes
/// of a process that died can be taken back.
pub(crate) const BEGUN: &str = ".begun";

/// The directory, in one that has the operation's number, in which earlier versions kept entries at their own path.
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

/// Keeps what the changes of one operation displace; made by [`Backend::before_image`](crate::Backend::before_image).
///
/// Changes come one after another. Each is announced before it is made, with a line that says what it is; the
/// lines have numbers from 0. Between [`begin`](Self::begin) and the next call of this trait the backend makes one
/// change, and keeps what that displaces under the line's number.
///
/// ```
/// use wink_fs::{Backend, Filesystem, MemoryBackend, Recursion, TreePath};
///
/// let mut files = MemoryBackend::new();
/// let path = TreePath::parse("src")?;
/// files.create_dir(&path)?;
/// let mut image = files.before_image(std::path::Path::new("unused"))?;
/// image.begin("remove src\n", Some(&path))?;
/// files.remove(&path, Recursion::OnlyEmpty)?;
/// let kept = image.kept().entry(0)?.expect("the directory that was removed");
/// assert!(kept.tree.list(&kept.at)?.is_empty());
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub trait BeforeImage: Send {
    /// Announces the next change, which displaces what is at a path, or nothing.
    fn begin(&mut self, line: &str, displaced: Option<&TreePath>) -> Result<()>;

    /// Keeps a copy of a file under the number of the line that was announced last.
    ///
    /// It is a file that moves: in its new place other programs may write into it. Where it cannot be copied, or
    /// is too large, nothing is kept.
    fn keep_copy(&mut self, path: &TreePath) -> Result<()>;

    /// Adds a line that announces no change; it has a number too.
    fn note(&mut self, line: &str) -> Result<()>;

    /// Returns what is kept so far.
    fn kept(&self) -> Arc<dyn KeptEntries>;

    /// Tells whether an entry is kept by the change itself, so that nothing is kept for one that was given up, unless
    /// another program wrote into what it had put in view.
    fn keeps_by_the_change(&self) -> bool {
        false
    }

    /// Tells whether a program may still write into what is kept for a line.
    fn may_be_written(&self, _line: usize) -> bool {
        false
    }
}

/// Keeps nothing.
pub(super) struct Nothing;

impl BeforeImage for Nothing {
    fn begin(&mut self, _: &str, _: Option<&TreePath>) -> Result<()> {
        Ok(())
    }

    fn keep_copy(&mut self, _: &TreePath) -> Result<()> {
        Ok(())
    }

    fn note(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    fn kept(&self) -> Arc<dyn KeptEntries> {
        Arc::new(Self)
    }
}

impl KeptEntries for Nothing {
    fn entry(&self, _: usize) -> Result<Option<KeptEntry>> {
        Ok(None)
    }
}
