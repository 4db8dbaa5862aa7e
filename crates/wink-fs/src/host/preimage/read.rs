//! Finds pre-images by the line numbers of their steps.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, Result as SystemResult};

use crate::error::{Error, Operation, Result};
use crate::host::HostTree;
use crate::host::root::{Resolver, Root, Slot};
use crate::oplog::{BEFORE, KeptEntries, KeptEntry, Recorded, Step, beside, numbered};
use crate::path::TreePath;
use crate::tree::descend;
use crate::tree::{Kind, Tree as _};

/// The pre-images of one operation.
pub(crate) struct Preimages {
    place: PathBuf,
    resolver: Option<Resolver>,
    /// The directory of all operations, opened on first use.
    directory: OnceLock<Option<Arc<HostTree>>>,
    /// The paths of the lines: an earlier version kept directories at their own paths.
    earlier: Vec<(usize, TreePath)>,
}

impl Preimages {
    pub(crate) fn new(place: PathBuf, resolver: Option<Resolver>) -> Self {
        Self { place, resolver, directory: OnceLock::new(), earlier: Vec::new() }
    }

    /// Opens the pre-images of an operation that an earlier version may have written.
    pub(crate) fn open(place: PathBuf, earlier: Vec<(usize, TreePath)>) -> Self {
        Self { earlier, ..Self::new(place, None) }
    }

    /// Returns the files and links that a replacement kept at their own paths.
    pub(crate) fn of_replacement(place: &Path) -> Result<Option<Recorded>> {
        let Some(tree) = open(&place.join(BEFORE), None)? else { return Ok(None) };
        let mut paths = Vec::new();
        collect(&tree, &TreePath::root(), &mut paths)?;
        let steps = paths.iter().map(|path| Step::Remove { path: path.clone() }).enumerate();
        Ok(Some(Recorded::new(steps.collect(), Arc::new(ReplacementPreimages { tree, paths }))))
    }

    fn directory(&self) -> Result<Option<Arc<HostTree>>> {
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

    /// Finds a pre-image that an earlier version kept at its own path.
    fn earlier(&self, line: usize) -> Result<Option<KeptEntry>> {
        let Some((_, path)) = self.earlier.iter().find(|(known, _)| *known == line) else {
            return Ok(None);
        };
        let Some(tree) = open(&self.place.join(BEFORE), self.resolver)? else { return Ok(None) };
        let entry = KeptEntry { tree, at: path.clone() };
        Ok(Self::is_there(&entry)?.then_some(entry))
    }
}

impl KeptEntries for Preimages {
    fn entry(&self, line: usize) -> Result<Option<KeptEntry>> {
        let Some(tree) = self.directory()? else { return Ok(None) };
        let entry = KeptEntry { tree, at: name_of(&self.place, line)? };
        if Self::is_there(&entry)? { Ok(Some(entry)) } else { self.earlier(line) }
    }
}

/// Pre-images at their own paths, one for each line.
struct ReplacementPreimages {
    tree: Arc<HostTree>,
    paths: Vec<TreePath>,
}

impl KeptEntries for ReplacementPreimages {
    fn entry(&self, line: usize) -> Result<Option<KeptEntry>> {
        let at = self.paths.get(line).cloned();
        Ok(at.map(|at| KeptEntry { tree: self.tree.clone(), at }))
    }
}

/// Collects the files and links below a directory.
fn collect(tree: &HostTree, directory: &TreePath, paths: &mut Vec<TreePath>) -> Result<()> {
    for entry in tree.list(directory)? {
        let path = directory.join(&entry.name)?;
        match entry.kind {
            Kind::Directory => descend(|| collect(tree, &path, paths))?,
            Kind::File | Kind::Symlink => paths.push(path),
            Kind::Other => {}
        }
    }
    Ok(())
}

pub(crate) fn open(directory: &Path, resolver: Option<Resolver>) -> Result<Option<Arc<HostTree>>> {
    match Root::open_ambient(directory, resolver) {
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(Error::system(Operation::Open, errno)),
        Ok(root) => Ok(Some(Arc::new(HostTree::new(root)))),
    }
}

/// Makes the parent directories of a pre-image that is kept at its own path.
pub(crate) fn make_slot<'p>(place: &Path, path: &'p TreePath) -> SystemResult<Slot<'p>> {
    let make = |directory: BorrowedFd<'_>, name: &OsStr| -> SystemResult<OwnedFd> {
        match rustix::fs::mkdirat(directory, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(directory, name, flags, Mode::empty())
    };
    let (parent, name) = path.split().ok_or(Errno::EXIST)?;
    let mut directory = make(make(CWD, place.as_os_str())?.as_fd(), OsStr::new(BEFORE))?;
    for segment in parent.split(|byte| *byte == b'/').filter(|it| !it.is_empty()) {
        directory = make(directory.as_fd(), OsStr::from_bytes(segment))?;
    }
    Ok(Slot { directory, name })
}

/// Returns the name of a line's pre-image.
fn name_of(place: &Path, line: usize) -> Result<TreePath> {
    let place = beside(place, &numbered(line));
    TreePath::from_disk(place.file_name().unwrap_or_default().as_encoded_bytes())
}
