//! Checks of the kernel and its file systems.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags, openat2, statx};
use rustix::io::Errno;

use super::check;
use super::{Check, Health};
use crate::sys::disk;

pub(super) fn checks() -> Vec<Check> {
    vec![kernel(), beneath(), mounts(), file_systems()]
}

/// Two strategies for snapshots need a file system of their own.
fn file_systems() -> Check {
    let known = disk::read("/proc/filesystems".as_ref()).ok().flatten().unwrap_or_default();
    let known = String::from_utf8_lossy(&known).into_owned();
    let is_known = |name: &&str| known.lines().any(|line| line.trim_end().ends_with(*name));
    let found: Vec<_> = ["overlay", "btrfs"].into_iter().filter(is_known).collect();
    match found.as_slice() {
        [] => check("file systems", Health::Note, "neither overlay nor btrfs; not needed"),
        found => check("file systems", Health::Ok, found.join(", ")),
    }
}

fn kernel() -> Check {
    let release = disk::read("/proc/sys/kernel/osrelease".as_ref()).ok().flatten();
    let release = String::from_utf8_lossy(&release.unwrap_or_default()).trim().to_owned();
    match release.as_str() {
        "" => check("kernel", Health::Note, "its version cannot be read"),
        release => check("kernel", Health::Ok, format!("Linux {release}")),
    }
}

/// Files are only reached beneath the root of a workspace: the system sees to it, or each directory on the way is
/// looked at.
fn beneath() -> Check {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, "/", flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(_) => check("openat2", Health::Ok, "paths cannot lead out of a workspace"),
        Err(error @ (Errno::NOSYS | Errno::PERM)) => {
            let said = format!(
                "the system refuses it ({error}): paths are walked one directory at a time, which is slower; \
                 Linux 5.6 or later has it"
            );
            check("openat2", Health::Warning, said)
        }
        Err(error) => check("openat2", Health::Failed, format!("the system refuses it ({error})")),
    }
}

/// A workspace whose disk was exchanged is known by its mount.
fn mounts() -> Check {
    let looked = statx(CWD, "/", AtFlags::empty(), StatxFlags::MNT_ID);
    let wanted = StatxFlags::MNT_ID.bits();
    match looked {
        Ok(stat) if stat.stx_mask & wanted == wanted => {
            check("mount ids", Health::Ok, "a missing disk is detected")
        }
        _ => check("mount ids", Health::Warning, "a missing disk may not be detected"),
    }
}
