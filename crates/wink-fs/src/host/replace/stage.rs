//! Writes new entries into the staging directory.

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
use crate::host::root::Owner;
use crate::host::staging::Area;
use crate::path::TreePath;
use crate::tree::descend;
use crate::tree::hash::directory_mode;
use crate::tree::scope::Exclusions;
use crate::tree::{Entry, FileMode, Kind, Tree};
use crate::util::parallel;

/// A change; its new entry, if any, is in the staging directory.
///
/// Dropping it deletes what is there: the new entry if it was not used, otherwise the old one.
pub(super) struct Staged {
    pub(super) area: Arc<Area>,
    pub(super) path: TreePath,
    pub(super) name: String,
    pub(super) action: Action,
    pub(super) files: u64,
    /// Whether the old entry is in staging and must stay there.
    pub(super) stuck: bool,
    /// The stamps of a displaced directory and of everything in it.
    pub(super) known: Option<(Stamp, Stamps)>,
}

impl Drop for Staged {
    fn drop(&mut self) {
        // What is stuck in staging may be the only copy of another program's work.
        if !self.stuck {
            self.area.discard(&self.name);
        }
    }
}

/// An entry in the staging directory, deleted on drop unless it was renamed away.
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

/// Writes entries of the target into staging.
pub(in crate::host) struct Writer<'a> {
    /// The captured files: a new file gets the permission bits of the one it replaces.
    pub(in crate::host) before: Option<&'a Captured>,
    pub(in crate::host) target: &'a dyn Tree,
    pub(in crate::host) excluded: &'a Exclusions,
    /// What new entries belong to.
    pub(in crate::host) owner: Option<Owner>,
}

impl Writer<'_> {
    /// Stages all changes.
    pub(super) fn stage(&self, area: &Arc<Area>, changes: &[Change]) -> Result<Vec<Staged>> {
        parallel::try_map(changes, |change| self.change(area, change))
    }

    fn change(&self, area: &Arc<Area>, change: &Change) -> Result<Staged> {
        let area = area.clone();
        let path = change.path.clone();
        let action = change.action;
        let name = area.new_name();
        let mut staged = Staged { area, path, name, action, files: 0, stuck: false, known: None };
        let into = staged.area.directory();
        let name = staged.name.as_bytes();
        match action {
            Action::Remove | Action::SetMode(_) => {}
            Action::AddParent => {
                self.empty_directory(into, name, &staged.path)?;
                self.set_directory_mode(into, name, &staged.path)?;
            }
            Action::Add(kind) | Action::Exchange(kind) => {
                staged.files = self.entry(into, name, &staged.path, kind)?;
            }
        }
        Ok(staged)
    }

    /// Stages one entry, with everything below it, under a new name.
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
            .and_then(|()| Owner::take_at(self.owner, into, name))
            .map_err(|errno| failure::any(Operation::Replace, path, errno))
    }

    /// Writes an entry and everything below it, and returns the number of files and links.
    fn entry(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath, kind: Kind) -> Result<u64> {
        let failed = |errno| failure::any(Operation::Replace, path, errno);
        match kind {
            Kind::Directory => descend(|| self.directory(into, name, path)),
            Kind::File => self.file(into, name, path).map(|()| 1),
            Kind::Symlink => {
                let target = self.target.read_link(path)?;
                rustix::fs::symlinkat(&*target, into, name)
                    .and_then(|()| Owner::take_at(self.owner, into, name))
                    .map_err(failed)?;
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
        let files = parallel::try_map(&entries, write)?.into_iter().sum();
        self.set_directory_mode(into, name, path)?;
        Ok(files)
    }

    /// Makes a new directory private if it is private in the target.
    fn set_directory_mode(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath) -> Result<()> {
        let failed = |errno| failure::any(Operation::Replace, path, errno);
        let mode = directory_mode(self.target, path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(into, name, flags, Mode::empty()).map_err(failed)?;
        let bits = rustix::fs::fstat(&directory).map_err(failed)?.st_mode & 0o7777;
        let wanted = entry::directory_bits(bits, mode);
        if wanted == bits {
            return Ok(());
        }
        rustix::fs::fchmod(&directory, Mode::from_raw_mode(wanted)).map_err(failed)
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
        Owner::take(self.owner, &file).map_err(failed)?;
        content
            .for_each_chunk(|chunk| file.write_all(chunk))
            .map_err(|error| Error::system(Operation::Replace, error).with_path(path))?;
        // Skip links: their permission bits are always 0777 and mean nothing.
        let before = self.before.and_then(|before| before.find_stamp(path));
        let before = before.filter(|stamp| stamp.kind() == Kind::File);
        let before = before.map(|stamp| stamp.mode.into());
        set_mode(&file, before, mode).map_err(failed)
    }
}

/// Sets a file's permission bits: those of the file it replaces if they express the mode, otherwise those of a new
/// file, changed as little as possible.
fn set_mode(file: &File, before: Option<RawMode>, mode: FileMode) -> rustix::io::Result<()> {
    let bits = rustix::fs::fstat(file)?.st_mode & KEPT_BITS;
    let as_before = before.filter(|before| entry::mode_of(*before) == mode);
    let wanted = entry::bits_with(as_before.unwrap_or(bits), mode);
    if wanted == bits { Ok(()) } else { rustix::fs::fchmod(file, Mode::from_raw_mode(wanted)) }
}
