//! The root directory's handle: every access starts here, and no other code turns a path into a file.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Gid, Mode, OFlags, ResolveFlags, Stat, Statx,
    StatxFlags, Uid,
};
use rustix::io::{Errno, Result};

use super::identity::Identity;
use crate::path::TreePath;

/// How often `openat2` is retried when it fails with EAGAIN because another process renames directories.
const TRIES: usize = 32;

/// How often EXDEV is retried, because an entry that is being renamed may look as if it were outside.
const MOVED_TRIES: usize = 4;

/// The longest path that the kernel accepts, without its NUL.
const LONGEST_PATH: usize = 4095;

/// How long to wait for another process that holds the lock.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Adds the flags that every open needs: no links, no inheritance by child processes, no waiting for a FIFO.
fn safe(flags: OFlags) -> OFlags {
    let always = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // An `O_PATH` open never waits, and the kernel rejects the combination.
    if flags.contains(OFlags::PATH) { always } else { always | OFlags::NONBLOCK }
}

const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// A directory of the host, opened once.
pub(crate) struct Root {
    fd: OwnedFd,
    mount: Mount,
    resolver: Resolver,
    owner: Option<Owner>,
}

/// The user and the group that new entries belong to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    user: Uid,
    group: Gid,
}

impl Owner {
    /// Gives an open file or directory away, as far as this process may.
    pub(super) fn take(this: Option<Self>, file: impl AsFd) -> Result<()> {
        let Some(Self { user, group }) = this else { return Ok(()) };
        as_far_as_permitted(rustix::fs::fchown(file, Some(user), Some(group)))
    }

    /// Gives an entry away, as far as this process may; of a link the link itself.
    pub(super) fn take_at(this: Option<Self>, directory: impl AsFd, name: &[u8]) -> Result<()> {
        let Some(Self { user, group }) = this else { return Ok(()) };
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        as_far_as_permitted(rustix::fs::chownat(directory, name, Some(user), Some(group), flags))
    }
}

/// Only root may give files away, and only to users of its namespace; elsewhere the file stays this user's.
fn as_far_as_permitted(given: Result<()>) -> Result<()> {
    match given {
        Err(Errno::PERM | Errno::INVAL) => Ok(()),
        given => given,
    }
}

/// How paths are resolved: by the kernel in one call, or one directory at a time.
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

    /// Wraps a directory that is open already.
    pub(super) fn from_handle(fd: OwnedFd, resolver: Option<Resolver>) -> Result<Self> {
        let mount = mount_of(&fd)?;
        let resolver = resolver.unwrap_or_else(|| best_resolver(fd.as_fd()));
        Ok(Self { fd, mount, resolver, owner: None })
    }

    /// Sets the user and the group that new entries belong to.
    pub(super) fn owned_by(mut self, owner: Option<(u32, u32)>) -> Self {
        let owner = owner
            .map(|(user, group)| Owner { user: Uid::from_raw(user), group: Gid::from_raw(group) });
        self.owner = owner;
        self
    }

    /// Returns what new entries belong to, if not to this process's user.
    pub(super) fn owner(&self) -> Option<Owner> {
        self.owner
    }

    pub(super) fn resolver(&self) -> Resolver {
        self.resolver
    }

    /// Returns the directory's identity.
    pub(super) fn identity(&self) -> Result<Identity> {
        Identity::of(&self.fd)
    }

    /// Returns whether the directory was deleted.
    pub(super) fn is_gone(&self) -> bool {
        rustix::fs::fstat(&self.fd).is_ok_and(|stat| stat.st_nlink == 0)
    }

    pub(super) fn mount(&self) -> Mount {
        self.mount
    }

    /// Returns the directory's real path.
    pub(super) fn real_path(&self) -> Result<Vec<u8>> {
        real_path(&self.fd)
    }

    /// Opens the entry at a path.
    pub(super) fn open(&self, path: &TreePath, flags: OFlags) -> Result<OwnedFd> {
        self.open_below(self.fd.as_fd(), path.as_bytes(), flags)
    }

    /// Guesses whether an entry is a FIFO, socket or device, which must not even be opened.
    ///
    /// It is much cheaper than an `O_PATH` open, but not safe: it may follow links. So it only chooses the flags; the
    /// caller checks the entry that it opened.
    pub(super) fn looks_special(&self, path: &TreePath) -> bool {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let found = rustix::fs::statat(&self.fd, path.as_bytes(), flags);
        let kind = |stat: Stat| FileType::from_raw_mode(stat.st_mode);
        let plain =
            |kind| matches!(kind, FileType::RegularFile | FileType::Directory | FileType::Symlink);
        found.is_ok_and(|stat| !plain(kind(stat)))
    }

    /// Opens the parent directory and returns it with the entry's name; `None` for the root.
    pub(super) fn open_parent<'p>(&self, path: &'p TreePath) -> Result<Option<Slot<'p>>> {
        let Some((parent, name)) = path.split() else { return Ok(None) };
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let directory = self.open_below(self.fd.as_fd(), parent, flags)?;
        Ok(Some(Slot { directory, name }))
    }

    /// Creates a new file, with one system call if possible.
    pub(super) fn create(&self, path: &TreePath, mode: Mode) -> Result<OwnedFd> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let short = split_long(path.as_bytes()).is_none();
        if short && self.resolver == Resolver::Kernel {
            match rustix::fs::openat2(&self.fd, path.as_bytes(), flags, mode, BENEATH) {
                // A rename raced with the resolution: open the parent, with retries, instead.
                Err(Errno::AGAIN | Errno::INTR) => {}
                created => return created,
            }
        }
        let Slot { directory, name } = self.open_parent(path)?.ok_or(Errno::EXIST)?;
        rustix::fs::openat(directory, name, flags, mode)
    }

    /// Locks the root, so that one process at a time compares and replaces.
    ///
    /// The lock ends with the handle, even if the process is killed.
    pub(super) fn lock(&self) -> Result<OwnedFd> {
        let handle = self.open_below(self.fd.as_fd(), b"", OFlags::RDONLY | OFlags::DIRECTORY)?;
        let started = Instant::now();
        loop {
            // Polled, because a blocking `flock` has no timeout.
            match rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) if started.elapsed() < LOCK_WAIT => {
                    thread::sleep(Duration::from_micros(200));
                }
                Err(Errno::INTR) => {}
                result => return result.map(|()| handle),
            }
        }
    }

    /// Opens a path relative to a directory; an empty path is that directory.
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

    /// Resolves a path one directory at a time. A path has no `..`, so it cannot leave.
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
        // `openat2` has RESOLVE_NO_XDEV for this. Here every component is compared, because a mount has no other sign.
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

