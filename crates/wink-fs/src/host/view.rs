//! What the backend shares with its views, and how a directory of the host is looked at.

use std::any::Any;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::{Errno, Result as SystemResult};
use tempfile::TempDir;

use super::capture::index::Index;
use super::capture::index_file;
use super::capture::stamp::Moment;
use super::mount_id::MountId;
use super::root::{Root, Slot};
use super::staging::{Area, Temporary};
use super::{entry, failure};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::hash::ContentHash;
use crate::path::{RESERVED_NAME, TreePath};
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::{Entry, Kind, Stat, Tree};

/// What the backend shares with its views.
pub(crate) struct HostTree {
    pub(super) root: Arc<Root>,
    /// Made with the first write, so that looking at a directory leaves no trace.
    pub(super) area: Mutex<Option<Arc<Area>>>,
    /// What the last capture learnt of the files; read with the first one.
    pub(super) index: Mutex<Option<Arc<Index>>>,
    pub(super) index_file: Option<PathBuf>,
    pub(super) mounting: MountId,
    /// Where what the next change displaces is to go, by its path.
    pub(super) keep: Mutex<Vec<(TreePath, PathBuf)>>,
    /// When this backend last changed something.
    pub(super) touched: Mutex<Moment>,
    /// The temporary directory, if the caller gave no directory; declared last, because it must be dropped last.
    pub(super) temporary: Option<TempDir>,
}

impl HostTree {
    /// Reaches a directory of which no capture is taken.
    pub(super) fn new(root: Root) -> Self {
        Self {
            root: Arc::new(root),
            area: Mutex::default(),
            index: Mutex::default(),
            index_file: None,
            mounting: MountId::default(),
            keep: Mutex::default(),
            touched: Mutex::new(Moment::EARLIEST),
            temporary: None,
        }
    }

    pub(super) fn area(&self) -> SystemResult<Arc<Area>> {
        let mut area = self.area.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(area) = area.as_ref().filter(|area| area.is_there()) {
            return Ok(area.clone());
        }
        Ok(area.insert(Arc::new(Area::create(&self.root)?)).clone())
    }

    /// Lets the staging directory go, with what is written down in it; the next one that is made looks after it.
    pub(super) fn leave_area(&self) {
        *self.area.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn index(&self) -> Arc<Index> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let load =
            || Arc::new(self.index_file.as_deref().map(index_file::load).unwrap_or_default());
        index.get_or_insert_with(load).clone()
    }

    /// Tells whether the directory goes with this process, so that no power loss can harm it.
    pub(super) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    pub(super) fn remember(&self, index: Index) {
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(index));
    }

    /// Remembers that something was changed just now.
    pub(super) fn touch(&self) {
        *self.touched.lock().unwrap_or_else(PoisonError::into_inner) = Moment::now();
    }

    pub(super) fn last_change(&self) -> Moment {
        *self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn temporary(&self) -> SystemResult<Temporary> {
        Temporary::create(&self.area()?)
    }

    /// Says what is true where it failed because the directory itself is gone.
    ///
    /// A directory that was deleted has no name left, and looks empty to those who have it open.
    pub(super) fn said_of_the_root(&self, error: Error) -> Error {
        if self.root.is_gone() { checks::root_is_gone(error.operation()) } else { error }
    }

    /// Opens a file and checks that it is one.
    pub(super) fn open_file(
        &self,
        operation: Operation,
        path: &TreePath,
    ) -> Result<(OwnedFd, rustix::fs::Stat)> {
        let failed = |errno| self.said_of_the_root(failure::looking(operation, path, errno));
        // To open a FIFO wakes its writer, and to open a device can do anything: look first.
        let flags = if self.root.looks_special(path) { OFlags::PATH } else { OFlags::RDONLY };
        let fd = self.root.open(path, flags).map_err(failed)?;
        let stat = rustix::fs::fstat(&fd).map_err(failed)?;
        checks::check_file(operation, path, entry::kind_of(stat.st_mode))?;
        if flags == OFlags::PATH {
            // It became a file meanwhile; a caller that tries again gets it.
            return Err(failed(Errno::AGAIN));
        }
        Ok((fd, stat))
    }

    /// Opens the directory in which an entry is to be made; the root's own place is taken.
    pub(super) fn new_slot<'p>(
        &self,
        operation: Operation,
        path: &'p TreePath,
    ) -> Result<Slot<'p>> {
        let slot = self.root.open_parent(path);
        slot.map_err(|errno| failure::creating(operation, path, errno))?
            .ok_or_else(|| Error::new(operation, ErrorKind::AlreadyExists).with_path(path))
    }

    /// Opens the directory that holds an entry; the root stays as it is.
    pub(super) fn slot<'p>(&self, operation: Operation, path: &'p TreePath) -> Result<Slot<'p>> {
        checks::check_not_root(operation, path)?;
        let slot = self.root.open_parent(path);
        slot.map_err(|errno| failure::looking(operation, path, errno))?
            .ok_or_else(|| Error::new(operation, ErrorKind::NotFound).with_path(path))
    }

    /// Says why an entry could not be opened as a directory.
    pub(super) fn not_listable(&self, path: &TreePath, errno: Errno) -> Error {
        let found = self.stat(path).and_then(|stat| checks::check_directory(path, stat.kind));
        match (errno, found) {
            (Errno::NOTDIR, Err(error)) => error.during(Operation::List),
            _ => failure::looking(Operation::List, path, errno),
        }
    }
}

impl Tree for HostTree {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        let failed = |errno| self.said_of_the_root(failure::looking(Operation::Stat, path, errno));
        let fd = self.root.open(path, OFlags::PATH).map_err(failed)?;
        entry::describe(&fd).map_err(failed)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let failed = |error| self.said_of_the_root(error);
        let fd = self
            .root
            .open(path, OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(|errno| failed(self.not_listable(path, errno)))?;
        let mut entries = entry::entries(fd.as_fd())
            .map_err(|errno| failed(failure::looking(Operation::List, path, errno)))?;
        if path.is_root() {
            entries.retain(|entry| entry.name.as_bytes() != RESERVED_NAME.as_bytes());
        }
        // What no path can name cannot be asked for either; a capture says where it is.
        entries.retain(|entry| path.has_room_for(&entry.name));
        Ok(entries)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let (fd, stat) = self.open_file(Operation::Read, path)?;
        Ok(Content::positional(Arc::new(File::from(fd)), stat.st_size as u64))
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        let failed = |errno| self.said_of_the_root(failure::looking(Operation::Read, path, errno));
        let fd = self.root.open(path, OFlags::PATH).map_err(failed)?;
        let stat = rustix::fs::fstat(&fd).map_err(failed)?;
        if entry::kind_of(stat.st_mode) != Kind::Symlink {
            return Err(checks::not_a_link(path));
        }
        Ok(rustix::fs::readlinkat(&fd, "", Vec::new()).map_err(failed)?.into_bytes())
    }

    fn known_hash(&self, _: &TreePath) -> Option<ContentHash> {
        None
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }

    fn own_state(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
