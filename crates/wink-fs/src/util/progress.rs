//! Progress of long-running work, for another thread to read while the work runs.

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::content::{Content, ReadAt};
use crate::tree::hash::TreeHash;
use crate::tree::{Entry, KnownEntry, Stat, Tree};

/// Content beyond this size is counted as it is read, and its file when that was done; what is smaller is
/// counted as a whole when it is opened.
const LARGE_BYTES: u64 = 1024 * 1024;

/// The progress of long work; a clone is another handle to it.
///
/// A workspace that was [given one](crate::WorkspaceBuilder::progress) counts in it what the last call
/// has done that began: a snapshot the files it reads, because it does not know them, and a restore or an
/// import those it writes. Links count as files.
///
/// ```
/// use wink_fs::{MemoryBackend, Progress, Store, Workspace};
///
/// let progress = Progress::default();
/// let files = Workspace::builder(MemoryBackend::new());
/// let files = files.store(Store::temporary()?).progress(progress.clone()).build();
/// files.write("a.txt", "hello")?;
/// files.snapshot("first")?;
/// let figures = progress.figures();
/// assert_eq!((figures.files, figures.bytes, figures.expected_files), (1, 5, Some(1)));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    files: AtomicU64,
    bytes: AtomicU64,
    /// Zero if it is not known.
    expected_files: AtomicU64,
    expected_bytes: AtomicU64,
}

/// The progress at one moment.
///
/// ```
/// let figures = wink_fs::Progress::default().figures();
/// assert_eq!((figures.files, figures.expected_files), (0, None));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Figures {
    /// Files and links that were read.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// How many files there will be, if known.
    pub expected_files: Option<u64>,
    /// How many bytes there will be, if known.
    pub expected_bytes: Option<u64>,
}

impl Progress {
    /// Returns how far it is.
    pub fn figures(&self) -> Figures {
        let [files, bytes, expected_files, expected_bytes] = self.all().map(load);
        // Once there is more than was expected, the total is unknown.
        let known = |expected: u64, done| Some(expected).filter(|it| *it > 0 && *it >= done);
        Figures {
            files,
            bytes,
            expected_files: known(expected_files, files),
            expected_bytes: known(expected_bytes, bytes),
        }
    }

    /// Begins to count anew, towards as much as is expected; zero if that is not known.
    pub fn begin(&self, expected_files: u64, expected_bytes: u64) {
        let values = [0, 0, expected_files, expected_bytes];
        for (counter, value) in self.all().into_iter().zip(values) {
            counter.store(value, Ordering::Relaxed);
        }
    }

    /// Returns a tree whose files and links are counted when they are opened.
    ///
    /// ```
    /// use wink_fs::archive::{self, ExportOptions};
    /// use wink_fs::{Progress, Workspace};
    ///
    /// let files = Workspace::memory();
    /// files.write("a.txt", "hello")?;
    /// let (tree, progress) = (files.tree(), Progress::default());
    /// archive::write(&progress.counted(&*tree), std::io::sink(), &ExportOptions::default())?;
    /// assert_eq!(progress.figures().bytes, 5);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn counted<'t>(&self, tree: &'t dyn Tree) -> impl Tree + use<'t> {
        Counted { tree, progress: self.clone() }
    }

    /// Sets the total number of files.
    pub(crate) fn expect_files(&self, files: u64) {
        self.0.expected_files.store(files, Ordering::Relaxed);
    }

    /// Counts bytes that were read.
    pub(crate) fn add_bytes(&self, bytes: u64) {
        add(&self.0.bytes, bytes);
    }

    fn all(&self) -> [&AtomicU64; 4] {
        let Counters { files, bytes, expected_files, expected_bytes } = &*self.0;
        [files, bytes, expected_files, expected_bytes]
    }
}

impl PartialEq for Progress {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Progress {}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

/// A tree whose files are counted.
struct Counted<'t> {
    tree: &'t dyn Tree,
    progress: Progress,
}

