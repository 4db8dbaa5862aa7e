//! A mount namespace in which only the writable directories can be written to.
//!
//! Landlock does not cover modes, owners, times and extended attributes. On a read-only mount nothing of these can be
//! changed either.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, StatVfsMountFlags, fstatvfs, open};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change, mount_remount,
};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use crate::error::SandboxError;

/// What keeps modes, owners and attributes of other files as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isolation {
    /// Read-only mounts.
    Mounts,
    /// The kernel allows no namespaces here: seccomp refuses to change modes, owners and attributes at all.
    SystemCalls,
}

/// Settings of the system that forbid a user to make namespaces, each with the value that does.
const FORBIDDEN_BY: &[(&str, &str)] = &[
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
    ("/proc/sys/user/max_user_namespaces", "0"),
];

const MEMORY: &str = "/dev/shm";

/// Enters new namespaces where the system allows them. There must be no other thread yet.
pub(super) fn enter(writable: &[PathBuf], readable: &[PathBuf]) -> Result<Isolation, SandboxError> {
    if !unshared()? {
        return Ok(Isolation::SystemCalls);
    }
    let failed = |error: Errno| SandboxError::failed("make everything else read-only", error);
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(failed)?;
    let writable =
        writable.iter().map(|path| Writable::open(path)).collect::<Result<Vec<_>, _>>()?;
    for mounted in mounted()? {
        match mount_remount(
            &mounted.path,
            MountFlags::BIND | MountFlags::RDONLY | mounted.flags,
            c"",
        ) {
            // Hidden below another mount, or not to be reached by this user, and so not by the program.
            Ok(()) | Err(Errno::NOENT | Errno::ACCESS | Errno::INVAL | Errno::NOTDIR) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    writable.iter().try_for_each(Writable::mount)?;
    private_memory(writable.iter().map(|it| &*it.path).chain(readable.iter().map(|it| &**it)))?;
    Ok(Isolation::Mounts)
}

/// Returns whether this process has namespaces of its own now.
fn unshared() -> Result<bool, SandboxError> {
    let mounts = UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    // Root needs no namespace of users, in which files of other owners would be out of reach.
    if unshare::unshare(mounts).is_ok() {
        return Ok(true);
    }
    if FORBIDDEN_BY.iter().any(|(setting, value)| is_set(setting, value)) {
        return Ok(false);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    match unshare::unshare(mounts | UnshareFlags::NEWUSER) {
        Ok(()) => {}
        Err(Errno::PERM | Errno::NOSPC | Errno::NOSYS | Errno::INVAL | Errno::USERS) => {
            return Ok(false);
        }
        Err(error) => return Err(SandboxError::failed("make namespaces", error)),
    }
    // Everything is still the user's: inside, too, the user is who they are.
    map("setgroups", "deny")?;
    map("uid_map", &format!("{user} {user} 1"))?;
    map("gid_map", &format!("{group} {group} 1"))?;
    Ok(true)
}

#[allow(clippy::disallowed_methods, reason = "the file is the kernel's")]
fn is_set(setting: &str, value: &str) -> bool {
    fs::read_to_string(setting).is_ok_and(|found| found.trim() == value)
}

#[allow(clippy::disallowed_methods, reason = "the file is the kernel's")]
fn map(file: &str, content: &str) -> Result<(), SandboxError> {
    let written = fs::write(format!("/proc/self/{file}"), content);
    written.map_err(|error| SandboxError::failed("name the user in the new namespace", error))
}

/// A directory or file that stays writable.
struct Writable {
    path: PathBuf,
    handle: OwnedFd,
    flags: MountFlags,
}

impl Writable {
    fn open(path: &Path) -> Result<Self, SandboxError> {
        let failed = |error: Errno| SandboxError::path(path, error.into());
        let handle = open(path, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
            .map_err(failed)?;
        let found = fstatvfs(&handle).map_err(failed)?.f_flag;
        if found.contains(StatVfsMountFlags::RDONLY) {
            return Err(SandboxError::path(path, ErrorKind::ReadOnlyFilesystem.into()));
        }
        let kept = [
            (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
            (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        ];
        let kept = kept.iter().filter(|(has, _)| found.contains(*has)).map(|(_, flag)| *flag);
        Ok(Self {
            path: path.to_owned(),
            handle,
            flags: kept.fold(MountFlags::NOSUID, |all, one| all | one),
        })
    }

    /// Mounts it over itself, writable. By its handle: its path may lead elsewhere by now.
    fn mount(&self) -> Result<(), SandboxError> {
        let failed = |error: Errno| SandboxError::path(&self.path, error.into());
        let itself = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
        mount_bind_recursive(&itself, &itself).map_err(failed)?;
        mount_remount(&self.path, MountFlags::BIND | self.flags, c"").map_err(failed)
    }
}

/// Gives the program shared memory of its own, unless something that it was given is there.
fn private_memory<'p>(mut given: impl Iterator<Item = &'p Path>) -> Result<(), SandboxError> {
    let is_there =
        open(MEMORY, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).is_ok();
    if !is_there || given.any(|path| path.starts_with(MEMORY)) {
        return Ok(());
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tmpfs", MEMORY, "tmpfs", flags, c"mode=1777,size=256m")
        .map_err(|error| SandboxError::failed("make shared memory", error))
}

/// A mount of the system, with the flags that a remount must keep.
struct Mounted {
    path: PathBuf,
    flags: MountFlags,
}

#[allow(clippy::disallowed_methods, reason = "the file is the kernel's")]
fn mounted() -> Result<Vec<Mounted>, SandboxError> {
    let text = fs::read("/proc/self/mountinfo")
        .map_err(|error| SandboxError::failed("list the mounts", error))?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Mounted::parse(line).ok_or_else(unreadable)).collect()
}

fn unreadable() -> SandboxError {
    SandboxError::failed("list the mounts", io::Error::from(ErrorKind::InvalidData))
}

impl Mounted {
    /// Parses a line of `mountinfo`: number, parent, device, root, **mount point**, **options**, ...
    fn parse(line: &[u8]) -> Option<Self> {
        use std::os::unix::ffi::OsStringExt as _;
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        let path = unescaped(fields.next()?);
        let options = str::from_utf8(fields.next()?).ok()?;
        let flags = options.split(',').filter_map(|option| match option {
            "nosuid" => Some(MountFlags::NOSUID),
            "nodev" => Some(MountFlags::NODEV),
            "noexec" => Some(MountFlags::NOEXEC),
            _ => None,
        });
        let flags = flags.fold(MountFlags::empty(), |all, one| all | one);
        Some(Self { path: PathBuf::from(std::ffi::OsString::from_vec(path)), flags })
    }
}

/// Takes back the octal escapes of blanks and backslashes.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let escaped = tail
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

mod unshare {
    //! The one call that rustix holds to be unsafe: with [`UnshareFlags::FILES`], which is not used here, descriptors of
    //! other threads would change their meaning.
    #![allow(unsafe_code, reason = "see above")]

    use rustix::thread::UnshareFlags;

    pub(super) fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
        assert!(!flags.contains(UnshareFlags::FILES), "descriptors stay shared");
        // SAFETY: the table of descriptors stays shared by all threads, as asserted.
        unsafe { rustix::thread::unshare_unsafe(flags) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_may_have_blanks() {
        let line = br"36 35 98:0 /mnt1 /mnt/two\040words\134x rw,nosuid,noatime master:1 - ext3 /dev/root rw";
        let mounted = Mounted::parse(line).unwrap();
        assert_eq!(mounted.path, Path::new(r"/mnt/two words\x"));
        assert_eq!(mounted.flags, MountFlags::NOSUID);
        assert!(Mounted::parse(b"36 35 98:0").is_none());
    }
}
