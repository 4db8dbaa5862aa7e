//! Which mount of a file system it is, so that a loss of power in between is noticed.

use std::fs::File;
use std::io::Read as _;

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use uuid::Uuid;

/// `STATX_MNT_ID_UNIQUE` (since Linux 6.8): the number of a mount, never given again.
const UNIQUE_MOUNT: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// Tells one mount from every other, also from those before the machine was started.
///
/// As long as it stays the same, files are what was last done to them. Otherwise power may have been lost,
/// and files, with their stamps, may be what they were at some moment before.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct MountId(Vec<u8>);

impl MountId {
    /// Looks at the mount of an open file; where the system does not tell, it is like no other.
    ///
    /// Before Linux 6.8 the number of a mount may be given again, but not to one of another start.
    pub(super) fn of(file: impl AsFd) -> Self {
        let mut bytes = boot().unwrap_or_else(|_| Uuid::new_v4().as_bytes().to_vec());
        let wanted = StatxFlags::MNT_ID | UNIQUE_MOUNT;
        if let Ok(found) = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, wanted) {
            bytes.extend_from_slice(&found.stx_mnt_id.to_le_bytes());
        }
        Self(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Returns what the kernel made up when the machine was started.
fn boot() -> std::io::Result<Vec<u8>> {
    let (path, flags) = ("/proc/sys/kernel/random/boot_id", OFlags::RDONLY | OFlags::CLOEXEC);
    let mut bytes = Vec::new();
    File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?).read_to_end(&mut bytes)?;
    Ok(bytes)
}