#[deny(clippy::missing_trait_methods)]
impl Tree for Counted<'_> {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.tree.stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.tree.list(path)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let content = self.tree.open(path)?;
        if content.len() > LARGE_BYTES && content.shared().is_none() {
            return Ok(CountedReads::of(content, &self.progress));
        }
        add(&self.progress.0.files, 1);
        self.progress.add_bytes(content.len());
        Ok(content)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        add(&self.progress.0.files, 1);
        self.tree.read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.tree.known_hash(path)
    }

    fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
        self.tree.list_known(path)
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        self.tree.known_tree_hash(path)
    }

    fn own_state(&self) -> Option<&dyn Any> {
        self.tree.own_state()
    }
}

/// Content that is counted as it is read.
struct CountedReads {
    content: Content,
    progress: Progress,
}

impl CountedReads {
    fn of(content: Content, progress: &Progress) -> Content {
        let (len, hash) = (content.len(), content.known_hash());
        let counted =
            Content::positional(Arc::new(Self { content, progress: progress.clone() }), len);
        hash.map_or(counted.clone(), |hash| counted.with_known_hash(hash))
    }
}

impl ReadAt for CountedReads {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.content.read_at(buffer, offset)?;
        self.progress.add_bytes(read as u64);
        Ok(read)
    }

    #[cfg(target_os = "linux")]
    fn file(&self) -> Option<&std::fs::File> {
        self.content.file()
    }
}

impl Drop for CountedReads {
    fn drop(&mut self) {
        add(&self.progress.0.files, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryBackend, Store, VerifyOptions, Workspace};

    fn workspace(progress: &Progress) -> Workspace {
        let files = Workspace::builder(MemoryBackend::new()).store(Store::temporary().unwrap());
        files.progress(progress.clone()).build()
    }

    fn counted(progress: &Progress) -> (u64, u64, Option<u64>) {
        let Figures { files, bytes, expected_files, .. } = progress.figures();
        (files, bytes, expected_files)
    }

    #[test]
    fn a_snapshot_counts_what_it_reads_and_a_restore_what_it_writes() {
        let progress = Progress::default();
        let files = workspace(&progress);
        files.write("a/b.txt", "hello").unwrap();
        files.symlink("link", b"a/b.txt").unwrap();
        let first = files.snapshot("first").unwrap();
        assert_eq!(counted(&progress), (2, 5, Some(2)));
        files.delete_all("a").unwrap();
        files.restore(&first).unwrap();
        assert_eq!(counted(&progress), (1, 5, Some(1)));
    }

    #[test]
    fn verifying_counts_bytes_towards_all_there_are() {
        let progress = Progress::default();
        let files = workspace(&progress);
        files.write("a.txt", "hello").unwrap();
        files.snapshot("first").unwrap();
        let options = VerifyOptions::default().data(true).progress(progress.clone());
        let found = files.snapshot_store().unwrap().verify(&options).unwrap();
        let Figures { files, bytes, expected_bytes, .. } = progress.figures();
        assert_eq!((files, bytes, expected_bytes), (0, found.bytes_checked, Some(bytes)));
        assert!(bytes > 5);
    }

    #[test]
    fn what_is_more_than_was_expected_has_no_known_end() {
        let progress = Progress::default();
        progress.begin(1, 10);
        progress.add_bytes(11);
        assert_eq!(
            (progress.figures().expected_files, progress.figures().expected_bytes),
            (Some(1), None)
        );
    }

    #[test]
    fn large_content_is_counted_as_it_is_read() {
        let bytes = bytes::Bytes::from(vec![7; LARGE_BYTES as usize * 2]);
        let large = Content::positional(Arc::new(Content::from(bytes)), LARGE_BYTES * 2);
        let progress = Progress::default();
        let counted = CountedReads::of(large, &progress);
        assert_eq!(progress.figures().bytes, 0);
        counted.read_range(0, 100).unwrap();
        assert_eq!((progress.figures().bytes, progress.figures().files), (100, 0));
        drop(counted);
        assert_eq!(progress.figures().files, 1);
    }
}
