//! Reads a directory of the host; the backend and its views share this state.

use std::any::Any;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
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
use crate::tree::{Entry, FileMode, Kind, Stat, Tree};

/// The state that the backend shares with its views.
pub(crate) struct HostTree {
    pub(super) root: Arc<Root>,
    /// Made by the first write, so that reading leaves no trace.
    pub(super) area: Mutex<Option<Arc<Area>>>,
    /// The index of the last capture, loaded on first use.
    pub(super) index: Mutex<Option<Arc<Index>>>,
    pub(super) index_file: Option<PathBuf>,
    pub(super) mount_id: MountId,
    /// Where displaced entries go during the next change, by path.
    pub(super) preimage_paths: Mutex<Vec<(TreePath, PathBuf)>>,
    /// The time of this backend's last change.
    pub(super) touched: Mutex<Moment>,
    /// The temporary directory, if the caller gave none. Declared last, because it must be dropped last.
    pub(super) temporary: Option<TempDir>,
}

impl HostTree {
    /// Wraps a directory that is not captured.
    pub(super) fn new(root: Root) -> Self {
        Self {
            root: Arc::new(root),
            area: Mutex::default(),
            index: Mutex::default(),
            index_file: None,
            mount_id: MountId::default(),
            preimage_paths: Mutex::default(),
            touched: Mutex::new(Moment::EARLIEST),
            temporary: None,
        }
    }

    pub(super) fn area(&self) -> SystemResult<Arc<Area>> {
        let mut area = self.area.lock();
        // Another program may have deleted `.wink-staging`.
        if let Some(area) = area.as_ref().filter(|area| area.is_there()) {
            return Ok(area.clone());
        }
        Ok(area.insert(Arc::new(Area::create(&self.root)?)).clone())
    }

    /// Leaves the staging directory with its journal; the process that makes the next one recovers it.
    pub(super) fn leave_area(&self) {
        *self.area.lock() = None;
    }

    pub(super) fn index(&self) -> Arc<Index> {
        let mut index = self.index.lock();
        let load =
            || Arc::new(self.index_file.as_deref().map(index_file::load).unwrap_or_default());
        index.get_or_insert_with(load).clone()
    }

    /// Returns whether the directory is deleted with this process, so that nothing needs syncing.
    pub(super) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    pub(super) fn remember(&self, index: Index) {
        *self.index.lock() = Some(Arc::new(index));
    }

    /// Notes the time of a change.
    pub(super) fn touch(&self) {
        *self.touched.lock() = Moment::now();
    }

    pub(super) fn last_change(&self) -> Moment {
        *self.touched.lock()
    }

    pub(super) fn temporary(&self) -> SystemResult<Temporary> {
        Temporary::create(&self.area()?)
    }

    /// Replaces an error by "the root is gone" if that is the reason.
    ///
    /// A deleted directory looks empty through an open handle.
    pub(super) fn or_root_gone(&self, error: Error) -> Error {
        if self.root.is_gone() { checks::root_is_gone(error.operation()) } else { error }
    }

    /// Opens a file and checks that it is one.
    pub(super) fn open_file(
        &self,
        operation: Operation,
        path: &TreePath,
    ) -> Result<(OwnedFd, rustix::fs::Stat)> {
        let failed = |errno| self.or_root_gone(failure::looking(operation, path, errno));
        // Opening a FIFO wakes its writer, and opening a device can do anything: look first.
        let flags = if self.root.looks_special(path) { OFlags::PATH } else { OFlags::RDONLY };
        let fd = self.root.open(path, flags).map_err(failed)?;
        let stat = rustix::fs::fstat(&fd).map_err(failed)?;
        // By the handle: the look before may have seen another entry.
        checks::check_file(operation, path, entry::kind_of(stat.st_mode))?;
        if flags == OFlags::PATH {
            // It became a file after the look; a retry succeeds.
            return Err(failed(Errno::AGAIN));
        }
        Ok((fd, stat))
    }

    /// Opens the parent of an entry to be created; the root exists already.
    pub(super) fn new_slot<'p>(
        &self,
        operation: Operation,
        path: &'p TreePath,
    ) -> Result<Slot<'p>> {
        let slot = self.root.open_parent(path);
        slot.map_err(|errno| failure::creating(operation, path, errno))?
            .ok_or_else(|| Error::new(operation, ErrorKind::AlreadyExists).with_path(path))
    }

    /// Opens the parent of an existing entry; the root cannot be changed.
    pub(super) fn slot<'p>(&self, operation: Operation, path: &'p TreePath) -> Result<Slot<'p>> {
        checks::check_not_root(operation, path)?;
        let slot = self.root.open_parent(path);
        slot.map_err(|errno| failure::looking(operation, path, errno))?
            .ok_or_else(|| Error::new(operation, ErrorKind::NotFound).with_path(path))
    }

    /// Explains why a directory could not be opened.
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
        let failed = |errno| self.or_root_gone(failure::looking(Operation::Stat, path, errno));
        let fd = self.root.open(path, OFlags::PATH).map_err(failed)?;
        let mut stat = entry::describe(&fd).map_err(failed)?;
        if path.is_root() {
            stat.mode = FileMode::default();
        }
        Ok(stat)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let failed = |error| self.or_root_gone(error);
        let fd = self
            .root
            .open(path, OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(|errno| failed(self.not_listable(path, errno)))?;
        let mut entries = entry::entries(fd.as_fd())
            .map_err(|errno| failed(failure::looking(Operation::List, path, errno)))?;
        if path.is_root() {
            // It holds staged files of this or another process.
            entries.retain(|entry| entry.name.as_bytes() != RESERVED_NAME.as_bytes());
        }
        // An entry too deep to have a path cannot be asked for; a capture reports its directory.
        entries.retain(|entry| path.has_room_for(&entry.name));
        Ok(entries)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let (fd, stat) = self.open_file(Operation::Read, path)?;
        Ok(Content::positional(Arc::new(File::from(fd)), stat.st_size as u64))
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        let failed = |errno| self.or_root_gone(failure::looking(Operation::Read, path, errno));
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
