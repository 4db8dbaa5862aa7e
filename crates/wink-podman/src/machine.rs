//! What this machine can limit.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfs, statvfs};
use rustix::process::{Resource, getrlimit};

/// The file that only the root of cgroups version 2 has.
const CGROUPS_2: &str = "/sys/fs/cgroup/cgroup.controllers";

/// Returns whether Podman runs as root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the user and the group that programs run as in a container.
///
/// As root it is the owner of the workspace, who has no more rights on the files than before. Any other user
/// is root in the container, which is that same user outside of it.
pub(crate) fn user_inside(root: &Path) -> (u32, u32) {
    match owner(root) {
        Some(owner) if is_root() => owner,
        _ => (0, 0),
    }
}

/// Returns the owner of a workspace, if this process can give files to another user.
pub(crate) fn owner(root: &Path) -> Option<(u32, u32)> {
    let found = rustix::fs::stat(root).ok().filter(|_| is_root())?;
    Some((found.st_uid, found.st_gid))
}

/// Returns whether the memory and the processors of a container can be limited: other users than root
/// need cgroups version 2 for that, and Podman only warns where it cannot.
pub(crate) fn can_limit() -> bool {
    is_root() || statvfs(CGROUPS_2).is_ok()
}

/// Returns the most open files, at most this many and at most what this process may have.
pub(crate) fn files(most: u64) -> u64 {
    at_most(Resource::Nofile, most)
}

/// Returns the most processes, in the same way.
pub(crate) fn processes(most: u64) -> u64 {
    at_most(Resource::Nproc, most)
}

fn at_most(resource: Resource, most: u64) -> u64 {
    getrlimit(resource).maximum.map_or(most, |own| own.min(most))
}

/// Writes a limit as Podman wants it, once as soft and once as hard limit.
pub(crate) fn both(limit: u64) -> OsString {
    format!("{limit}:{limit}").into()
}

/// Watches the space that is left on a disk.
#[derive(Debug)]
pub(crate) struct Space {
    root: PathBuf,
    bytes: u64,
    inodes: u64,
}

impl Space {
    /// Keeps a reserve, which is at most half of what is free now.
    pub(crate) fn reserve(root: &Path, bytes: u64) -> Self {
        let now = statvfs(root).ok();
        let half = |of: fn(&StatVfs) -> u64| now.as_ref().map_or(0, of) / 2;
        let inodes = half(free_inodes).min(MOST_INODES);
        Self { root: root.to_owned(), bytes: half(free_bytes).min(bytes), inodes }
    }

    /// Returns whether less than the reserve is left.
    pub(crate) fn is_used_up(&self) -> bool {
        statvfs(&self.root)
            .is_ok_and(|now| free_bytes(&now) < self.bytes || free_inodes(&now) < self.inodes)
    }
}

/// The most inodes that are reserved.
const MOST_INODES: u64 = 10_000;

fn free_bytes(of: &StatVfs) -> u64 {
    of.f_bavail.saturating_mul(of.f_frsize)
}

fn free_inodes(of: &StatVfs) -> u64 {
    of.f_favail
}
