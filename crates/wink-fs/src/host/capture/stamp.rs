//! What tells one state of a file from another without reading it.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, RawMode, Statx, StatxFlags, StatxTimestamp};
use rustix::io::Result;
use rustix::time::{ClockId, clock_gettime};

use super::bytes::Reader;
use crate::host::entry;
use crate::tree::Kind;

/// A point of the clock that the kernel stamps files with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::host) struct Moment {
    seconds: i64,
    nanoseconds: u32,
}

impl Moment {
    pub(in crate::host) const EARLIEST: Self = Self { seconds: i64::MIN, nanoseconds: 0 };

    /// Returns the present moment; whatever changes from now on is stamped with it or a later one.
    pub(in crate::host) fn now() -> Self {
        // The finer clock runs ahead of the stamps by up to a tick.
        let now = clock_gettime(ClockId::RealtimeCoarse);
        Self { seconds: now.tv_sec, nanoseconds: now.tv_nsec as u32 }
    }

    /// Returns the latest moment that a stamp with this one may mean.
    ///
    /// Some file systems keep whole seconds, or every other one: their stamps lie before what happened.
    pub(super) fn latest_meant(self) -> Self {
        match self.nanoseconds {
            0 => Self { seconds: self.seconds.saturating_add(2), ..self },
            _ => self,
        }
    }

    /// Returns a moment that much earlier.
    pub(super) fn minus_seconds(self, seconds: i64) -> Self {
        Self { seconds: self.seconds.saturating_sub(seconds), ..self }
    }

    pub(in crate::host) fn of(time: StatxTimestamp) -> Self {
        Self { seconds: time.tv_sec, nanoseconds: time.tv_nsec }
    }

    pub(in crate::host) fn encode(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.seconds.to_le_bytes());
        into.extend_from_slice(&self.nanoseconds.to_le_bytes());
    }

    pub(in crate::host) fn decode(from: &mut Reader<'_>) -> Option<Self> {
        let seconds = i64::from_le_bytes(from.array()?);
        Some(Self { seconds, nanoseconds: u32::from_le_bytes(from.array()?) })
    }
}

/// The stamp of an entry: an equal one means that nothing was done to the entry meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    inode: u64,
    pub(super) size: u64,
    pub(in crate::host) mode: u16,
    modified: Moment,
    pub(super) changed: Moment,
}

const WANTED: StatxFlags = StatxFlags::BASIC_STATS.union(StatxFlags::MNT_ID);

/// Looks at an entry of an open directory.
pub(in crate::host) fn look(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Statx> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    rustix::fs::statx(directory, name, flags, WANTED)
}

/// Looks at an open file.
pub(in crate::host) fn look_at(file: impl AsFd) -> Result<Statx> {
    rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, WANTED)
}

impl Stamp {
    /// How many bytes a stamp takes.
    pub(in crate::host) const BYTES: usize = 42;

    pub(in crate::host) fn of(found: &Statx) -> Self {
        Self {
            inode: found.stx_ino,
            size: found.stx_size,
            mode: found.stx_mode,
            modified: Moment::of(found.stx_mtime),
            changed: Moment::of(found.stx_ctime),
        }
    }

    /// Returns when its content was last changed.
    pub(in crate::host) fn modified(&self) -> Moment {
        self.modified
    }

    /// Returns whether a program wrote into it after a moment; a modification time that a program set says nothing.
    pub(in crate::host) fn is_written_after(&self, moment: Moment) -> bool {
        self.modified > moment && self.changed > moment
    }

    /// Tells whether nothing was done to it since another entry was last changed, or in the same tick of the clock.
    pub(in crate::host) fn is_older_than(&self, other: &Self) -> bool {
        self.changed < other.changed
    }

    /// Tells whether nothing was done to it after it was written into.
    pub(in crate::host) fn is_written_last(&self) -> bool {
        self.modified >= self.changed
    }

    pub(in crate::host) fn kind(&self) -> Kind {
        entry::kind_of(RawMode::from(self.mode))
    }

    /// Tells whether it is the stamp of the same entry, to which nothing was done but a rename.
    pub(in crate::host) fn is_same_but_renamed(&self, other: &Self) -> bool {
        // OverlayFS makes a directory of its own of one that is renamed, of another size; its times tell
        // whether something was done in it.
        let size = if self.kind() == Kind::Directory { other.size } else { self.size };
        Self { changed: other.changed, size, ..*self } == *other
    }

    /// Leaves out what changes when it is moved by itself: OverlayFS may make another file of it.
    pub(in crate::host) fn moved(self) -> Self {
        Self { inode: 0, changed: Moment::EARLIEST, ..self }
    }

    pub(in crate::host) fn encode(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.inode.to_le_bytes());
        into.extend_from_slice(&self.size.to_le_bytes());
        into.extend_from_slice(&self.mode.to_le_bytes());
        [self.modified, self.changed].iter().for_each(|moment| moment.encode(into));
    }

    pub(in crate::host) fn decode(from: &mut Reader<'_>) -> Option<Self> {
        let inode = u64::from_le_bytes(from.array()?);
        let size = u64::from_le_bytes(from.array()?);
        let mode = u16::from_le_bytes(from.array()?);
        let (modified, changed) = (Moment::decode(from)?, Moment::decode(from)?);
        Some(Self { inode, size, mode, modified, changed })
    }
}

#[cfg(test)]
pub(in crate::host) mod tests {
    use super::*;

    /// Makes a stamp whose every field says which one it is.
    pub(in crate::host) fn stamp(number: u64) -> Stamp {
        let moment = |seconds: i64| Moment { seconds, nanoseconds: number as u32 };
        let (modified, changed) = (moment(-5), moment(1_800_000_000));
        Stamp { inode: number << 40, size: number, mode: 0o100_644, modified, changed }
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        let mut bytes = Vec::new();
        stamp(7).encode(&mut bytes);
        assert_eq!(bytes.len(), Stamp::BYTES);
        assert_eq!(Stamp::decode(&mut Reader(&bytes)), Some(stamp(7)));
        assert_eq!(Stamp::decode(&mut Reader(&bytes[1..])), None);
    }

    #[test]
    fn a_rename_changes_only_one_time() {
        let renamed = Stamp { changed: Moment::EARLIEST, ..stamp(1) };
        assert!(stamp(1).is_same_but_renamed(&renamed));
        assert!(!stamp(1).is_same_but_renamed(&Stamp { size: 2, ..renamed }));
        let directory = Stamp { mode: 0o040_755, ..renamed };
        assert!(directory.is_same_but_renamed(&Stamp { size: 2, ..directory }));
        assert!(!directory.is_same_but_renamed(&Stamp { inode: 2, ..directory }));
    }
}
