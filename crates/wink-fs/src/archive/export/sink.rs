//! Writes the archive's bytes, without seeking.

use std::io::{self, BufWriter, Read as _, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::pack::Packed;
use crate::archive::options::{ExportOptions, Method};
use crate::archive::record::{self, Append, DEFLATED, FLAG_DESCRIPTOR, FLAG_UTF8, STORED, Sizes};
use crate::tree::content::Content;

const BUFFER: usize = 256 * 1024;

/// 1980-01-01, the first date of the format, at midnight.
const DATE: u16 = 0x0021;

const VERSION: u16 = 20;
const VERSION_ZIP64: u16 = 45;
/// Unix, so that the attributes are Unix attributes.
const MADE_BY: u16 = 3 << 8 | VERSION_ZIP64;
const DOS_DIRECTORY: u32 = 0x10;

/// Streamed content of this size may need 64 bits, because compression can make it larger.
const ZIP64_FROM: u64 = 0xf000_0000;

/// An entry's name and kind.
pub(super) struct Header {
    name: String,
    unix_mode: u16,
    flags: u16,
    method: u16,
}

impl Header {
    pub(super) fn new(name: String, unix_mode: u16) -> Self {
        Self { name, unix_mode, flags: FLAG_UTF8, method: STORED }
    }
}

/// Writes entries, and finally their directory.
pub(super) struct Sink<W: Write> {
    out: BufWriter<W>,
    written: u64,
    central: Vec<u8>,
    entries: u64,
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Sink<W> {
    pub(super) fn new(out: W) -> Self {
        let out = BufWriter::with_capacity(BUFFER, out);
        Self { out, written: 0, central: Vec::new(), entries: 0 }
    }

    /// Writes an empty directory.
    pub(super) fn directory(&mut self, mut header: Header) -> io::Result<()> {
        header.name.push('/');
        self.put(&header, Sizes::default(), &[])
    }

    /// Writes content from memory.
    pub(super) fn whole(&mut self, mut header: Header, body: &Packed) -> io::Result<()> {
        header.method = body.method;
        let sizes = Sizes { crc: body.crc, packed: body.bytes.len() as u64, size: body.size };
        self.put(&header, sizes, &body.bytes)
    }

    fn put(&mut self, header: &Header, sizes: Sizes, body: &[u8]) -> io::Result<()> {
        let start = self.written;
        self.local(header, sizes, false)?;
        self.write_all(body)?;
        self.list(header, sizes, start);
        Ok(())
    }

    /// Writes content of any size as it is read, with its sizes after it, and returns its size.
    pub(super) fn stream(
        &mut self,
        mut header: Header,
        content: &Content,
        options: &ExportOptions,
    ) -> io::Result<u64> {
        let start = self.written;
        let zip64 = content.len() >= ZIP64_FROM;
        header.flags |= FLAG_DESCRIPTOR;
        header.method = if options.method == Method::Deflate { DEFLATED } else { STORED };
        self.local(&header, Sizes::default(), zip64)?;
        let sizes = self.pour(content, options)?;
        self.descriptor(sizes, zip64)?;
        self.list(&header, sizes, start);
        Ok(sizes.size)
    }

    fn pour(&mut self, content: &Content, options: &ExportOptions) -> io::Result<Sizes> {
        let start = self.written;
        let (size, crc) = match options.method {
            Method::Stored => copy(content, self)?,
            Method::Deflate => {
                let level = Compression::new(options.level.min(9).into());
                let mut encoder = DeflateEncoder::new(&mut *self, level);
                let copied = copy(content, &mut encoder)?;
                encoder.finish()?;
                copied
            }
        };
        Ok(Sizes { crc, packed: self.written - start, size })
    }

    fn local(&mut self, header: &Header, sizes: Sizes, zip64: bool) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(record::LOCAL_BYTES + header.name.len() + 20);
        bytes.extend_from_slice(&record::LOCAL);
        bytes.u16(if zip64 { VERSION_ZIP64 } else { VERSION });
        let short = |value| if zip64 { u32::MAX } else { record::narrow(value) };
        common(&mut bytes, header, sizes.crc, short(sizes.packed), short(sizes.size));
        bytes.u16(if zip64 { 20 } else { 0 });
        bytes.extend_from_slice(header.name.as_bytes());
        if zip64 {
            extra64(&mut bytes, &[sizes.size, sizes.packed]);
        }
        self.write_all(&bytes)
    }

    fn descriptor(&mut self, sizes: Sizes, zip64: bool) -> io::Result<()> {
        let mut bytes = record::DESCRIPTOR.to_vec();
        bytes.u32(sizes.crc);
        for value in [sizes.packed, sizes.size] {
            if zip64 {
                bytes.u64(value)
            } else {
                bytes.u32(u32::try_from(value).map_err(|_| grew())?)
            }
        }
        self.write_all(&bytes)
    }

    /// Notes an entry for the directory.
    fn list(&mut self, header: &Header, sizes: Sizes, start: u64) {
        let values = [sizes.size, sizes.packed, start];
        let wide: Vec<u64> = values.into_iter().filter(|v| *v >= u32::MAX.into()).collect();
        let bytes = &mut self.central;
        bytes.extend_from_slice(&record::CENTRAL);
        bytes.u16(MADE_BY);
        bytes.u16(if wide.is_empty() { VERSION } else { VERSION_ZIP64 });
        let packed = record::narrow(sizes.packed);
        let size = record::narrow(sizes.size);
        common(bytes, header, sizes.crc, packed, size);
        bytes.u16(if wide.is_empty() { 0 } else { 4 + 8 * wide.len() as u16 });
        bytes.u16(0); // no comment
        bytes.u16(0); // the first and only disk
        bytes.u16(0); // internal attributes
        bytes.u32(attributes(header));
        bytes.u32(record::narrow(start));
        bytes.extend_from_slice(header.name.as_bytes());
        extra64(bytes, &wide);
        self.entries += 1;
    }

    /// Writes the directory, and returns the size of the archive.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        let offset = self.written;
        let central = std::mem::take(&mut self.central);
        self.write_all(&central)?;
        let size = central.len() as u64;
        let max = u64::from(u32::MAX);
        if self.entries >= u16::MAX.into() || size >= max || offset >= max {
            self.end64(offset, size)?;
        }
        self.end(offset, size)?;
        self.flush()?;
        Ok(self.written)
    }

    fn end64(&mut self, offset: u64, size: u64) -> io::Result<()> {
        let at = self.written;
        let mut bytes = record::END64.to_vec();
        bytes.u64(record::END64_BYTES as u64 - 12);
        bytes.u16(MADE_BY);
        bytes.u16(VERSION_ZIP64);
        bytes.u64(0); // this disk and the directory's: the first
        [self.entries, self.entries, size, offset].into_iter().for_each(|value| bytes.u64(value));
        bytes.extend_from_slice(&record::LOCATOR64);
        bytes.u32(0); // the disk of the record above
        bytes.u64(at);
        bytes.u32(1); // disks in all
        self.write_all(&bytes)
    }

    fn end(&mut self, offset: u64, size: u64) -> io::Result<()> {
        let entries = u16::try_from(self.entries).unwrap_or(u16::MAX);
        let mut bytes = record::END.to_vec();
        bytes.u32(0); // this disk and the directory's: the first
        bytes.u16(entries);
        bytes.u16(entries);
        bytes.u32(record::narrow(size));
        bytes.u32(record::narrow(offset));
        bytes.u16(0); // no comment
        self.write_all(&bytes)
    }
}

