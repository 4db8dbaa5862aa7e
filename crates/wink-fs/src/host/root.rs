//! The directory handle that every access starts from, and the only way from a path to a file.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, Stat, Statx, StatxFlags,
};
use rustix::io::{Errno, Result};

use super::identity::Identity;
use crate::path::TreePath;

/// How often the kernel may ask to try again because another process renames directories meanwhile.
const TRIES: usize = 32;

/// How often an entry may seem to be outside because another process renames it.
const MOVED_TRIES: usize = 4;

/// The longest path the kernel takes, without the NUL that ends it.
const LONGEST_PATH: usize = 4095;

/// How long another process may hold the lock before a caller is told.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Never follow a link, never hand the file to a child process, never wait for a FIFO.
fn safe(flags: OFlags) -> OFlags {
    let always = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // What is not opened for reading cannot wait, and the kernel refuses the combination.
    if flags.contains(OFlags::PATH) { always } else { always | OFlags::NONBLOCK }
}

const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// A directory on the host, opened once.
pub(crate) struct Root {
    fd: OwnedFd,
    mount: Mount,
    resolver: Resolver,
}

/// Who walks a path: the kernel in one call, or we, one directory at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resolver {
    Kernel,
    Walk,
}

impl Root {
    /// Opens a directory with the ambient authority of the process; links in this path are followed.
    pub(super) fn open_ambient(path: &Path, resolver: Option<Resolver>) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        Self::from_handle(fd, resolver)
    }

    /// Takes a directory that is open already.
    pub(super) fn from_handle(fd: OwnedFd, resolver: Option<Resolver>) -> Result<Self> {
        let mount = mount_of(&fd)?;
        let resolver = resolver.unwrap_or_else(|| best_resolver(fd.as_fd()));
        Ok(Self { fd, mount, resolver })
    }

    pub(super) fn resolver(&self) -> Resolver {
        self.resolver
    }

    /// Returns what tells this directory from every other.
    pub(super) fn identity(&self) -> Result<Identity> {
        Identity::of(&self.fd)
    }

    /// Tells whether the directory was deleted since.
    pub(super) fn is_gone(&self) -> bool {
        rustix::fs::fstat(&self.fd).is_ok_and(|stat| stat.st_nlink == 0)
    }

    pub(super) fn mount(&self) -> Mount {
        self.mount
    }

    /// Returns where the directory really lies.
    pub(super) fn real_path(&self) -> Result<Vec<u8>> {
        real_path(&self.fd)
    }

    /// Opens the entry at a path.
    pub(super) fn open(&self, path: &TreePath, flags: OFlags) -> Result<OwnedFd> {
        self.open_below(self.fd.as_fd(), path.as_bytes(), flags)
    }

    /// Guesses whether an entry is something that must not even be opened.
    ///
    /// Much cheaper than to open it without reading, and not to be trusted: it may go through links.
    /// So it only chooses how the entry is opened, and who opens it finds out what it is.
    pub(super) fn looks_special(&self, path: &TreePath) -> bool {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let found = rustix::fs::statat(&self.fd, path.as_bytes(), flags);
        let kind = |stat: Stat| FileType::from_raw_mode(stat.st_mode);
        let plain =
            |kind| matches!(kind, FileType::RegularFile | FileType::Directory | FileType::Symlink);
        found.is_ok_and(|stat| !plain(kind(stat)))
    }

    /// Opens the directory that holds an entry and returns it with the entry's name; the root has none.
    pub(super) fn open_parent<'p>(&self, path: &'p TreePath) -> Result<Option<Slot<'p>>> {
        let Some((parent, name)) = path.split() else { return Ok(None) };
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let directory = self.open_below(self.fd.as_fd(), parent, flags)?;
        Ok(Some(Slot { directory, name }))
    }

    /// Makes a file that is not there yet, in one call where the kernel can.
    pub(super) fn create(&self, path: &TreePath, mode: Mode) -> Result<OwnedFd> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let short = split_long(path.as_bytes()).is_none();
        if short && self.resolver == Resolver::Kernel {
            match rustix::fs::openat2(&self.fd, path.as_bytes(), flags, mode, BENEATH) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                created => return created,
            }
        }
        let Slot { directory, name } = self.open_parent(path)?.ok_or(Errno::EXIST)?;
        rustix::fs::openat(directory, name, flags, mode)
    }

    /// Lets one compare-and-replace at a time happen beneath this directory, in whatever process.
    ///
    /// The lock goes with the returned handle, also when its process dies.
    pub(super) fn lock(&self) -> Result<OwnedFd> {
        let handle = self.open_below(self.fd.as_fd(), b"", OFlags::RDONLY | OFlags::DIRECTORY)?;
        let started = Instant::now();
        loop {
            match rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) if started.elapsed() < LOCK_WAIT => {
                    thread::sleep(Duration::from_micros(200));
                }
                Err(Errno::INTR) => {}
                result => return result.map(|()| handle),
            }
        }
    }

    /// Opens an entry by a path relative to another directory; an empty path is that directory.
    pub(super) fn open_below(
        &self,
        start: BorrowedFd<'_>,
        path: &[u8],
        flags: OFlags,
    ) -> Result<OwnedFd> {
        if let Some((head, tail)) = split_long(path) {
            let halfway = self.open_below(start, head, OFlags::PATH | OFlags::DIRECTORY)?;
            return self.open_below(halfway.as_fd(), tail, flags);
        }
        match self.resolver {
            Resolver::Kernel => ask_kernel(start, path, flags),
            Resolver::Walk => self.walk(start, path, flags),
        }
    }

    /// Goes down one directory at a time; there is no `..` in a path, so it can only go down.
    fn walk(&self, start: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Result<OwnedFd> {
        let Some((parents, last)) = split_last(path) else {
            return self.step(start, b".", flags);
        };
        let mut here = None;
        for segment in parents.split(|b| *b == b'/').filter(|s| !s.is_empty()) {
            let from = here.as_ref().map_or(start, |fd: &OwnedFd| fd.as_fd());
            here = Some(self.step(from, segment, OFlags::PATH | OFlags::DIRECTORY)?);
        }
        self.step(here.as_ref().map_or(start, |fd| fd.as_fd()), last, flags)
    }

    fn step(&self, from: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd> {
        let fd =
            rustix::fs::openat(from, name, safe(flags), Mode::empty()).map_err(
                |errno| match errno {
                    Errno::NOTDIR => {
                        not_a_directory(rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW))
                    }
                    _ => errno,
                },
            )?;
        if mount_of(&fd)? != self.mount {
            return Err(Errno::XDEV);
        }
        Ok(fd)
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Where an entry is: the directory that holds it, by handle, and its name there.
pub(crate) struct Slot<'p> {
    pub(super) directory: OwnedFd,
    pub(super) name: &'p [u8],
}

impl<'p> Slot<'p> {
    /// Takes an entry of a directory that is open already.
    pub(super) fn at(directory: BorrowedFd<'_>, name: &'p [u8]) -> Result<Self> {
        let directory = if name.starts_with(b"/") { CWD } else { directory };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(directory, ".", flags, Mode::empty())?;
        Ok(Self { directory, name })
    }
}

/// Which file system a file lies on, and by which mount it was reached.
pub(crate) type Mount = (u32, u32, u64);

/// Returns the mount of an open file.
pub(crate) fn mount_of(fd: impl AsFd) -> Result<Mount> {
    rustix::fs::statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).map(|found| mount_in(&found))
}

