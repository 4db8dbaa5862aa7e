//! A directory of copied files, accessed through handles: names are exact, links are not followed.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Result;

use crate::host::entry;
use crate::host::root::{Root, Slot};
use crate::path::TreePath;
use crate::tree::Kind;

/// A copy is private, even if its original was not.
const FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// The copies below one directory.
pub(crate) struct Copies {
    root: Root,
}

impl Copies {
    /// Opens a directory with the ambient authority of the process.
    pub(crate) fn open_ambient(path: &Path) -> io::Result<Self> {
        Ok(Self { root: Root::open_ambient(path, None)? })
    }

    /// Makes a directory; the root exists already.
    pub(crate) fn make_dir(&self, path: &TreePath) -> io::Result<()> {
        let Some(Slot { directory, name }) = self.root.open_parent(path)? else { return Ok(()) };
        Ok(rustix::fs::mkdirat(directory, name, Mode::RWXU)?)
    }

    pub(crate) fn make_link(&self, path: &TreePath, target: &[u8]) -> io::Result<()> {
        let slot = self.root.open_parent(path)?;
        let Slot { directory, name } = slot.ok_or(io::ErrorKind::AlreadyExists)?;
        Ok(rustix::fs::symlinkat(target, directory, name)?)
    }

    /// Makes an empty file.
    pub(crate) fn make_file(&self, path: &TreePath) -> io::Result<File> {
        Ok(self.root.create(path, FILE)?.into())
    }

    /// Opens a file; anything else counts as missing.
    pub(crate) fn open(&self, path: &TreePath) -> io::Result<File> {
        let found = if self.root.looks_special(path) {
            None
        } else {
            Some(self.root.open(path, OFlags::RDONLY)?)
        };
        let is_file = |fd: &OwnedFd| -> Result<bool> {
            let stat = rustix::fs::statat(fd, "", AtFlags::EMPTY_PATH)?;
            Ok(entry::kind_of(stat.st_mode) == Kind::File)
        };
        match found {
            Some(fd) if is_file(&fd)? => Ok(fd.into()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Syncs the file system of the copies, in one call.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let directory = self.root.open(&TreePath::root(), OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(rustix::fs::syncfs(directory)?)
    }
}
