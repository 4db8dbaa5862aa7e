//! Moving an entry within a file system, also where the kernel does not rename it.
//!
//! OverlayFS does not rename a directory that is in a lower layer, as those of a container's image are, and says
//! XDEV. What is in it can be moved, entry by entry.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::{Errno, Result};

use crate::host::entry;
use crate::host::root::Slot;
use crate::tree::Kind;
use crate::tree::descend::descend;

/// How often what other programs put into a directory meanwhile is moved after the rest.
const TRIES: usize = 16;

/// A name in an open directory.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a>(pub(crate) BorrowedFd<'a>, pub(crate) &'a [u8]);

impl<'a> Place<'a> {
    pub(crate) fn of(slot: &'a Slot<'_>) -> Self {
        Self(slot.directory.as_fd(), slot.name)
    }
}

/// Moves an entry to a place where nothing is; XDEV says that it would have to be copied.
pub(crate) fn transfer(from: Place<'_>, to: Place<'_>) -> Result<()> {
    match rename(from, to) {
        Err(Errno::XDEV) if is_directory(from) && are_on_one_device(from, to) => {
            transfer_directory(from, to)
        }
        renamed => renamed,
    }
}

fn transfer_directory(from: Place<'_>, to: Place<'_>) -> Result<()> {
    let source = open(from)?;
    rustix::fs::mkdirat(to.0, to.1, Mode::RWXU)?;
    let moved = move_all(source.as_fd(), from, to).and_then(|()| adopt(source.as_fd(), to));
    moved.inspect_err(|_| {
        let _ = merge(to, from);
    })
}

/// Moves all that is in a directory into another, and removes it.
fn move_all(source: BorrowedFd<'_>, from: Place<'_>, to: Place<'_>) -> Result<()> {
    let target = open(to)?;
    for _ in 0..TRIES {
        for child in entry::entries(source)? {
            let name = child.name.as_bytes();
            descend(|| transfer(Place(source, name), Place(target.as_fd(), name)))?;
        }
        match rustix::fs::unlinkat(from.0, from.1, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            removed => return removed,
        }
    }
    Err(Errno::BUSY)
}

/// Moves an entry to a place where nothing is, or into the directory that is there: what is missing in it. What is in
/// the way of something leaves that where it was, which is an error.
pub(crate) fn merge(from: Place<'_>, to: Place<'_>) -> Result<()> {
    match transfer(from, to) {
        Err(Errno::EXIST) if is_directory(from) && is_directory(to) => {}
        moved => return moved,
    }
    let (source, target) = (open(from)?, open(to)?);
    for child in entry::entries(source.as_fd())? {
        let name = child.name.as_bytes();
        // One entry that is in the way keeps no others.
        let _ = descend(|| merge(Place(source.as_fd(), name), Place(target.as_fd(), name)));
    }
    rustix::fs::unlinkat(from.0, from.1, AtFlags::REMOVEDIR)
}

/// Gives a new directory the owner and the permissions of another.
fn adopt(source: BorrowedFd<'_>, to: Place<'_>) -> Result<()> {
    let (stat, target) = (rustix::fs::fstat(source)?, open(to)?);
    let (owner, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
    match rustix::fs::fchown(&target, Some(owner), Some(group)) {
        // Only root gives files away: it is ours then, as if it had been made anew.
        Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
        Err(errno) => return Err(errno),
    }
    rustix::fs::fchmod(&target, Mode::from_raw_mode(stat.st_mode & 0o7777))
}

fn rename(from: Place<'_>, to: Place<'_>) -> Result<()> {
    match rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        // Some file systems know only the plain rename.
        Err(Errno::INVAL) if is_free(to) => rustix::fs::renameat(from.0, from.1, to.0, to.1),
        renamed => renamed,
    }
}

fn are_on_one_device(a: Place<'_>, b: Place<'_>) -> bool {
    let device = |place: Place<'_>| rustix::fs::fstat(place.0).map(|stat| stat.st_dev);
    device(a).is_ok_and(|a| device(b) == Ok(a))
}

fn is_free(place: Place<'_>) -> bool {
    let found = rustix::fs::statat(place.0, place.1, AtFlags::SYMLINK_NOFOLLOW);
    found.map(drop) == Err(Errno::NOENT)
}

pub(crate) fn is_directory(place: Place<'_>) -> bool {
    let found = rustix::fs::statat(place.0, place.1, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|stat| entry::kind_of(stat.st_mode) == Kind::Directory)
}

/// Tells whether nothing is in a directory.
pub(crate) fn is_empty(directory: Place<'_>) -> Result<bool> {
    Ok(entry::entries(open(directory)?.as_fd())?.is_empty())
}

fn open(place: Place<'_>) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(place.0, place.1, flags, Mode::empty())
}