/// Returns the mount of an entry that was looked at with `MNT_ID`.
pub(super) fn mount_in(found: &Statx) -> Mount {
    (found.stx_dev_major, found.stx_dev_minor, found.stx_mnt_id)
}

/// Returns the name under which the kernel shows an open file.
pub(crate) fn by_handle(handle: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

/// Opens for reading the very file that a handle names.
pub(crate) fn reopen(handle: &OwnedFd) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, by_handle(handle), flags, Mode::empty())
}

/// Returns where an open directory really lies.
pub(crate) fn real_path(handle: &OwnedFd) -> Result<Vec<u8>> {
    Ok(rustix::fs::readlinkat(CWD, by_handle(handle), Vec::new())?.into_bytes())
}

fn best_resolver(fd: BorrowedFd<'_>) -> Resolver {
    // Old kernels do not know the call, and seccomp filters of some containers refuse it.
    match ask_kernel(fd, b"", OFlags::PATH | OFlags::DIRECTORY) {
        Err(Errno::NOSYS | Errno::PERM) => Resolver::Walk,
        _ => Resolver::Kernel,
    }
}

fn ask_kernel(start: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Result<OwnedFd> {
    let path = if path.is_empty() { b"." } else { path };
    for tried in 0..TRIES {
        match rustix::fs::openat2(start, path, safe(flags), Mode::empty(), BENEATH) {
            Err(Errno::AGAIN | Errno::INTR) => thread::yield_now(),
            // An entry that is renamed out of the directory meanwhile looks like one of another file system, which
            // would say so every time.
            Err(Errno::XDEV) if tried < MOVED_TRIES => thread::yield_now(),
            // Asked for a directory, the kernel says the same of a link as of a file.
            Err(Errno::NOTDIR) if flags.contains(OFlags::DIRECTORY) => {
                let found = ask_kernel(start, path, OFlags::PATH)?;
                return Err(not_a_directory(rustix::fs::fstat(found)));
            }
            result => return result,
        }
    }
    Err(Errno::AGAIN)
}

fn not_a_directory(found: Result<Stat>) -> Errno {
    match found {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Errno::LOOP,
        _ => Errno::NOTDIR,
    }
}

/// Splits a path that is too long for one system call at a separator.
fn split_long(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let head = path.get(..LONGEST_PATH + 1)?;
    let at = memchr::memrchr(b'/', head)?;
    Some((&path[..at], &path[at + 1..]))
}

fn split_last(path: &[u8]) -> Option<(&[u8], &[u8])> {
    match memchr::memrchr(b'/', path) {
        Some(at) => Some((&path[..at], &path[at + 1..])),
        None => (!path.is_empty()).then_some((&[], path)),
    }
}
