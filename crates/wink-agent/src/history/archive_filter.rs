//! What an archive can hold of files as they are now.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use wink_fs::{Content, ContentHash, Entry, Kind, Result, Stat, Tree, TreeHash, TreePath};

use crate::util::lock::lock;

/// Shows a tree without FIFOs, sockets and devices, which no archive holds, and names them: one of them does not
/// keep the caller from exporting the rest.
///
/// ```
/// use wink_agent::WithoutSpecial;
/// use wink_fs::archive::{self, ExportOptions};
///
/// let files = wink_fs::Workspace::memory();
/// files.write("a.txt", "hello")?;
/// let tree = WithoutSpecial::of(files.tree());
/// let exported = archive::write(&tree, std::io::sink(), &ExportOptions::default())?;
/// assert_eq!((exported.file_count, tree.left_out().len()), (1, 0));
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub struct WithoutSpecial {
    tree: Arc<dyn Tree>,
    left_out: Mutex<BTreeSet<TreePath>>,
}

impl WithoutSpecial {
    /// Says why something is left out, as snapshots do.
    pub const WHY: &'static str = "a FIFO, socket or device";

    /// Shows a tree.
    pub fn of(tree: Arc<dyn Tree>) -> Self {
        Self { tree, left_out: Mutex::default() }
    }

    /// Returns what was left out of the directories that were looked into, sorted.
    pub fn left_out(&self) -> Vec<TreePath> {
        lock(&self.left_out).iter().cloned().collect()
    }
}

impl fmt::Debug for WithoutSpecial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.left_out()).finish()
    }
}

impl Tree for WithoutSpecial {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.tree.stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let all = self.tree.list(path)?;
        let (special, entries): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|entry| entry.kind == Kind::Other);
        for entry in special {
            lock(&self.left_out).insert(path.join(&entry.name)?);
        }
        Ok(entries)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.tree.open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.tree.read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.tree.known_hash(path)
    }

    /// Something below may be left out.
    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
}