/// Appends the common part of local and central headers.
fn common(bytes: &mut Vec<u8>, header: &Header, crc: u32, packed: u32, size: u32) {
    bytes.u16(header.flags);
    bytes.u16(header.method);
    bytes.u16(0);
    bytes.u16(DATE);
    bytes.u32(crc);
    bytes.u32(packed);
    bytes.u32(size);
    // A path has at most 4,096 bytes, and an escape makes four of one.
    bytes.u16(header.name.len() as u16);
}

fn extra64(bytes: &mut Vec<u8>, values: &[u64]) {
    if values.is_empty() {
        return;
    }
    bytes.u16(record::EXTRA_ZIP64);
    bytes.u16(8 * values.len() as u16);
    values.iter().for_each(|value| bytes.u64(*value));
}

fn attributes(header: &Header) -> u32 {
    let unix = u32::from(header.unix_mode) << 16;
    if header.name.ends_with('/') { unix | DOS_DIRECTORY } else { unix }
}

/// Copies exactly as much content as there was when it was opened, and returns its size and checksum.
fn copy(content: &Content, out: &mut impl Write) -> io::Result<(u64, u32)> {
    let mut reader = content.reader().take(content.len());
    let mut crc = crc32fast::Hasher::new();
    let mut size = 0;
    let mut buffer = vec![0; BUFFER];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok((size, crc.finalize())),
            read => {
                crc.update(&buffer[..read]);
                out.write_all(&buffer[..read])?;
                size += read as u64;
            }
        }
    }
}

fn grew() -> io::Error {
    io::Error::other("packing made the content larger than it can be")
}
