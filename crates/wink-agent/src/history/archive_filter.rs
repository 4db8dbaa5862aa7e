//! The current files without those that an archive cannot hold.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use wink_fs::{
    Content, ContentHash, Entry, Kind, KnownEntry, Result, Stat, Tree, TreeHash, TreePath,
};

use crate::util::lock;

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
    /// Returns why an entry is left out, in the words of snapshots.
    pub const WHY: &'static str = "a FIFO, socket or device";

    /// Shows a tree.
    pub fn of(tree: Arc<dyn Tree>) -> Self {
        Self { tree, left_out: Mutex::default() }
    }

    /// Returns the entries that were left out so far, sorted.
    pub fn left_out(&self) -> Vec<TreePath> {
        lock(&self.left_out).iter().cloned().collect()
    }

    fn leave_out<'e>(
        &self,
        directory: &TreePath,
        entries: impl IntoIterator<Item = &'e Entry>,
    ) -> Result<()> {
        for entry in entries.into_iter().filter(|entry| entry.kind == Kind::Other) {
            lock(&self.left_out).insert(directory.join(&entry.name)?);
        }
        Ok(())
    }
}

impl fmt::Debug for WithoutSpecial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.left_out()).finish()
    }
}

#[deny(clippy::missing_trait_methods)]
impl Tree for WithoutSpecial {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.tree.stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let mut entries = self.tree.list(path)?;
        self.leave_out(path, &entries)?;
        entries.retain(|entry| entry.kind != Kind::Other);
        Ok(entries)
    }

    fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
        let mut entries = self.tree.list_known(path)?;
        self.leave_out(path, entries.iter().map(|known| &known.entry))?;
        entries.retain(|known| known.entry.kind != Kind::Other);
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

    /// None: the tree that it would name has what is left out.
    fn own_state(&self) -> Option<&dyn Any> {
        None
    }
}
