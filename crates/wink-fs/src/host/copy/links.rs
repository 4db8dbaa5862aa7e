//! Copies of files, where a rename would not do.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, Stat};
use rustix::io::{Errno, Result as SystemResult};

use crate::host::preimage::write;
use crate::host::root::Slot;

/// The name that a copy has until it is whole; only one is made at a time.
const DRAFT: &str = ".copy";

/// Copies a file with its permissions, but no right that it gives to the program that runs it. The copy is there as a
/// whole or not at all.
pub(crate) fn copy_file(slot: &Slot<'_>, found: &Stat, place: &Path) -> SystemResult<()> {
    let draft = place.with_file_name(DRAFT);
    // What a process left that died.
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
    let (mut source, mut copy) = (File::from(source), File::from(copy));
    io::copy(&mut source, &mut copy)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    rustix::fs::fchmod(&copy, Mode::from_raw_mode(found.st_mode & 0o777))
}