/// The place of an entry: its parent directory and its name.
pub(crate) struct Slot<'p> {
    pub(super) directory: OwnedFd,
    pub(super) name: &'p [u8],
}

impl<'p> Slot<'p> {
    /// Wraps a name in a directory that is open already.
    pub(super) fn at(directory: BorrowedFd<'_>, name: &'p [u8]) -> Result<Self> {
        let directory = if name.starts_with(b"/") { CWD } else { directory };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(directory, ".", flags, Mode::empty())?;
        Ok(Self { directory, name })
    }
}

/// The device and the mount of a file.
pub(crate) type Mount = (u32, u32, u64);

/// Returns the mount of an open file.
pub(crate) fn mount_of(fd: impl AsFd) -> Result<Mount> {
    rustix::fs::statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).map(|found| mount_in(&found))
}

/// Returns the mount from a `statx` with `MNT_ID`.
pub(super) fn mount_in(found: &Statx) -> Mount {
    (found.stx_dev_major, found.stx_dev_minor, found.stx_mnt_id)
}

/// Returns the `/proc` path of an open file.
pub(crate) fn by_handle(handle: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

/// Reopens an `O_PATH` handle for reading: the same file, whatever its path is now.
pub(crate) fn reopen(handle: &OwnedFd) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, by_handle(handle), flags, Mode::empty())
}

/// Returns the real path of an open directory.
pub(crate) fn real_path(handle: &OwnedFd) -> Result<Vec<u8>> {
    Ok(rustix::fs::readlinkat(CWD, by_handle(handle), Vec::new())?.into_bytes())
}

fn best_resolver(fd: BorrowedFd<'_>) -> Resolver {
    // Kernels before 5.6 do not have `openat2`, and the seccomp filters of some containers forbid it.
    match ask_kernel(fd, b"", OFlags::PATH | OFlags::DIRECTORY) {
        Err(Errno::NOSYS | Errno::PERM) => Resolver::Walk,
        _ => Resolver::Kernel,
    }
}

fn ask_kernel(start: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Result<OwnedFd> {
    let path = if path.is_empty() { b"." } else { path };
    for tried in 0..TRIES {
        match rustix::fs::openat2(start, path, safe(flags), Mode::empty(), BENEATH) {
            // EAGAIN: a rename raced with the resolution, and the kernel could not rule out an escape. A retry is all
            // there is.
            Err(Errno::AGAIN | Errno::INTR) => thread::yield_now(),
            // While another process renames an entry, resolution beneath the root may end outside of it. A real mount
            // fails every time.
            Err(Errno::XDEV) if tried < MOVED_TRIES => thread::yield_now(),
            // For a directory, the kernel returns ENOTDIR for links and files alike.
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

/// Splits a path that is too long for one system call.
fn split_long(path: &[u8]) -> Option<(&[u8], &[u8])> {
    // One byte more than fits, so that a separator right after the longest head is found.
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
