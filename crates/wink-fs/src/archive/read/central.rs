//! Reads the archive's directory.

use std::io::{BufReader, Read};
use std::sync::Arc;

use super::end::Directory;
use super::section::Section;
use crate::archive::record::{
    self, CENTRAL, CENTRAL_BYTES, DEFLATED, EXTRA_UNICODE_NAME, EXTRA_ZIP64, FLAG_DESCRIPTOR,
    FLAG_UTF8, Fields, STORED, Sizes,
};
use crate::archive::refuse;
use crate::error::Result;
use crate::tree::content::ReadAt;

const BUFFER: usize = 64 * 1024;

/// The newest supported part of the format: 64-bit sizes.
const MAX_VERSION: u8 = 45;

/// Compression hints, sizes after the content, UTF-8 names; any other flag changes the meaning.
const KNOWN_FLAGS: u16 = 0b110 | FLAG_DESCRIPTOR | FLAG_UTF8;

/// Encryption, strong encryption, or a masked header.
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;

/// An entry of the directory.
pub(super) struct Listed {
    pub(super) name: Box<str>,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) sizes: Sizes,
    /// The type and permission bits, if a Unix system wrote them.
    pub(super) unix_mode: Option<u16>,
    /// The offset of the entry's own header.
    pub(super) start: u64,
}

/// Reads all entries, in the order of the directory.
pub(super) fn read(source: &Arc<dyn ReadAt>, directory: &Directory) -> Result<Vec<Listed>> {
    let section = Section::new(source, directory.offset, directory.size);
    let mut reader = BufReader::with_capacity(BUFFER, section);
    let mut entries = Vec::with_capacity(directory.entries as usize);
    let mut rest = Vec::new();
    for _ in 0..directory.entries {
        let mut fixed = [0; CENTRAL_BYTES];
        reader.read_exact(&mut fixed).map_err(refuse::reading)?;
        let raw = Raw::parse(&fixed).ok_or_else(wrong)?;
        rest.resize(raw.lengths.iter().map(|len| usize::from(*len)).sum(), 0);
        reader.read_exact(&mut rest).map_err(refuse::reading)?;
        entries.push(raw.complete(&rest)?);
    }
    // Bytes after the last entry could be entries that another program reads.
    match reader.read(&mut [0]).map_err(refuse::reading)? {
        0 => Ok(entries),
        _ => Err(wrong()),
    }
}

fn wrong() -> crate::error::Error {
    refuse::damaged("its directory is damaged, or has another number of entries than its end says")
}

/// The fixed part of an entry.
struct Raw {
    made_by: u16,
    needed: u16,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u32,
    size: u32,
    /// Lengths of the name, the extra fields and the comment.
    lengths: [u16; 3],
    disk: u16,
    attributes: u32,
    start: u32,
}

impl Raw {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields::after(CENTRAL, bytes)?;
        let made_by = fields.u16()?;
        let needed = fields.u16()?;
        let flags = fields.u16()?;
        let method = fields.u16()?;
        let _time = fields.u32()?;
        let crc = fields.u32()?;
        let packed = fields.u32()?;
        let size = fields.u32()?;
        let lengths = [fields.u16()?, fields.u16()?, fields.u16()?];
        let disk = fields.u16()?;
        let _internal = fields.u16()?;
        let attributes = fields.u32()?;
        let start = fields.u32()?;
        Some(Self {
            made_by,
            needed,
            flags,
            method,
            crc,
            packed,
            size,
            lengths,
            disk,
            attributes,
            start,
        })
    }

    fn complete(&self, rest: &[u8]) -> Result<Listed> {
        let (name, rest) = rest.split_at(self.lengths[0].into());
        let extra = record::extra_fields(&rest[..self.lengths[1].into()])
            .ok_or_else(|| refuse::entry(name, "its extra fields are damaged"))?;
        self.check_features(name)?;
        let twice = || refuse::entry(name, "it has an extra field twice");
        let unicode = record::single(&extra, EXTRA_UNICODE_NAME).ok_or_else(twice)?;
        let zip64 = record::single(&extra, EXTRA_ZIP64).ok_or_else(twice)?;
        let (sizes, start) = self
            .widen(zip64)
            .ok_or_else(|| refuse::entry(name, "its ZIP64 sizes are not there"))?;
        let text = check_name(name, self.flags, unicode, self.unix_mode().is_some())?;
        let flags = self.flags;
        let method = self.method;
        Ok(Listed { name: text.into(), flags, method, sizes, unix_mode: self.unix_mode(), start })
    }

    fn check_features(&self, name: &[u8]) -> Result<()> {
        match self.unread_feature() {
            Some(why) => Err(refuse::unsupported(name, why)),
            None => Ok(()),
        }
    }

    fn unread_feature(&self) -> Option<&'static str> {
        [
            (self.flags & ENCRYPTED != 0, "it is encrypted; make the archive without a password"),
            (self.disk != 0, "it lies in another part, and archives in several parts are not read"),
            (
                !matches!(self.method, STORED | DEFLATED),
                "its compression method is not read; use deflate or none",
            ),
            (self.needed as u8 > MAX_VERSION, "it needs a newer ZIP format than is read"),
            (self.flags & !KNOWN_FLAGS != 0, "it uses a feature of ZIP that is not read"),
        ]
        .into_iter()
        .find_map(|(found, why)| found.then_some(why))
    }

    fn widen(&self, zip64: Option<&[u8]>) -> Option<(Sizes, u64)> {
        let mut wide = zip64.map(Fields);
        let size = record::widen(self.size, &mut wide)?;
        let packed = record::widen(self.packed, &mut wide)?;
        let start = record::widen(self.start, &mut wide)?;
        Some((Sizes { crc: self.crc, packed, size }, start))
    }

    fn unix_mode(&self) -> Option<u16> {
        // Unix and macOS.
        matches!(self.made_by >> 8, 3 | 19).then_some((self.attributes >> 16) as u16)
    }
}

/// Returns the name, if it is certainly UTF-8.
///
/// Programs on Unix write UTF-8 names, and often do not set the flag.
fn check_name<'a>(
    name: &'a [u8],
    flags: u16,
    unicode: Option<&[u8]>,
    from_unix: bool,
) -> Result<&'a str> {
    let is_text = flags & FLAG_UTF8 != 0 || name.is_ascii() || unicode.is_some() || from_unix;
    if !is_text {
        return Err(refuse::unsupported(name, "its name is not marked as UTF-8; use UTF-8 names"));
    }
    // Some programs prefer the name in the field: with another one there, they would write another file.
    if unicode.is_some_and(|field| !names_same(field, name)) {
        return Err(refuse::entry(name, "it has two names that differ"));
    }
    std::str::from_utf8(name).map_err(|_| refuse::entry(name, "its name is not UTF-8"))
}

/// Returns whether a Unicode name field has the same name: version, checksum of the name, name.
fn names_same(field: &[u8], name: &[u8]) -> bool {
    matches!(field, [1, a, b, c, d, text @ ..]
        if text == name && u32::from_le_bytes([*a, *b, *c, *d]) == crc32fast::hash(name))
}
