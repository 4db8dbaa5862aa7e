//! The directories of the host that mounts must be in.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, Result as SystemResult};

use super::HostMount;
use super::bring_in::refused;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::hash::ContentHash;
use crate::host::root::{by_handle, reopen};
use crate::host::{entry, failure};
use crate::path::TreePath;
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::{Entry, Stat, Tree};

/// The allow-list, as handles.
pub(super) struct AllowedRoots(Vec<Allowed>);

struct Allowed {
    handle: OwnedFd,
    real_path: PathBuf,
}

/// A host file or directory that was opened and is allowed.
pub(super) struct Opened {
    pub(super) handle: OwnedFd,
    pub(super) real_path: PathBuf,
}

impl AllowedRoots {
    pub(super) fn open<'p>(roots: impl Iterator<Item = &'p Path>) -> Result<Self> {
        roots.map(Allowed::open).collect::<SystemResult<_>>().map(Self).map_err(|errno| {
            Error::system(Operation::Mount, errno).with_detail("an allowed root cannot be opened")
        })
    }

    /// Opens the path of a mount and checks where it really is.
    pub(super) fn resolve(&self, mount: &HostMount) -> Result<Opened> {
        if self.0.is_empty() {
            let why = "no host roots are allowed; give the directories that mounts may come from";
            return Err(refused(mount, ErrorKind::PermissionDenied, why));
        }
        let failed = |errno| {
            let error = Error::system(Operation::Mount, errno);
            error.with_path_text(&mount.host_path.to_string_lossy())
        };
        let opened = self.open_path(&mount.host_path).map_err(failed)?;
        if self.allows(&opened) {
            return Ok(opened);
        }
        let why = "it does not lie below an allowed host root";
        Err(refused(mount, ErrorKind::PermissionDenied, why))
    }

    /// Follows a link in a mount, within the allow-list.
    pub(super) fn follow(
        &self,
        directory: BorrowedFd<'_>,
        name: &[u8],
    ) -> SystemResult<Option<Opened>> {
        let opened = Opened::at(directory, Path::new(OsStr::from_bytes(name)))?;
        Ok(self.allows(&opened).then_some(opened))
    }

    /// Opens an absolute path, or a relative one against each root in turn.
    fn open_path(&self, path: &Path) -> SystemResult<Opened> {
        if path.is_absolute() {
            return Opened::at(CWD, path);
        }
        let mut tries = self.0.iter().map(|root| Opened::at(root.handle.as_fd(), path));
        tries.find(|opened| !matches!(opened, Err(Errno::NOENT))).unwrap_or(Err(Errno::NOENT))
    }

    fn allows(&self, opened: &Opened) -> bool {
        self.0.iter().any(|root| opened.real_path.starts_with(&root.real_path))
    }
}

impl Allowed {
    fn open(path: &Path) -> SystemResult<Self> {
        let Opened { handle, real_path } = Opened::at(CWD, path)?;
        Ok(Self { handle, real_path })
    }
}

impl Opened {
    /// Opens an entry with `O_PATH`, following links, and asks the kernel for its real path.
    fn at(directory: BorrowedFd<'_>, path: &Path) -> SystemResult<Self> {
        let handle =
            rustix::fs::openat(directory, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        // The path of the open handle, not of the text: a link swapped after a check by path would lead elsewhere.
        let real = rustix::fs::readlinkat(CWD, by_handle(&handle), Vec::new())?;
        Ok(Self { handle, real_path: OsStr::from_bytes(real.as_bytes()).into() })
    }
}

/// A host file, read through the handle that was checked, and not by path again.
pub(super) struct HeldFile(pub(super) OwnedFd);

impl Tree for HeldFile {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        entry::describe(&self.0).map_err(|errno| failure::any(Operation::Stat, path, errno))
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        Err(Error::new(Operation::List, ErrorKind::NotADirectory).with_path(path))
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let failed = |errno| failure::any(Operation::Read, path, errno);
        let fd = reopen(&self.0).map_err(failed)?;
        let len = rustix::fs::fstat(&fd).map_err(failed)?.st_size as u64;
        Ok(Content::positional(Arc::new(File::from(fd)), len))
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        Err(checks::not_a_link(path))
    }

    fn known_hash(&self, _: &TreePath) -> Option<ContentHash> {
        None
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
}
