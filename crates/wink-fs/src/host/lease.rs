//! Tells whether a program has a file open for writing, by asking the kernel for a lease.
#![allow(unsafe_code, reason = "no safe crate has file leases; each call passes three integers")]

use std::io;
use std::path::Path;

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};

use super::capture::stamp::{self, Stamp};
use super::preimage::fingerprint::Fingerprint;
use super::root::Root;
use crate::tree::Kind;

/// Chooses the signal of a lease; missing in `libc`.
const F_SETSIG: libc::c_int = 10;

/// Returns the stamp of an entry that no program can write into any more; ETXTBSY if a program may have it open for
/// writing.
///
/// The entry must be out of view, so that no program can open it afterwards.
pub(super) fn closed_stamp(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Stamp> {
    stamp_unless(directory, name, |file| !is_closed(file))
}

/// Returns the stamp of an entry; ETXTBSY if a program is known to have it open for writing.
pub(super) fn unopened_stamp(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Stamp> {
    stamp_unless(directory, name, |file| is_open_for_writing(file))
}

fn stamp_unless(
    directory: BorrowedFd<'_>,
    name: &[u8],
    is_open: fn(&OwnedFd) -> bool,
) -> Result<Stamp> {
    let found = Stamp::of(&stamp::look(directory, name)?);
    if found.kind() != Kind::File {
        return Ok(found);
    }
    // Read-only: a writable handle of our own would prevent the lease.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    if is_open(&file) {
        return Err(Errno::TXTBSY);
    }
    // Stat after the lease: a write before the writer closed the file shows in this stamp.
    Ok(Stamp::of(&stamp::look_at(&file)?))
}

/// Returns whether a program may have an entry that is out of view, or a file below it, open for writing.
pub(super) fn may_be_written(place: &Path) -> bool {
    let Some((parent, name)) = place.parent().zip(place.file_name()) else { return false };
    let Ok(root) = Root::open_ambient(parent, None) else { return false };
    match Fingerprint::of_closed(&root, root.as_fd(), name.as_encoded_bytes()) {
        Ok(_) | Err(Errno::NOENT) => false,
        Err(_) => true,
    }
}

/// Returns whether a program is known to have a file in view open for writing.
///
/// Such a program can change the file through a mapping without changing a time.
pub(super) fn is_open_for_writing(file: impl AsFd) -> bool {
    let fd = file.as_fd().as_raw_fd();
    match set_lease(fd, libc::F_RDLCK) {
        // Give the lease back at once: a program that opens the file for writing blocks until then.
        Ok(()) => set_lease(fd, libc::F_UNLCK).is_err(),
        Err(errno) => errno == Errno::AGAIN,
    }
}

/// Returns whether no program has a file open for writing.
///
/// The kernel grants a read lease only in that case. On a network file system, or for a file of another user, it grants
/// none, and the answer is no. The lease ends with the handle, which is open for reading.
fn is_closed(file: impl AsFd) -> bool {
    set_lease(file.as_fd().as_raw_fd(), libc::F_RDLCK).is_ok()
}

fn set_lease(fd: RawFd, lease: libc::c_int) -> Result<()> {
    // A program that opens the file breaks the lease, and the default signal, SIGIO, would kill this process. SAFETY:
    // the handle is open, and the command takes an integer.
    let is_harmless = unsafe { libc::fcntl(fd, F_SETSIG, libc::SIGURG) } == 0;
    // SAFETY: as above.
    if is_harmless && unsafe { libc::fcntl(fd, libc::F_SETLEASE, lease) } == 0 {
        Ok(())
    } else {
        Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL))
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "plays another program")]
mod tests {
    use std::fs::{File, OpenOptions};

    use super::*;

    #[test]
    fn a_file_is_closed_once_the_last_writer_is_gone() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let is_closed = || super::is_closed(File::open(&path).unwrap());
        assert!(is_closed());
        let reader = File::open(&path).unwrap();
        assert!(is_closed(), "a reader does no harm");
        drop(reader);
        let writer = OpenOptions::new().append(true).open(&path).unwrap();
        assert!(!is_closed());
        drop(writer);
        assert!(is_closed());
    }

    /// The signal of a broken lease would end the process.
    #[test]
    fn a_program_that_opens_the_file_meanwhile_ends_no_process() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let looked_at = File::open(&path).unwrap();
        assert!(super::is_closed(&looked_at));
        let flags = OFlags::WRONLY | OFlags::NONBLOCK;
        let opened = rustix::fs::open(&*path, flags, Mode::empty());
        assert_eq!(opened.map(drop), Err(Errno::WOULDBLOCK), "the lease is to be given up");
    }
}
