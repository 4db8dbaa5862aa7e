//! New entries, written where no reader sees them.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{Mode, OFlags, RawMode};

use super::{Action, Change};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::host::capture::stamp::Stamp;
use crate::host::capture::tree::Captured;
use crate::host::entry::{self, KEPT_BITS};
use crate::host::failure;
use crate::host::purge::Stamps;
use crate::host::staging::Area;
use crate::path::TreePath;
use crate::tree::descend::descend;
use crate::tree::scope::Exclusions;
use crate::tree::{Entry, FileMode, Kind, Tree};
use crate::util::parallel;

/// A change whose new entry, if any, waits under a name in the staging directory.
///
/// Dropped, it takes away what lies there: the new entry if it was not needed, else the old one.
pub(super) struct Staged {
    pub(super) area: Arc<Area>,
    pub(super) path: TreePath,
    pub(super) name: String,
    pub(super) action: Action,
    pub(super) files: u64,
    /// Whether the old entry is there and could not be put back.
    pub(super) stuck: bool,
    /// The stamp of the old entry and what is in it, where it is a directory that goes.
    pub(super) known: Option<(Stamp, Stamps)>,
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.stuck {
            self.area.discard(&self.name);
        }
    }
}

/// An entry that waits under a name in the staging directory; dropped, it takes away what is still there.
pub(in crate::host) struct Waiting {
    area: Arc<Area>,
    name: String,
}

impl Waiting {
    pub(in crate::host) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.area.discard(&self.name);
    }
}

/// Writes entries of the target into the staging directory.
pub(in crate::host) struct Writer<'a> {
    /// What is there, where that is known: files keep the permission bits of those whose place they take.
    pub(in crate::host) before: Option<&'a Captured>,
    pub(in crate::host) target: &'a dyn Tree,
    pub(in crate::host) excluded: &'a Exclusions,
}

impl Writer<'_> {
    /// Writes everything that is new.
    pub(super) fn stage(&self, area: &Arc<Area>, changes: &[Change]) -> Result<Vec<Staged>> {
        parallel::try_map(changes, |change| self.change(area, change))
    }

    fn change(&self, area: &Arc<Area>, change: &Change) -> Result<Staged> {
        let (area, path, action) = (area.clone(), change.path.clone(), change.action);
        let name = area.new_name();
        let mut staged = Staged { area, path, name, action, files: 0, stuck: false, known: None };
        let (into, name) = (staged.area.directory(), staged.name.as_bytes());
        match action {
            Action::Remove => {}
            Action::AddParent => self.empty_directory(into, name, &staged.path)?,
            Action::Add(kind) | Action::Exchange(kind) => {
                staged.files = self.entry(into, name, &staged.path, kind)?;
            }
        }
        Ok(staged)
    }

    /// Writes one entry, with all that is below it, under a name of its own.
    pub(in crate::host) fn entry_at(
        &self,
        area: &Arc<Area>,
        path: &TreePath,
        kind: Kind,
    ) -> Result<Waiting> {
        let waiting = Waiting { area: area.clone(), name: area.new_name() };
        self.entry(area.directory(), waiting.name.as_bytes(), path, kind)?;
        Ok(waiting)
    }

    fn empty_directory(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath) -> Result<()> {
        rustix::fs::mkdirat(into, name, Mode::from_raw_mode(0o777))
            .map_err(|errno| failure::any(Operation::Replace, path, errno))
    }

    /// Writes an entry, with all that is below it, and returns how many files and links it has.
    fn entry(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath, kind: Kind) -> Result<u64> {
        let failed = |errno| failure::any(Operation::Replace, path, errno);
        match kind {
            Kind::Directory => descend(|| self.directory(into, name, path)),
            Kind::File => self.file(into, name, path).map(|()| 1),
            Kind::Symlink => {
                let target = self.target.read_link(path)?;
                rustix::fs::symlinkat(&*target, into, name).map_err(failed)?;
                Ok(1)
            }
            Kind::Other => {
                Err(Error::new(Operation::Replace, ErrorKind::SpecialFile).with_path(path))
            }
        }
    }

    fn directory(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath) -> Result<u64> {
        let failed = |errno| failure::any(Operation::Replace, path, errno);
        self.empty_directory(into, name, path)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(into, name, flags, Mode::empty()).map_err(failed)?;
        let entries = self.target.list(path)?;
        let write = |entry: &Entry| {
            let child = path.join(&entry.name)?;
            if self.excluded.matches_entry(&child) {
                return Ok(0);
            }
            self.entry(directory.as_fd(), entry.name.as_bytes(), &child, entry.kind)
        };
        Ok(parallel::try_map(&entries, write)?.into_iter().sum())
    }

    fn file(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath) -> Result<()> {
        let failed = |errno| failure::any(Operation::Replace, path, errno);
        let content = self.target.open(path)?;
        let mode = self.target.stat(path)?.mode;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd =
            rustix::fs::openat(into, name, flags, Mode::from_raw_mode(0o666)).map_err(failed)?;
        let mut file = File::from(fd);
        content
            .for_each_chunk(|chunk| file.write_all(chunk))
            .map_err(|error| Error::system(Operation::Replace, error).with_path(path))?;
        // A link has no permissions of its own: its bits allow everything to everybody.
        let before = self.before.and_then(|before| before.find_stamp(path));
        let before = before.filter(|stamp| stamp.kind() == Kind::File);
        let before = before.map(|stamp| stamp.mode.into());
        set_mode(&file, before, mode).map_err(failed)
    }
}

/// Gives a file the permission bits of the one it takes the place of, where they say what is asked for, else
/// those of a new one, changed as little as possible.
fn set_mode(file: &File, before: Option<RawMode>, mode: FileMode) -> rustix::io::Result<()> {
    let bits = rustix::fs::fstat(file)?.st_mode & KEPT_BITS;
    let as_before = before.filter(|before| entry::mode_of(*before) == mode);
    let wanted = entry::bits_with(as_before.unwrap_or(bits), mode);
    if wanted == bits { Ok(()) } else { rustix::fs::fchmod(file, Mode::from_raw_mode(wanted)) }
}
