//! Stamps: what tells two states of a file apart without reading it.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, RawMode, Statx, StatxFlags, StatxTimestamp};
use rustix::io::Result;
use rustix::time::{ClockId, clock_gettime};

use crate::host::entry;
use crate::tree::Kind;

/// A time of the clock that stamps files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::host) struct Moment {
    seconds: i64,
    nanoseconds: u32,
}

impl Moment {
    pub(in crate::host) const EARLIEST: Self = Self { seconds: i64::MIN, nanoseconds: 0 };

    /// Returns the current time; every later change is stamped with this time or a later one.
    pub(in crate::host) fn now() -> Self {
        // The precise clock runs up to a tick ahead of the stamps: a file written after `now` could have an older
        // stamp.
        let now = clock_gettime(ClockId::RealtimeCoarse);
        Self { seconds: now.tv_sec, nanoseconds: now.tv_nsec as u32 }
    }

    /// Returns the latest time that this stamp may stand for.
    ///
    /// Some file systems store whole or even seconds only, rounded down.
    pub(super) fn latest_meant(self) -> Self {
        match self.nanoseconds {
            0 => Self { seconds: self.seconds.saturating_add(2), ..self },
            _ => self,
        }
    }

    /// Returns the time some seconds earlier.
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

/// The stamp of an entry: if it is equal, the entry is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    inode: u64,
    pub(super) size: u64,
    pub(in crate::host) mode: u16,
    modified: Moment,
    pub(super) changed: Moment,
}

const WANTED: StatxFlags = StatxFlags::BASIC_STATS.union(StatxFlags::MNT_ID);

/// Stats an entry of an open directory.
pub(in crate::host) fn look(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Statx> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    rustix::fs::statx(directory, name, flags, WANTED)
}

/// Stats an open file.
pub(in crate::host) fn look_at(file: impl AsFd) -> Result<Statx> {
    rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, WANTED)
}

impl Stamp {
    /// The encoded length.
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

    /// Returns the stamp with other permission bits.
    pub(in crate::host) fn with_bits(self, bits: RawMode) -> Self {
        // A mode has 16 bits.
        let mode = self.mode & !0o7777 | (bits & 0o7777) as u16;
        Self { mode, ..self }
    }

    /// Tells whether this is the same entry with the same permission bits, whatever its times.
    pub(in crate::host) fn is_same_with_mode(&self, other: &Self) -> bool {
        self.inode == other.inode && self.mode == other.mode
    }

    /// Returns the time of the last write.
    pub(in crate::host) fn modified(&self) -> Moment {
        self.modified
    }

    /// Returns the time of the last change, of the entry or of its status.
    pub(in crate::host) fn changed(&self) -> Moment {
        self.changed
    }

    /// Returns whether a program wrote into the file after a moment.
    ///
    /// Both times must be later: a program can set the modification time to anything, but not the status change time.
    pub(in crate::host) fn is_written_after(&self, moment: Moment) -> bool {
        self.modified > moment && self.changed > moment
    }

    /// Returns whether the entry last changed before another one did, at least a clock tick earlier.
    pub(in crate::host) fn is_older_than(&self, other: &Self) -> bool {
        self.changed < other.changed
    }

    /// Returns whether a write was the last change; a rename after it sets only the status change time.
    pub(in crate::host) fn is_written_last(&self) -> bool {
        self.modified >= self.changed
    }

    pub(in crate::host) fn kind(&self) -> Kind {
        entry::kind_of(RawMode::from(self.mode))
    }

    /// Returns whether this is the same entry, and at most renamed since.
    pub(in crate::host) fn is_same_but_renamed(&self, other: &Self) -> bool {
        // OverlayFS copies a directory up when it is renamed, and the copy has another size. The times still show every
        // change in it.
        let size = if self.kind() == Kind::Directory { other.size } else { self.size };
        Self { changed: other.changed, size, ..*self } == *other
    }

    /// Returns the parts of the stamp that survive a move entry by entry, in which OverlayFS may give a file another
    /// inode.
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
        let modified = Moment::decode(from)?;
        let changed = Moment::decode(from)?;
        Some(Self { inode, size, mode, modified, changed })
    }
}

/// Takes bytes from the front; `None` if too few are left.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(pub(in crate::host) &'a [u8]);

impl<'a> Reader<'a> {
    pub(in crate::host) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(in crate::host) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(in crate::host) fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(in crate::host) fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Decodes a value after a byte that says whether there is one.
    pub(in crate::host) fn optional<T>(
        &mut self,
        decode: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            1 => decode(self).map(Some),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(in crate::host) mod tests {
    use super::*;

    /// Makes a stamp whose every field says which one it is.
    pub(in crate::host) fn stamp(number: u64) -> Stamp {
        let moment = |seconds: i64| Moment { seconds, nanoseconds: number as u32 };
        let modified = moment(-5);
        let changed = moment(1_800_000_000);
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
