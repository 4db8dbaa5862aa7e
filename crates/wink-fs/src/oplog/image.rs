//! Pre-images: what changes displace, kept under the number of each change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::recorded::{KeptEntries, KeptEntry};
use crate::error::Result;
use crate::filesystem::Backend as _;
use crate::filesystem::layer::Source;
use crate::memory::MemoryBackend;
use crate::path::TreePath;
use crate::tree::Tree;
use crate::tree::compare::kind_at;

/// The suffix of an operation's list, after its number.
///
/// A backend on disk writes each line there before it makes the change, so that the next process can roll back the
/// changes of one that died.
pub(crate) const BEGUN: &str = ".begun";

/// The directory, named after the operation, in which earlier versions kept pre-images at their own paths.
pub(crate) const BEFORE: &str = "before";

/// Returns a path of an operation with a suffix.
pub(crate) fn beside(operation: &Path, ending: &str) -> PathBuf {
    let mut place = operation.as_os_str().to_owned();
    place.push(ending);
    place.into()
}

/// Returns the suffix of a line's pre-image.
pub(crate) fn numbered(line: usize) -> String {
    format!(".{line}")
}

/// Keeps the pre-images of one operation; made by [`Backend::before_image`](crate::Backend::before_image).
///
/// Each change is announced with a line before it is made. Lines are numbered from 0. Between [`begin`](Self::begin)
/// and the next call of this trait, the backend makes one change and keeps what it displaces under the line's number.
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
    /// Announces the next change, and the path at which it displaces an entry.
    fn begin(&mut self, line: &str, displaced: Option<&TreePath>) -> Result<()>;

    /// Keeps a copy of a file for the line that was announced last.
    ///
    /// The file is about to move, and other programs may write into it at its new path. If it is too large, or cannot
    /// be copied, nothing is kept.
    fn keep_copy(&mut self, path: &TreePath) -> Result<()>;

    /// Adds a numbered line that announces no change.
    fn note(&mut self, line: &str) -> Result<()>;

    /// Returns the pre-images so far.
    fn kept(&self) -> Arc<dyn KeptEntries>;

    /// Returns whether the change itself keeps the entry.
    ///
    /// Then an abandoned change has a pre-image only if another program wrote into the file that was briefly in view.
    fn keeps_by_the_change(&self) -> bool {
        false
    }

    /// Returns whether a program may still write into a line's pre-image.
    fn may_be_written(&self, _line: usize) -> bool {
        false
    }
}

/// Copies what is displaced to memory.
pub(crate) struct CopiedImage {
    live: Arc<dyn Tree>,
    entries: Vec<Option<KeptEntry>>,
}

impl CopiedImage {
    pub(crate) fn new(live: Arc<dyn Tree>) -> Self {
        Self { live, entries: Vec::new() }
    }

    fn copy(&self, path: &TreePath) -> Result<Option<KeptEntry>> {
        if kind_at(&*self.live, path)?.is_none() {
            return Ok(None);
        }
        let at = TreePath::parse("kept")?;
        let mut copy = MemoryBackend::new();
        copy.install(&at, Source { tree: &*self.live, at: path })?;
        Ok(Some(KeptEntry { tree: copy.live(), at }))
    }
}

impl BeforeImage for CopiedImage {
    fn begin(&mut self, _: &str, displaced: Option<&TreePath>) -> Result<()> {
        let entry = displaced.map_or(Ok(None), |path| self.copy(path))?;
        self.entries.push(entry);
        Ok(())
    }

    /// Does nothing: only a backend knows whether other programs write into its files.
    fn keep_copy(&mut self, _: &TreePath) -> Result<()> {
        Ok(())
    }

    fn note(&mut self, _: &str) -> Result<()> {
        self.entries.push(None);
        Ok(())
    }

    fn kept(&self) -> Arc<dyn KeptEntries> {
        Arc::new(Copies(self.entries.clone()))
    }
}

struct Copies(Vec<Option<KeptEntry>>);

impl KeptEntries for Copies {
    fn entry(&self, line: usize) -> Result<Option<KeptEntry>> {
        Ok(self.0.get(line).cloned().flatten())
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
