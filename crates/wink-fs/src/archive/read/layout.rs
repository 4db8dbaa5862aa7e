//! Checks where entries are, and that each one's own header agrees with the directory.
//!
//! Entries must be adjacent, from the first byte to the directory. So no byte belongs to two entries, and a program
//! that reads the archive from its start sees the same ones.

use std::sync::Arc;

use super::central::Listed;
use super::section::Section;
use super::unpack::Stored;
use crate::archive::record::{
    self, DEFLATED, DESCRIPTOR, EXTRA_UNICODE_NAME, EXTRA_ZIP64, FLAG_DESCRIPTOR, Fields, LOCAL,
    LOCAL_BYTES, Sizes,
};
use crate::archive::refuse;
use crate::error::{Error, Result};
use crate::tree::content::ReadAt;
use crate::util::parallel;

/// Returns where the content of each entry is, in the order of the directory.
pub(super) fn check(
    source: &Arc<dyn ReadAt>,
    entries: &[Listed],
    directory: u64,
) -> Result<Vec<Stored>> {
    let ends = ends(entries, directory)?;
    let placed = entries.iter().zip(ends).map(|(entry, end)| Placed { source, entry, end });
    let found = parallel::map(&placed.collect::<Vec<_>>(), Placed::check);
    found.into_iter().collect()
}

/// Returns where each entry must end: where the next one or the directory starts.
fn ends(entries: &[Listed], directory: u64) -> Result<Vec<u64>> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_unstable_by_key(|at| entries[*at].start);
    // Programs that read from the start would see what is there as an entry.
    if order.first().is_some_and(|first| entries[*first].start != 0) {
        return Err(refuse::damaged("something lies before its first entry"));
    }
    let mut ends = vec![directory; entries.len()];
    for pair in order.windows(2) {
        ends[pair[0]] = entries[pair[1]].start;
    }
    Ok(ends)
}

struct Placed<'a> {
    source: &'a Arc<dyn ReadAt>,
    entry: &'a Listed,
    end: u64,
}

impl Placed<'_> {
    fn check(&self) -> Result<Stored> {
        let header = self.read(self.entry.start, LOCAL_BYTES as u64)?;
        let raw = Raw::parse(&header).ok_or_else(|| self.wrong("its own header is not there"))?;
        let rest_at = self.entry.start + LOCAL_BYTES as u64;
        let rest_len = u64::from(raw.name_len) + u64::from(raw.extra_len);
        let rest = self.read(rest_at, rest_len)?;
        self.check_header(&raw, &rest)?;
        let start = rest_at + rest_len;
        self.check_end(start)?;
        let Sizes { crc, packed, size } = self.entry.sizes;
        Ok(Stored { start, packed, size, crc, deflated: self.entry.method == DEFLATED })
    }

    fn check_header(&self, raw: &Raw, rest: &[u8]) -> Result<()> {
        let (name, extra) = rest.split_at(raw.name_len.into());
        let disagrees = || self.wrong("its own header and the archive's directory disagree");
        let fields = record::extra_fields(extra).ok_or_else(disagrees)?;
        let zip64 = record::single(&fields, EXTRA_ZIP64).ok_or_else(disagrees)?;
        let sizes = raw.sizes(zip64).ok_or_else(disagrees)?;
        let unicode = record::single(&fields, EXTRA_UNICODE_NAME).ok_or_else(disagrees)?;
        // Streaming readers use these headers and never see the directory, so both must describe the same file.
        let same = name == self.entry.name.as_bytes()
            && unicode.is_none_or(|field| field.get(5..) == Some(name))
            && (raw.flags, raw.method) == (self.entry.flags, self.entry.method)
            && self.sizes_agree(sizes);
        if same { Ok(()) } else { Err(disagrees()) }
    }

    /// If the sizes follow the content, the header may omit them.
    fn sizes_agree(&self, own: Sizes) -> bool {
        let listed = self.entry.sizes;
        if !self.has_descriptor() {
            return own == listed;
        }
        let agrees = |own: u64, listed: u64| own == 0 || own == listed;
        agrees(own.crc.into(), listed.crc.into())
            && agrees(own.packed, listed.packed)
            && agrees(own.size, listed.size)
    }

    fn has_descriptor(&self) -> bool {
        self.entry.flags & FLAG_DESCRIPTOR != 0
    }

    /// Checks that the entry ends where the next one starts.
    fn check_end(&self, start: u64) -> Result<()> {
        let content_end = start.checked_add(self.entry.sizes.packed);
        let left = content_end.and_then(|content_end| self.end.checked_sub(content_end));
        match left {
            None => Err(self.wrong("it overlaps another entry, or it was cut off")),
            Some(left) if self.has_descriptor() => self.check_descriptor(self.end - left, left),
            Some(0) => Ok(()),
            Some(_) => Err(self.wrong("something that belongs to no entry follows it")),
        }
    }

    /// Checks the sizes after the content: with or without a signature, with 32 or 64 bits.
    fn check_descriptor(&self, at: u64, len: u64) -> Result<()> {
        let damaged = || self.wrong("the sizes that follow it are damaged");
        if !matches!(len, 12 | 16 | 20 | 24) {
            return Err(damaged());
        }
        let bytes = self.read(at, len)?;
        let mut fields = match len {
            16 | 24 => Fields::after(DESCRIPTOR, &bytes).ok_or_else(damaged)?,
            _ => Fields(&bytes),
        };
        let crc = fields.u32();
        let mut next = || if len < 20 { fields.u32().map(u64::from) } else { fields.u64() };
        let packed = next();
        let size = next();
        let listed = self.entry.sizes;
        if (crc, packed, size) == (Some(listed.crc), Some(listed.packed), Some(listed.size)) {
            Ok(())
        } else {
            Err(damaged())
        }
    }

    fn read(&self, start: u64, len: u64) -> Result<Vec<u8>> {
        // Nothing outside of the entry is read, so no larger buffer is allocated.
        if start.checked_add(len).is_none_or(|end| end > self.end) {
            return Err(self.wrong("it overlaps another entry, or it was cut off"));
        }
        let name = self.entry.name.as_bytes();
        Section::new(self.source, start, len)
            .read_all()
            .map_err(|error| refuse::reading_entry(name, error))
    }

    fn wrong(&self, why: &str) -> Error {
        refuse::entry(self.entry.name.as_bytes(), why)
    }
}

/// The fixed part of an entry's own header.
struct Raw {
    flags: u16,
    method: u16,
    crc: u32,
    packed: u32,
    size: u32,
    name_len: u16,
    extra_len: u16,
}

impl Raw {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields::after(LOCAL, bytes)?;
        let _needed = fields.u16()?;
        let flags = fields.u16()?;
        let method = fields.u16()?;
        let _time = fields.u32()?;
        let crc = fields.u32()?;
        let packed = fields.u32()?;
        let size = fields.u32()?;
        let name_len = fields.u16()?;
        let extra_len = fields.u16()?;
        Some(Self { flags, method, crc, packed, size, name_len, extra_len })
    }

    fn sizes(&self, zip64: Option<&[u8]>) -> Option<Sizes> {
        let mut wide = zip64.map(Fields);
        let size = record::widen(self.size, &mut wide)?;
        let packed = record::widen(self.packed, &mut wide)?;
        Some(Sizes { crc: self.crc, packed, size })
    }
}
