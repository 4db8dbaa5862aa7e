//! Further hard links of entries, and copies where those would not do.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat};
use rustix::io::{Errno, Result as SystemResult};

use super::entry;
use super::root::Slot;
use crate::descend::descend;
use crate::tree::Kind;

/// What is about to happen to an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Then what is kept is its only name.
    Replaced,
    /// Anybody may write into it where it is then.
    Moved,
    /// As if it were replaced; but what is in it and cannot be kept would be lost.
    Removed,
}

pub(super) const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Copies a file with its permissions, but no right that it gives to whoever runs it.
pub(super) fn copy_file(slot: &Slot<'_>, found: &Stat, place: &Path) -> SystemResult<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let source = rustix::fs::openat(&slot.directory, slot.name, flags, Mode::empty())?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let copy = rustix::fs::openat(CWD, place, flags, Mode::RUSR | Mode::WUSR)?;
    let (mut source, mut copy) = (File::from(source), File::from(copy));
    io::copy(&mut source, &mut copy)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    rustix::fs::fchmod(&copy, Mode::from_raw_mode(found.st_mode & 0o777))
}

pub(super) fn make(directory: &Path) -> SystemResult<()> {
    match rustix::fs::mkdirat(CWD, directory, Mode::RWXU) {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    }
}

pub(super) fn make_directory(into: BorrowedFd<'_>, name: &[u8]) -> SystemResult<OwnedFd> {
    match rustix::fs::mkdirat(into, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    rustix::fs::openat(into, name, DIRECTORY, Mode::empty())
}

/// Makes another link of an entry, and of everything below it.
pub(super) fn link_entry(
    from: BorrowedFd<'_>,
    name: &[u8],
    into: BorrowedFd<'_>,
    kind: Kind,
    fate: Fate,
) -> SystemResult<()> {
    match kind {
        Kind::Other if fate == Fate::Removed => Err(Errno::NXIO),
        Kind::Other => Ok(()),
        Kind::Directory => descend(|| link_directory(from, name, into, fate)),
        Kind::File | Kind::Symlink => rustix::fs::linkat(from, name, into, name, AtFlags::empty()),
    }
}

fn link_directory(
    from: BorrowedFd<'_>,
    name: &[u8],
    into: BorrowedFd<'_>,
    fate: Fate,
) -> SystemResult<()> {
    let source = rustix::fs::openat(from, name, DIRECTORY, Mode::empty())?;
    let copy = make_directory(into, name)?;
    for child in entry::entries(source.as_fd())? {
        link_entry(source.as_fd(), child.name.as_bytes(), copy.as_fd(), child.kind, fate)?;
    }
    Ok(())
}
