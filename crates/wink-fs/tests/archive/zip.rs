//! Archives made by hand, with anything in them that a program of good will would not write.

use libdeflater::{CompressionLvl, Compressor};

/// An entry, with what its two headers say of it.
#[derive(Clone)]
pub(crate) struct Item {
    pub(crate) central: Header,
    pub(crate) local: Header,
    pub(crate) body: Vec<u8>,
    /// What follows the content.
    pub(crate) trailer: Vec<u8>,
    /// Where the directory says the entry starts, if not where it does.
    pub(crate) start: Option<u32>,
}

#[derive(Clone)]
pub(crate) struct Header {
    pub(crate) name: Vec<u8>,
    pub(crate) made_by: u16,
    pub(crate) needed: u16,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) packed: u32,
    pub(crate) size: u32,
    pub(crate) extra: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub(crate) disk: u16,
    pub(crate) mode: u16,
}

impl Item {
    pub(crate) fn stored(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        let header = Header {
            name: name.as_ref().to_vec(),
            made_by: 3 << 8 | 20,
            needed: 20,
            flags: 1 << 11,
            method: 0,
            crc: crc32fast::hash(content),
            packed: content.len() as u32,
            size: content.len() as u32,
            extra: Vec::new(),
            comment: Vec::new(),
            disk: 0,
            mode: 0o100_644,
        };
        let (central, local) = (header.clone(), header);
        Self { central, local, body: content.to_vec(), trailer: Vec::new(), start: None }
    }

    pub(crate) fn deflated(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        let mut compressor = Compressor::new(CompressionLvl::best());
        let mut body = vec![0; compressor.deflate_compress_bound(content.as_ref().len())];
        let len = compressor.deflate_compress(content.as_ref(), &mut body).unwrap();
        body.truncate(len);
        let mut item = Self::stored(name, content).both(|header| {
            header.method = 8;
            header.packed = body.len() as u32;
        });
        item.body = body;
        item
    }

    pub(crate) fn link(name: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> Self {
        Self::stored(name, target).both(|header| header.mode = 0o120_777)
    }

    pub(crate) fn directory(name: impl AsRef<[u8]>) -> Self {
        Self::stored(name, "").both(|header| header.mode = 0o040_755)
    }

    /// The manifest of an archive of so much.
    pub(crate) fn manifest(file_count: u64, total_bytes: u64) -> Self {
        let json = format!(
            r#"{{"version":"1","created_at":"2026-11-15T12:00:00Z","file_count":{file_count},"total_bytes":{total_bytes}}}"#
        );
        Self::stored("manifest.json", json)
    }

    /// Changes both headers.
    pub(crate) fn both(mut self, change: impl Fn(&mut Header)) -> Self {
        change(&mut self.central);
        change(&mut self.local);
        self
    }

    /// Changes the entry's own header only.
    pub(crate) fn local(mut self, change: impl Fn(&mut Header)) -> Self {
        change(&mut self.local);
        self
    }

    /// Changes the directory's header only.
    pub(crate) fn central(mut self, change: impl Fn(&mut Header)) -> Self {
        change(&mut self.central);
        self
    }

    fn is_file(&self) -> bool {
        self.central.name != b"manifest.json" && !self.central.name.ends_with(b"/")
    }
}

/// What the end of an archive says.
#[derive(Default)]
pub(crate) struct End {
    pub(crate) disk: u16,
    pub(crate) entries: Option<u16>,
    pub(crate) size: Option<u32>,
    pub(crate) offset: Option<u32>,
    pub(crate) comment: Vec<u8>,
}

/// Returns an archive of some files with the manifest they need.
pub(crate) fn archive(items: impl IntoIterator<Item = Item>) -> Vec<u8> {
    let mut items: Vec<_> = items.into_iter().collect();
    let files = || items.iter().filter(|item| item.is_file());
    let total = files().map(|item| u64::from(item.central.size)).sum();
    items.push(Item::manifest(files().count() as u64, total));
    raw(&items, &End::default())
}

/// Returns an archive of exactly these entries.
pub(crate) fn raw(items: &[Item], end: &End) -> Vec<u8> {
    let (mut bytes, mut central) = (Vec::new(), Vec::new());
    for item in items {
        let start = item.start.unwrap_or(bytes.len() as u32);
        local(&item.local, &mut bytes);
        bytes.extend_from_slice(&item.body);
        bytes.extend_from_slice(&item.trailer);
        listed(&item.central, start, &mut central);
    }
    let offset = bytes.len() as u32;
    bytes.extend_from_slice(&central);
    bytes.extend_from_slice(b"PK\x05\x06");
    put16(&mut bytes, &[end.disk, end.disk]);
    put16(&mut bytes, &[end.entries.unwrap_or(items.len() as u16); 2]);
    put32(&mut bytes, &[end.size.unwrap_or(central.len() as u32), end.offset.unwrap_or(offset)]);
    put16(&mut bytes, &[end.comment.len() as u16]);
    bytes.extend_from_slice(&end.comment);
    bytes
}

fn local(header: &Header, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b"PK\x03\x04");
    put16(bytes, &[header.needed, header.flags, header.method, 0, 0x21]);
    put32(bytes, &[header.crc, header.packed, header.size]);
    put16(bytes, &[header.name.len() as u16, header.extra.len() as u16]);
    bytes.extend_from_slice(&header.name);
    bytes.extend_from_slice(&header.extra);
}

fn listed(header: &Header, start: u32, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b"PK\x01\x02");
    put16(bytes, &[header.made_by, header.needed, header.flags, header.method, 0, 0x21]);
    put32(bytes, &[header.crc, header.packed, header.size]);
    put16(bytes, &[header.name.len() as u16, header.extra.len() as u16]);
    put16(bytes, &[header.comment.len() as u16, header.disk, 0]);
    put32(bytes, &[u32::from(header.mode) << 16, start]);
    bytes.extend_from_slice(&header.name);
    bytes.extend_from_slice(&header.extra);
    bytes.extend_from_slice(&header.comment);
}

pub(crate) fn put16(bytes: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

pub(crate) fn put32(bytes: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

pub(crate) fn put64(bytes: &mut Vec<u8>, values: &[u64]) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

/// Returns an extra field.
pub(crate) fn extra(id: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put16(&mut bytes, &[id, data.len() as u16]);
    bytes.extend_from_slice(data);
    bytes
}
