//! Reads the end of an archive, which locates its directory.

use std::sync::Arc;

use super::section::Section;
use crate::archive::options::ArchiveLimits;
use crate::archive::record::{
    CENTRAL_BYTES, END, END_BYTES, END64, END64_BYTES, Fields, LOCATOR64, LOCATOR64_BYTES,
};
use crate::archive::refuse;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::tree::content::ReadAt;

/// The longest comment, with the end record and the 64-bit locator before it.
const TAIL_BYTES: u64 = (u16::MAX as u64) + (END_BYTES + LOCATOR64_BYTES + END64_BYTES) as u64;

/// Where the directory is, and how many entries it has.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Directory {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) entries: u64,
}

/// Finds the directory of an archive.
pub(super) fn find(
    source: &Arc<dyn ReadAt>,
    len: u64,
    limits: &ArchiveLimits,
) -> Result<Directory> {
    let start = len.saturating_sub(TAIL_BYTES);
    let tail = Section::new(source, start, len - start).read_all().map_err(refuse::reading)?;
    let at = find_record(&tail)?;
    let (directory, end) = match tail[..at].len().checked_sub(LOCATOR64_BYTES) {
        Some(locator) if tail[locator..].starts_with(&LOCATOR64) => {
            // Readers disagree on whether the 64-bit record is found by the locator or right before it. Both must lead
            // to the same one, or two programs would see different archives.
            let place = locator.checked_sub(END64_BYTES).ok_or_else(cut_off)?;
            check_locator(&tail[locator..], start + place as u64)?;
            (read_large(&tail[place..], &tail[at..])?, place)
        }
        _ => (read_small(&tail[at..])?, at),
    };
    check(&directory, start + end as u64, limits)?;
    check_single(&tail, at, directory.offset.saturating_sub(start) as usize)?;
    Ok(directory)
}

/// Finds the end record, whose comment must end with the archive.
fn find_record(tail: &[u8]) -> Result<usize> {
    let last = memchr::memmem::rfind(tail, &END)
        .ok_or_else(|| refuse::damaged("it is not a ZIP archive, or it was cut off"))?;
    if ends_at(tail, last) {
        Ok(last)
    } else {
        Err(refuse::damaged("something lies after its end, or it was cut off"))
    }
}

/// Refuses a second end record after the start of the directory, with which another program could see other entries.
///
/// Before the directory there is content, in which anything may look like a record.
fn check_single(tail: &[u8], end: usize, directory: usize) -> Result<()> {
    let mut found = memchr::memmem::find_iter(&tail[directory..end], &END);
    if found.any(|earlier| ends_at(tail, directory + earlier)) {
        Err(refuse::damaged("it has more than one end"))
    } else {
        Ok(())
    }
}

fn ends_at(tail: &[u8], at: usize) -> bool {
    let comment = tail[at..].get(END_BYTES - 2..END_BYTES);
    comment.is_some_and(|len| {
        at + END_BYTES + usize::from(u16::from_le_bytes([len[0], len[1]])) == tail.len()
    })
}

/// The fields of the record: disks, entries, size and offset.
struct Raw {
    disks: [u16; 2],
    entries: [u16; 2],
    size: u32,
    offset: u32,
}

fn read_raw(record: &[u8]) -> Option<Raw> {
    let mut fields = Fields::after(END, record)?;
    Some(Raw {
        disks: [fields.u16()?, fields.u16()?],
        entries: [fields.u16()?, fields.u16()?],
        size: fields.u32()?,
        offset: fields.u32()?,
    })
}

fn read_small(record: &[u8]) -> Result<Directory> {
    let raw = read_raw(record).ok_or_else(cut_off)?;
    if raw.disks != [0, 0] || raw.entries[0] != raw.entries[1] {
        return Err(several_disks());
    }
    let offset = raw.offset.into();
    let size = raw.size.into();
    Ok(Directory { offset, size, entries: raw.entries[0].into() })
}

/// Reads the 64-bit record; the 32-bit one must agree or defer to it.
fn read_large(large: &[u8], small: &[u8]) -> Result<Directory> {
    let directory = read_large_record(large)?;
    let raw = read_raw(small).ok_or_else(cut_off)?;
    let agrees = |short: u64, unset: u64, wide: u64| short == unset || short == wide;
    let few = u16::MAX.into();
    let short = u32::MAX.into();
    let same = raw.disks.iter().all(|disk| agrees((*disk).into(), few, 0))
        && raw.entries.iter().all(|count| agrees((*count).into(), few, directory.entries))
        && agrees(raw.size.into(), short, directory.size)
        && agrees(raw.offset.into(), short, directory.offset);
    same.then_some(directory).ok_or_else(|| refuse::damaged("its two ends disagree"))
}

fn check_locator(locator: &[u8], place: u64) -> Result<()> {
    let mut fields = Fields::after(LOCATOR64, locator).ok_or_else(cut_off)?;
    let disk = fields.u32();
    let offset = fields.u64();
    let disks = fields.u32();
    if disk != Some(0) || disks > Some(1) {
        return Err(several_disks());
    }
    if offset == Some(place) {
        Ok(())
    } else {
        Err(refuse::damaged("its ZIP64 end is not where it says"))
    }
}

fn read_large_record(record: &[u8]) -> Result<Directory> {
    let wrong = || refuse::damaged("its ZIP64 end is damaged");
    let mut fields = Fields::after(END64, record).ok_or_else(wrong)?;
    let len = fields.u64();
    fields.bytes(4).ok_or_else(wrong)?;
    let disks = (fields.u32(), fields.u32());
    let mut next = || fields.u64().ok_or_else(wrong);
    let here = next()?;
    let entries = next()?;
    let size = next()?;
    let offset = next()?;
    match (len, disks) {
        (Some(44), (Some(0), Some(0))) if here == entries => {
            Ok(Directory { offset, size, entries })
        }
        (Some(44), _) => Err(several_disks()),
        _ => Err(wrong()),
    }
}

/// Checks the numbers before memory of that size is allocated.
fn check(directory: &Directory, end: u64, limits: &ArchiveLimits) -> Result<()> {
    let Directory { offset, size, entries } = *directory;
    if entries > limits.max_entries {
        let what = "its entries are";
        return Err(refuse::too_large(what, entries, limits.max_entries, "max_entries"));
    }
    if size > limits.max_directory_bytes {
        let what = "the bytes of its directory are";
        let setting = "max_directory_bytes";
        return Err(refuse::too_large(what, size, limits.max_directory_bytes, setting));
    }
    // An entry takes at least its fixed part, so a claim of more entries is refused before a vector for them is
    // allocated.
    if offset.checked_add(size) != Some(end) || entries > size / CENTRAL_BYTES as u64 {
        return Err(refuse::damaged("its directory is not where its end says"));
    }
    Ok(())
}

fn cut_off() -> Error {
    refuse::damaged("the archive was cut off")
}

fn several_disks() -> Error {
    Error::new(Operation::OpenArchive, ErrorKind::Unsupported)
        .with_detail("archives in several parts are not read; make one of a single part")
}
