//! Identifies a mount, so that stamps are not trusted after a power loss.

use std::fs::File;
use std::io::Read as _;

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use uuid::Uuid;

/// `STATX_MNT_ID_UNIQUE` (since Linux 6.8): a mount number that is never reused.
const UNIQUE_MOUNT: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// Identifies a mount of this boot.
///
/// While it stays the same, files are as they were last written. Otherwise power may have been lost, and files and
/// stamps may be older than the index.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct MountId(Vec<u8>);

impl MountId {
    /// Identifies the mount of an open file; unique if the kernel does not tell.
    ///
    /// Before Linux 6.8 the kernel may reuse the number of a mount, but not across boots.
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

/// Returns the boot id.
fn boot() -> std::io::Result<Vec<u8>> {
    let path = "/proc/sys/kernel/random/boot_id";
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mut bytes = Vec::new();
    File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?).read_to_end(&mut bytes)?;
    Ok(bytes)
}
