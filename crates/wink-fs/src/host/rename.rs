//! Moving an entry from one place to another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, CWD, Mode, RenameFlags};
use rustix::io::{Errno, Result as SystemResult};

use super::copy::links::copy_file;
use super::copy::transfer::{self, Place};
use super::displace::Looked;
use super::preimage::write;
use super::root::Slot;
use super::{HostTree, displace, entry, failure, replace};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::{Recursion, Replacement};
use crate::path::TreePath;
use crate::tree::Kind;

/// What stands at a place: its kind, and which file it is.
pub(super) struct Found {
    pub(super) kind: Kind,
    identity: (u64, u64),
}

/// One entry on its way.
pub(super) struct Relocation<'a> {
    pub(super) host: &'a Arc<HostTree>,
    pub(super) source: Slot<'a>,
    pub(super) moved: Found,
    pub(super) from: &'a TreePath,
    pub(super) target: Slot<'a>,
    pub(super) to: &'a TreePath,
    /// Where what it displaces is to go, if that is to be kept.
    pub(super) kept: Option<PathBuf>,
}

/// Looks at the entry that is to be moved.
pub(super) fn look_at_source(source: &Slot<'_>, from: &TreePath) -> Result<Found> {
    look(source).map_err(|errno| failure::looking(Operation::Rename, from, errno))
}

impl Relocation<'_> {
    fn failed(&self, errno: Errno) -> Error {
        match errno {
            Errno::NOTEMPTY => {
                Error::new(Operation::Rename, ErrorKind::NotEmpty).with_path(self.to)
            }
            _ => failure::any(Operation::Rename, self.to, errno),
        }
    }

    /// Moves the entry.
    pub(super) fn run(&self, replacement: Replacement) -> Result<()> {
        let there = match (replacement, look(&self.target)) {
            (Replacement::Refuse, _) | (_, Err(Errno::NOENT)) => None,
            (Replacement::Replace, there) => Some(there.map_err(|errno| self.failed(errno))?),
        };
        let moved = match &there {
            None => self.transfer(),
            Some(there) => {
                checks::check_replaceable(self.moved.kind, there.kind, self.to)?;
                let is_kept = self.kept.is_some() && there.kind == Kind::File;
                if is_kept && !entry::may_be_read(self.target.directory.as_fd(), self.target.name) {
                    return Err(checks::unreadable(Operation::Rename, self.to));
                }
                match self.replace(there) {
                    // It cannot be exchanged: the empty directory goes first.
                    Err(Errno::XDEV) if self.moved.kind == Kind::Directory => {
                        displace::remove(self.host, self.to, &self.target, Recursion::OnlyEmpty)
                            .map_err(|error| error.during(Operation::Rename))?;
                        self.transfer()
                    }
                    replaced => replaced,
                }
            }
        };
        moved.map_err(|errno| self.failed(errno))
    }

    fn transfer(&self) -> SystemResult<()> {
        transfer::transfer(Place::of(&self.source), Place::of(&self.target))
    }

    fn replace(&self, there: &Found) -> SystemResult<()> {
        let is_same_file = self.moved.identity == there.identity;
        if is_same_file && same_entry(&self.source, &self.target) {
            return Ok(());
        }
        let Some(kept) = &self.kept else { return self.replace_unkept(is_same_file) };
        // The entry waits where what it displaces is to go, and both change places; two names of one file need not.
        let (parent, name) = displace::parent_of(kept)?;
        let seat = Place(parent.as_fd(), name);
        match transfer::transfer(Place::of(&self.source), seat) {
            Err(Errno::XDEV) => self.replace_after_a_copy(kept),
            seated => {
                seated?;
                self.exchange(seat)
            }
        }
    }

    /// Lets what waits change places with what is there; where it cannot, or that is not to be replaced, it goes back.
    fn exchange(&self, seat: Place<'_>) -> SystemResult<()> {
        let (target, is_directory) = (Place::of(&self.target), transfer::is_directory(seat));
        let exchanged = match exchange(seat, target) {
            // It went meanwhile, so nothing is displaced.
            Err(Errno::NOENT) => transfer::transfer(seat, target),
            exchanged => exchanged.and_then(|()| {
                let may_go = check_displaced(seat, is_directory);
                may_go.or_else(|errno| exchange(seat, target).and(Err(errno)))
            }),
        };
        // Where something else has its place by now, it stays kept.
        exchanged.inspect_err(|_| _ = transfer::transfer(seat, Place::of(&self.source)))
    }

    /// Does the same where what is displaced is kept on another file system: it is copied there, and stays aside as
    /// long as a program may write into it.
    fn replace_after_a_copy(&self, kept: &Path) -> SystemResult<()> {
        let area = self.host.area()?;
        let name = area.new_name();
        let seat = Slot::at(area.directory(), name.as_bytes())?;
        let target = (self.target.directory.as_fd(), self.target.name);
        let copied = Looked::at(self.host, target.0, target.1)?;
        let copy = match copied.stamp.kind() {
            Kind::Directory => rustix::fs::mkdirat(CWD, kept, Mode::RWXU),
            _ => copy_entry(&self.target, kept),
        };
        copy.inspect_err(|_| write::remove(kept))?;
        replace::announce_return(self.host, &area, self.from, &name)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let exchanged = transfer::transfer(Place::of(&self.source), Place::of(&seat))
            .and_then(|()| self.exchange(Place::of(&seat)));
        if exchanged.is_err() || !area.holds(&name) {
            write::remove(kept);
            replace::settle_return(self.host, &area, &name);
            return exchanged;
        }
        let displaced = Looked::at(self.host, area.directory(), name.as_bytes())?;
        if !displaced.stamp.is_same_but_renamed(&copied.stamp) {
            write::remove(kept);
            return displace::move_elsewhere(self.host, &area, self.to, &name, kept)
                .map_err(|_| Errno::IO);
        }
        let looked = Looked { is_open: copied.is_open, ..displaced };
        let copy = || replace::content_of(kept);
        replace::discard_settled(self.host, &area, self.to, &name, &looked, copy);
        Ok(())
    }

    fn replace_unkept(&self, is_same_file: bool) -> SystemResult<()> {
        let (source, target) = (&self.source, &self.target);
        if is_same_file {
            // Between two hard links of one file the kernel renames nothing and reports success.
            return rustix::fs::unlinkat(&source.directory, source.name, AtFlags::empty());
        }
        let renamed =
            rustix::fs::renameat(&source.directory, source.name, &target.directory, target.name);
        renamed.map_err(|errno| if errno == Errno::EXIST { Errno::NOTEMPTY } else { errno })
    }
}

