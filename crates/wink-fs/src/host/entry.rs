//! Translates what the kernel says about entries into `Stat`, `Entry` and `FileMode`.

use std::mem::MaybeUninit;
use std::time::{Duration, SystemTime};

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{Access, AtFlags, FileType, RawDir, RawMode, StatxFlags, StatxTimestamp};
use rustix::io::{Errno, Result};

use crate::path::Name;
use crate::tree::{Entry, FileMode, Kind, Stat};

/// Permission bits that survive a replacement; set-user-id and the like do not.
pub(super) const KEPT_BITS: RawMode = 0o777;

pub(super) fn kind_of(mode: RawMode) -> Kind {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        _ => Kind::Other,
    }
}

/// Returns the mode of permission bits; a file is private if others have no access, no matter what its group may do.
pub(super) fn mode_of(bits: RawMode) -> FileMode {
    FileMode::default().executable(bits & 0o100 != 0).private(bits & 0o007 == 0)
}

/// Returns the mode of a directory: every directory is searched, so only whether it is private is kept.
pub(super) fn directory_mode(bits: RawMode) -> FileMode {
    mode_of(bits).executable(false)
}

/// Changes a directory's permission bits as little as possible to express a mode.
pub(super) fn directory_bits(bits: RawMode, mode: FileMode) -> RawMode {
    let executable = mode_of(bits).executable;
    bits & 0o7000 | bits_with(bits, mode.executable(executable))
}

/// Changes permission bits as little as possible to express a mode.
pub(super) fn bits_with(bits: RawMode, mode: FileMode) -> RawMode {
    let mut bits = bits & KEPT_BITS;
    if mode.executable != mode_of(bits).executable {
        bits = if mode.executable { bits | 0o100 | (bits & 0o044) >> 2 } else { bits & !0o111 };
    }
    if mode.private != mode_of(bits).private {
        let shared = bits & 0o500;
        bits = if mode.private { bits & 0o700 } else { bits | shared >> 3 | shared >> 6 };
    }
    bits
}

/// Returns whether this process may read a file.
pub(super) fn may_be_read(directory: BorrowedFd<'_>, name: &[u8]) -> bool {
    rustix::fs::accessat(directory, name, Access::READ_OK, AtFlags::EACCESS) != Err(Errno::ACCESS)
}

/// Describes an open entry.
pub(crate) fn describe(fd: impl AsFd) -> Result<Stat> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let found = rustix::fs::statx(fd, "", AtFlags::EMPTY_PATH, wanted)?;
    let mode = RawMode::from(found.stx_mode);
    let kind = kind_of(mode);
    let size = if matches!(kind, Kind::File | Kind::Symlink) { found.stx_size } else { 0 };
    let mut stat = Stat::new(kind, size);
    match kind {
        Kind::File => stat.mode = mode_of(mode),
        Kind::Directory => stat.mode = directory_mode(mode),
        Kind::Symlink | Kind::Other => {}
    }
    stat.modified_at = time_of(found.stx_mtime);
    if StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME) {
        stat.created_at = time_of(found.stx_btime);
    }
    Ok(stat)
}

fn time_of(time: StatxTimestamp) -> Option<SystemTime> {
    let nanoseconds = Duration::from_nanos(time.tv_nsec.into());
    let seconds = Duration::from_secs(time.tv_sec.unsigned_abs());
    let whole = match time.tv_sec {
        0.. => SystemTime::UNIX_EPOCH.checked_add(seconds),
        _ => SystemTime::UNIX_EPOCH.checked_sub(seconds),
    };
    whole?.checked_add(nanoseconds)
}

/// Returns the entries of an open directory, sorted by name.
pub(super) fn entries(directory: BorrowedFd<'_>) -> Result<Vec<Entry>> {
    let mut buffer = [MaybeUninit::uninit(); 32 * 1024];
    let mut reader = RawDir::new(directory, &mut buffer);
    let mut found = Vec::new();
    while let Some(entry) = reader.next() {
        let entry = entry?;
        // Every name from the kernel is valid, except `.` and `..`.
        if let Ok(name) = Name::from_disk(entry.file_name().to_bytes()) {
            let kind = match entry.file_type() {
                // Some file systems do not report kinds with names.
                FileType::Unknown => {
                    let flags = AtFlags::SYMLINK_NOFOLLOW;
                    kind_of(rustix::fs::statat(directory, name.as_bytes(), flags)?.st_mode)
                }
                known => kind_of(known.as_raw_mode()),
            };
            found.push(Entry::new(name, kind));
        }
    }
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(executable: bool, private: bool) -> FileMode {
        FileMode::default().executable(executable).private(private)
    }

    #[test]
    fn bits_change_only_where_the_mode_asks_for_it() {
        assert_eq!(bits_with(0o640, with(false, true)), 0o640);
        assert_eq!(bits_with(0o640, with(true, true)), 0o750);
        assert_eq!(bits_with(0o664, with(true, false)), 0o775);
        assert_eq!(bits_with(0o640, with(false, false)), 0o644);
        assert_eq!(bits_with(0o660, with(false, false)), 0o664);
        assert_eq!(bits_with(0o755, with(false, false)), 0o644);
        assert_eq!(bits_with(0o644, with(false, true)), 0o600);
        assert_eq!(bits_with(0o600, with(false, false)), 0o644);
        assert_eq!(bits_with(0o644, with(true, true)), 0o700);
        assert_eq!(bits_with(0o4755, with(true, false)), 0o755);
    }

    #[test]
    fn every_mode_is_what_it_was_set_to() {
        for bits in 0..=0o777 {
            for mode in [with(false, false), with(true, false), with(false, true), with(true, true)]
            {
                let set = bits_with(bits, mode);
                // A file its owner cannot read stays private, since there is nothing to share.
                if bits & 0o400 != 0 {
                    assert_eq!(mode_of(set), mode, "{bits:o} became {set:o}");
                }
            }
        }
    }
}
