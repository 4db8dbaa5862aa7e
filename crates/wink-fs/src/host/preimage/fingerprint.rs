//! Fingerprints: a hash of all names below a directory and of the stamps of all files.
//!
//! A directory's own stamp does not change when a file below it is written.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::OFlags;
use rustix::io::Result;

use crate::host::capture::stamp::{self, Reader, Stamp};
use crate::host::entry;
use crate::host::lease;
use crate::host::root::Root;
use crate::path::Name;
use crate::tree::Kind;
use crate::tree::descend;

/// Identifies the state of an entry and of everything below it.
///
/// Stamps of directories do not count: they change when an entry is created and deleted again, or when the directory is
/// renamed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Fingerprints an entry of an open directory.
    ///
    /// Fails if something below it is a mount, or unreadable.
    pub(crate) fn of(root: &Root, start: BorrowedFd<'_>, name: &[u8]) -> Result<Self> {
        Self::by(root, start, name, stamp_at)
    }

    /// Like [`of`](Self::of), but fails if a program may have a file there open for writing.
    pub(crate) fn of_closed(root: &Root, start: BorrowedFd<'_>, name: &[u8]) -> Result<Self> {
        Self::by(root, start, name, lease::closed_stamp)
    }

    /// Like [`of`](Self::of), but fails if a program is known to have a file there open for writing.
    pub(crate) fn of_unopened(root: &Root, start: BorrowedFd<'_>, name: &[u8]) -> Result<Self> {
        Self::by(root, start, name, lease::unopened_stamp)
    }

    /// Like [`of`](Self::of), from the parts of stamps that a move entry by entry keeps.
    pub(crate) fn of_contents(root: &Root, start: BorrowedFd<'_>, name: &[u8]) -> Result<Self> {
        Self::by(root, start, name, |directory, name| Ok(stamp_at(directory, name)?.moved()))
    }

    fn by(root: &Root, start: BorrowedFd<'_>, name: &[u8], stamp_at: StampAt) -> Result<Self> {
        let mut look = Look { root, start, stamp_at, inside: Builder::default() };
        let stamp = stamp_at(start, name)?;
        match stamp.kind() {
            Kind::Directory => look.directory(name.to_vec())?,
            _ => look.inside.entry(b"", &stamp),
        }
        Ok(look.inside.finish())
    }

    pub(crate) fn encode(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.0);
    }

    pub(crate) fn decode(from: &mut Reader<'_>) -> Option<Self> {
        from.array().map(Self)
    }
}

/// Builds a fingerprint from entries in the order of their names.
#[derive(Default)]
pub(crate) struct Builder(blake3::Hasher);

impl Builder {
    /// Adds a file or link.
    pub(crate) fn entry(&mut self, name: &[u8], stamp: &Stamp) {
        let mut bytes = Vec::with_capacity(Stamp::BYTES);
        stamp.encode(&mut bytes);
        self.begin(b'e', name);
        self.0.update(&bytes);
    }

    /// Adds a directory; what follows is in it, until `leave`.
    pub(crate) fn enter(&mut self, name: &[u8]) {
        self.begin(b'd', name);
    }

    pub(crate) fn leave(&mut self) {
        self.0.update(b".");
    }

    fn begin(&mut self, kind: u8, name: &[u8]) {
        // A name has at most 255 bytes.
        self.0.update(&[kind, name.len() as u8]).update(name);
    }

    pub(crate) fn finish(self) -> Fingerprint {
        Fingerprint(self.0.finalize().into())
    }
}

/// Stats an entry of an open directory.
type StampAt = fn(BorrowedFd<'_>, &[u8]) -> Result<Stamp>;

fn stamp_at(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Stamp> {
    Ok(Stamp::of(&stamp::look(directory, name)?))
}

struct Look<'a> {
    root: &'a Root,
    start: BorrowedFd<'a>,
    stamp_at: StampAt,
    inside: Builder,
}

impl Look<'_> {
    /// Adds the entries of a directory. Each is opened by its path from the start, so that depth costs no open files.
    fn directory(&mut self, path: Vec<u8>) -> Result<()> {
        for (name, stamp) in self.stamps(&path)? {
            if stamp.kind() != Kind::Directory {
                self.inside.entry(name.as_bytes(), &stamp);
                continue;
            }
            self.inside.enter(name.as_bytes());
            let below = [&path, &b"/"[..], name.as_bytes()].concat();
            descend(|| self.directory(below))?;
            self.inside.leave();
        }
        Ok(())
    }

    fn stamps(&self, path: &[u8]) -> Result<Vec<(Name, Stamp)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = self.root.open_below(self.start, path, flags)?;
        let entries = entry::entries(directory.as_fd())?.into_iter();
        let stamps = entries.map(|entry| {
            let stamp = (self.stamp_at)(directory.as_fd(), entry.name.as_bytes())?;
            Ok((entry.name, stamp))
        });
        stamps.collect()
    }
}
