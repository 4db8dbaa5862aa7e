//! What an operation's changes displaced, found by the numbers of their lines.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::io::Errno;

use super::Host;
use super::root::{Resolver, Root};
use crate::error::{Error, Operation, Result};
use crate::operation::{BEFORE, KeptEntries, KeptEntry, beside, numbered};
use crate::path::TreePath;

/// The entries that are kept in the place of one operation.
pub(crate) struct HostKept {
    place: PathBuf,
    resolver: Option<Resolver>,
    /// The directory of all operations, once somebody looked.
    directory: OnceLock<Option<Arc<Host>>>,
    /// The paths of the lines, where an earlier version kept directories at their own path.
    earlier: Vec<(usize, TreePath)>,
}

impl HostKept {
    pub(super) fn new(place: PathBuf, resolver: Option<Resolver>) -> Self {
        Self { place, resolver, directory: OnceLock::new(), earlier: Vec::new() }
    }

    /// Opens what is kept in the place of an operation that may be of an earlier version, with the paths of its lines.
    pub(crate) fn open(place: PathBuf, earlier: Vec<(usize, TreePath)>) -> Self {
        Self { earlier, ..Self::new(place, None) }
    }

    fn directory(&self) -> Result<Option<Arc<Host>>> {
        if let Some(known) = self.directory.get() {
            return Ok(known.clone());
        }
        let opened = match self.place.parent() {
            Some(parent) => open(parent, self.resolver)?,
            None => None,
        };
        Ok(self.directory.get_or_init(|| opened).clone())
    }

    fn is_there(entry: &KeptEntry) -> Result<bool> {
        match entry.tree.stat(&entry.at) {
            Err(error) if error.is_absence() => Ok(false),
            stat => stat.map(|_| true),
        }
    }

    /// Finds an entry that an earlier version kept at its own path.
    fn earlier(&self, line: usize) -> Result<Option<KeptEntry>> {
        let Some((_, path)) = self.earlier.iter().find(|(known, _)| *known == line) else {
            return Ok(None);
        };
        let Some(tree) = open(&self.place.join(BEFORE), self.resolver)? else { return Ok(None) };
        let entry = KeptEntry { tree, at: path.clone() };
        Ok(Self::is_there(&entry)?.then_some(entry))
    }
}

impl KeptEntries for HostKept {
    fn entry(&self, line: usize) -> Result<Option<KeptEntry>> {
        let Some(tree) = self.directory()? else { return Ok(None) };
        let entry = KeptEntry { tree, at: name_of(&self.place, line)? };
        match Self::is_there(&entry)? {
            true => Ok(Some(entry)),
            false => self.earlier(line),
        }
    }
}

pub(super) fn open(directory: &Path, resolver: Option<Resolver>) -> Result<Option<Arc<Host>>> {
    match Root::open_ambient(directory, resolver) {
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(Error::system(Operation::Open, errno)),
        Ok(root) => Ok(Some(Arc::new(Host::new(root)))),
    }
}

/// Returns the name of the entry that is kept for a line.
fn name_of(place: &Path, line: usize) -> Result<TreePath> {
    let place = beside(place, &numbered(line));
    TreePath::from_disk(place.file_name().unwrap_or_default().as_encoded_bytes())
}
