//! Identifies a directory, even if another one got its inode after it was deleted.

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, FsWord, StatxFlags};
use rustix::io::Result;

use super::capture::stamp::{Moment, Reader};

/// File systems whose creation times never change: ext4, XFS and Btrfs.
///
/// OverlayFS reports another creation time once a directory was copied up.
const WITH_BIRTHS: [FsWord; 3] = [0xef53, 0x5846_5342, 0x9123_683e];

/// Identifies a directory of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Identity {
    pub(super) device: u64,
    pub(super) inode: u64,
    /// The creation time, on file systems where it never changes.
    pub(super) birth: Option<Moment>,
}

impl Identity {
    pub(super) fn of(directory: impl AsFd) -> Result<Self> {
        let stat = rustix::fs::fstat(&directory)?;
        let birth = birth(directory.as_fd()).ok().flatten();
        Ok(Self { device: stat.st_dev, inode: stat.st_ino, birth })
    }

    /// Compares two identities. The device is ignored, because its number may change at a restart.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        // A file system reuses the inode of a deleted directory; the creation time tells the two apart.
        let births = self.birth.zip(other.birth);
        self.inode == other.inode && births.is_none_or(|(one, other)| one == other)
    }

    pub(super) fn encode(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.device.to_le_bytes());
        into.extend_from_slice(&self.inode.to_le_bytes());
        into.push(u8::from(self.birth.is_some()));
        self.birth.iter().for_each(|birth| birth.encode(into));
    }

    pub(super) fn decode(from: &mut Reader<'_>) -> Option<Self> {
        let without = Self::decode_without_birth(from)?;
        Some(Self { birth: from.optional(Moment::decode)?, ..without })
    }

    /// Decodes the form of version 1 of the journal.
    pub(super) fn decode_without_birth(from: &mut Reader<'_>) -> Option<Self> {
        let device = u64::from_le_bytes(from.array()?);
        Some(Self { device, inode: u64::from_le_bytes(from.array()?), birth: None })
    }
}

fn birth(directory: impl AsFd) -> Result<Option<Moment>> {
    if !WITH_BIRTHS.contains(&rustix::fs::fstatfs(&directory)?.f_type) {
        return Ok(None);
    }
    let found = rustix::fs::statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME)?;
    let is_known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
    Ok(is_known.then(|| Moment::of(found.stx_btime)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once, the inode alone was compared, and a file system gives the number of one that is gone to the next.
    #[test]
    fn a_directory_with_the_inode_of_another_that_is_gone_is_not_the_same() {
        let one = Moment::EARLIEST;
        let other = Moment::now();
        let identity = |device, birth| Identity { device, inode: 12, birth };
        assert!(identity(1, Some(one)).is_same(&identity(2, Some(one))));
        assert!(!identity(1, Some(one)).is_same(&identity(1, Some(other))));
        assert!(identity(1, None).is_same(&identity(1, Some(other))), "as far as that is known");
        assert!(!identity(1, None).is_same(&Identity { inode: 13, ..identity(1, None) }));
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        for birth in [None, Some(Moment::now())] {
            let mut bytes = Vec::new();
            let identity = Identity { device: 1, inode: 2, birth };
            identity.encode(&mut bytes);
            assert_eq!(Identity::decode(&mut Reader(&bytes)), Some(identity));
            assert_eq!(Identity::decode(&mut Reader(&bytes[1..])), None);
        }
    }
}
