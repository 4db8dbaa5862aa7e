//! Moves an entry within a file system, even if the kernel refuses to rename it.
//!
//! OverlayFS does not rename a directory in a lower layer, such as those of a container image: the rename fails with
//! EXDEV. Its entries can be moved one by one.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::{Errno, Result};

use crate::host::entry;
use crate::host::root::Slot;
use crate::tree::Kind;
use crate::tree::descend;

/// How often entries that other programs create in the directory during the move are moved after the rest.
const TRIES: usize = 16;

/// A name in an open directory.
#[derive(Clone, Copy)]
pub(crate) struct SlotRef<'a>(pub(crate) BorrowedFd<'a>, pub(crate) &'a [u8]);

impl<'a> SlotRef<'a> {
    pub(crate) fn of(slot: &'a Slot<'_>) -> Self {
        Self(slot.directory.as_fd(), slot.name)
    }
}

/// Moves an entry to a free place; EXDEV means that it must be copied.
pub(crate) fn transfer(from: SlotRef<'_>, to: SlotRef<'_>) -> Result<()> {
    match rename(from, to) {
        Err(Errno::XDEV) if is_directory(from) && are_on_one_device(from, to) => {
            transfer_directory(from, to)
        }
        renamed => renamed,
    }
}

fn transfer_directory(from: SlotRef<'_>, to: SlotRef<'_>) -> Result<()> {
    let source = open(from)?;
    rustix::fs::mkdirat(to.0, to.1, Mode::RWXU)?;
    let moved = move_all(source.as_fd(), from, to).and_then(|()| adopt(source.as_fd(), to));
    // A directory in two halves is worse than one that did not move.
    moved.inspect_err(|_| {
        let _ = merge(to, from);
    })
}

/// Moves all entries of a directory into another one, and removes it.
fn move_all(source: BorrowedFd<'_>, from: SlotRef<'_>, to: SlotRef<'_>) -> Result<()> {
    let target = open(to)?;
    for _ in 0..TRIES {
        for child in entry::entries(source)? {
            let name = child.name.as_bytes();
            descend(|| transfer(SlotRef(source, name), SlotRef(target.as_fd(), name)))?;
        }
        match rustix::fs::unlinkat(from.0, from.1, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            removed => return removed,
        }
    }
    Err(Errno::BUSY)
}

/// Moves an entry to a free place or, if both are directories, merges it into the one there.
///
/// An entry whose place is taken stays where it was, which is an error.
pub(crate) fn merge(from: SlotRef<'_>, to: SlotRef<'_>) -> Result<()> {
    match transfer(from, to) {
        Err(Errno::EXIST) if is_directory(from) && is_directory(to) => {}
        moved => return moved,
    }
    let source = open(from)?;
    let target = open(to)?;
    for child in entry::entries(source.as_fd())? {
        let name = child.name.as_bytes();
        // One entry in the way must not stop the others.
        let _ = descend(|| merge(SlotRef(source.as_fd(), name), SlotRef(target.as_fd(), name)));
    }
    rustix::fs::unlinkat(from.0, from.1, AtFlags::REMOVEDIR)
}

/// Copies owner and permissions from one directory to another.
fn adopt(source: BorrowedFd<'_>, to: SlotRef<'_>) -> Result<()> {
    let stat = rustix::fs::fstat(source)?;
    let target = open(to)?;
    let owner = Uid::from_raw(stat.st_uid);
    let group = Gid::from_raw(stat.st_gid);
    match rustix::fs::fchown(&target, Some(owner), Some(group)) {
        // Only root may give files away. Without root the directory belongs to this user, like a new one.
        Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
        Err(errno) => return Err(errno),
    }
    rustix::fs::fchmod(&target, Mode::from_raw_mode(stat.st_mode & 0o7777))
}

fn rename(from: SlotRef<'_>, to: SlotRef<'_>) -> Result<()> {
    match rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        // Some file systems have only the plain rename, which replaces: check first. A file created in between would be
        // lost, but those file systems offer nothing better.
        Err(Errno::INVAL) if is_free(to) => rustix::fs::renameat(from.0, from.1, to.0, to.1),
        renamed => renamed,
    }
}

fn are_on_one_device(a: SlotRef<'_>, b: SlotRef<'_>) -> bool {
    let device = |place: SlotRef<'_>| rustix::fs::fstat(place.0).map(|stat| stat.st_dev);
    device(a).is_ok_and(|a| device(b) == Ok(a))
}

fn is_free(place: SlotRef<'_>) -> bool {
    let found = rustix::fs::statat(place.0, place.1, AtFlags::SYMLINK_NOFOLLOW);
    found.map(drop) == Err(Errno::NOENT)
}

pub(crate) fn is_directory(place: SlotRef<'_>) -> bool {
    let found = rustix::fs::statat(place.0, place.1, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|stat| entry::kind_of(stat.st_mode) == Kind::Directory)
}

/// Returns whether a directory is empty.
pub(crate) fn is_empty(directory: SlotRef<'_>) -> Result<bool> {
    Ok(entry::entries(open(directory)?.as_fd())?.is_empty())
}

fn open(place: SlotRef<'_>) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(place.0, place.1, flags, Mode::empty())
}
