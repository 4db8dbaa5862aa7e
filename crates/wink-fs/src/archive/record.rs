//! The records of the ZIP format.
//!
//! Numbers are little-endian. A size or offset that does not fit into 32 bits is `u32::MAX`, and its 64 bits are in the
//! extra field `0x0001`.

pub(super) const LOCAL: [u8; 4] = *b"PK\x03\x04";
pub(super) const CENTRAL: [u8; 4] = *b"PK\x01\x02";
pub(super) const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
pub(super) const END: [u8; 4] = *b"PK\x05\x06";
pub(super) const END64: [u8; 4] = *b"PK\x06\x06";
pub(super) const LOCATOR64: [u8; 4] = *b"PK\x06\x07";

pub(super) const LOCAL_BYTES: usize = 30;
pub(super) const CENTRAL_BYTES: usize = 46;
pub(super) const END_BYTES: usize = 22;
pub(super) const END64_BYTES: usize = 56;
pub(super) const LOCATOR64_BYTES: usize = 20;

/// The sizes and the checksum follow the content.
pub(super) const FLAG_DESCRIPTOR: u16 = 1 << 3;
/// The name is UTF-8.
pub(super) const FLAG_UTF8: u16 = 1 << 11;

pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;

pub(super) const EXTRA_ZIP64: u16 = 0x0001;
pub(super) const EXTRA_UNICODE_NAME: u16 = 0x7075;

/// Reads numbers from the front.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    /// Starts after a required signature.
    pub(super) fn after(signature: [u8; 4], bytes: &'a [u8]) -> Option<Self> {
        bytes.strip_prefix(&signature).map(Self)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }
}

/// Appends numbers.
pub(super) trait Append {
    fn u16(&mut self, value: u16);
    fn u32(&mut self, value: u32);
    fn u64(&mut self, value: u64);
}

impl Append for Vec<u8> {
    fn u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }
}

/// Sizes and checksum of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Sizes {
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) size: u64,
}

/// Returns the fields of an extra area; `None` if one does not fit into it.
pub(super) fn extra_fields(extra: &[u8]) -> Option<Vec<(u16, &[u8])>> {
    let mut found = Vec::new();
    let mut rest = Fields(extra);
    // Some programs pad with a byte or two, which other readers ignore too.
    while rest.0.len() >= 4 {
        let id = rest.u16()?;
        let len = rest.u16()?;
        found.push((id, rest.bytes(len.into())?));
    }
    Some(found)
}

/// Returns the only field of a kind; `None` if there are several.
pub(super) fn single<'a>(fields: &[(u16, &'a [u8])], id: u16) -> Option<Option<&'a [u8]>> {
    let mut of_kind = fields.iter().filter(|(found, _)| *found == id);
    let first = of_kind.next().map(|(_, data)| *data);
    of_kind.next().is_none().then_some(first)
}

/// Returns the 64-bit value if the 32-bit one defers to it.
pub(super) fn widen(short: u32, wide: &mut Option<Fields<'_>>) -> Option<u64> {
    match short {
        u32::MAX => wide.as_mut()?.u64(),
        _ => Some(short.into()),
    }
}

/// Returns the 32-bit value, or the one that defers to 64 bits.
pub(super) fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