/// Refuses what came out and may not be replaced: a directory goes only for a directory, and only if it is empty.
fn check_displaced(displaced: Place<'_>, is_by_directory: bool) -> SystemResult<()> {
    match (transfer::is_directory(displaced), is_by_directory) {
        (false, false) => Ok(()),
        (true, false) => Err(Errno::ISDIR),
        (false, true) => Err(Errno::NOTDIR),
        (true, true) if transfer::is_empty(displaced)? => Ok(()),
        (true, true) => Err(Errno::NOTEMPTY),
    }
}

fn exchange(a: Place<'_>, b: Place<'_>) -> SystemResult<()> {
    rustix::fs::renameat_with(a.0, a.1, b.0, b.1, RenameFlags::EXCHANGE)
}

/// Copies a file or a link to a place outside of the workspace.
fn copy_entry(slot: &Slot<'_>, place: &Path) -> SystemResult<()> {
    let stat = rustix::fs::statat(&slot.directory, slot.name, AtFlags::SYMLINK_NOFOLLOW)?;
    match entry::kind_of(stat.st_mode) {
        Kind::Symlink => {
            let target = rustix::fs::readlinkat(&slot.directory, slot.name, Vec::new())?;
            rustix::fs::symlinkat(target, CWD, place)
        }
        Kind::File => copy_file(slot, &stat, place),
        Kind::Directory => Err(Errno::ISDIR),
        Kind::Other => Err(Errno::NXIO),
    }
}

fn look(slot: &Slot<'_>) -> SystemResult<Found> {
    let stat = rustix::fs::statat(&slot.directory, slot.name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Found { kind: entry::kind_of(stat.st_mode), identity: (stat.st_dev, stat.st_ino) })
}

/// Tells whether two places are one: the same name in the same directory.
fn same_entry(a: &Slot<'_>, b: &Slot<'_>) -> bool {
    let directory =
        |slot: &Slot<'_>| rustix::fs::fstat(&slot.directory).map(|stat| (stat.st_dev, stat.st_ino));
    a.name == b.name && matches!((directory(a), directory(b)), (Ok(a), Ok(b)) if a == b)
}
