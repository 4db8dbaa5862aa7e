//! Copies of files and directories, where a rename or a hard link is impossible.

pub(crate) mod snapshot_files;
pub(crate) mod transfer;

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, Stat};
use rustix::io::{Errno, Result as SystemResult};

use crate::host::preimage::write;
use crate::host::root::Slot;

/// The name of an incomplete copy; only one is made at a time.
const DRAFT: &str = ".copy";

/// Copies a file with its permissions, but not set-user-id and the like; the copy appears complete or not at all.
pub(crate) fn copy_file(slot: &Slot<'_>, found: &Stat, place: &Path) -> SystemResult<()> {
    let draft = place.with_file_name(DRAFT);
    // A killed process may have left one.
    write::remove(&draft);
    write_copy(slot, found, &draft)
        .and_then(|()| rustix::fs::renameat(CWD, &draft, CWD, place))
        .inspect_err(|_| write::remove(&draft))
}

fn write_copy(slot: &Slot<'_>, found: &Stat, place: &Path) -> SystemResult<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let source = rustix::fs::openat(&slot.directory, slot.name, flags, Mode::empty())?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let copy = rustix::fs::openat(CWD, place, flags, Mode::RUSR | Mode::WUSR)?;
    let mut source = File::from(source);
    let mut copy = File::from(copy);
    io::copy(&mut source, &mut copy)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    rustix::fs::fchmod(&copy, Mode::from_raw_mode(found.st_mode & 0o777))
}
