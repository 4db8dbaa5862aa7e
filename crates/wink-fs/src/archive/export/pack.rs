//! Compresses content for an archive, several files at once.

use bytes::Bytes;
use libdeflater::{CompressionLvl, Compressor};

use crate::archive::WHOLE_BYTES;
use crate::archive::options::{ExportOptions, Method};
use crate::archive::record::{DEFLATED, STORED};
use crate::error::{Error, Operation, Result};
use crate::path::TreePath;
use crate::tree::content::Content;
use crate::tree::hash::directory_mode;
use crate::tree::{FileMode, Kind, Tree};

/// An entry to be written.
pub(super) struct Planned<'a> {
    pub(super) path: &'a TreePath,
    pub(super) size: u64,
    kind: Kind,
    mode: FileMode,
}

impl<'a> Planned<'a> {
    /// Reads everything about an entry except its content.
    pub(super) fn look(tree: &dyn Tree, path: &'a TreePath, kind: Kind) -> Result<Self> {
        let (size, mode) = match kind {
            Kind::File => tree.stat(path).map(|stat| (stat.size_bytes, stat.mode))?,
            Kind::Directory => (0, directory_mode(tree, path)?),
            Kind::Symlink | Kind::Other => Default::default(),
        };
        Ok(Self { path, size, kind, mode })
    }

    /// Returns the type and permission bits for the Unix attributes.
    pub(super) fn unix_mode(&self) -> u16 {
        match (self.kind, self.mode.executable, self.mode.private) {
            (Kind::Directory, _, false) => 0o040_755,
            (Kind::Directory, _, true) => 0o040_700,
            (Kind::Symlink, ..) => 0o120_777,
            (_, false, false) => 0o100_644,
            (_, true, false) => 0o100_755,
            (_, false, true) => 0o100_600,
            (_, true, true) => 0o100_700,
        }
    }
}

/// The bytes after an entry's header.
pub(super) enum Body {
    Directory,
    Whole(Packed),
    Large(Content),
}

/// Content in memory, compressed or not.
pub(super) struct Packed {
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) size: u64,
    pub(super) bytes: Bytes,
}

/// Compresses files one after the other.
pub(super) struct Packer(Option<Compressor>);

impl Packer {
    pub(super) fn new(options: &ExportOptions) -> Self {
        let level = || CompressionLvl::new(options.level.into()).unwrap_or_default();
        Self((options.method == Method::Deflate).then(|| Compressor::new(level())))
    }

    pub(super) fn pack(&mut self, tree: &dyn Tree, planned: &Planned<'_>) -> Result<Body> {
        let path = planned.path;
        match planned.kind {
            Kind::Directory => Ok(Body::Directory),
            Kind::Symlink => Ok(Body::Whole(stored(tree.read_link(path)?.into()))),
            _ => self.pack_file(tree.open(path)?, planned),
        }
    }

    fn pack_file(&mut self, content: Content, planned: &Planned<'_>) -> Result<Body> {
        // A file that grew since it was planned was not counted, so it must not be read into memory.
        if content.len() > WHOLE_BYTES.min(planned.size) {
            return Ok(Body::Large(content));
        }
        let failed = |error| Error::system(Operation::Export, error).with_path(planned.path);
        Ok(Body::Whole(self.pack_bytes(content.read_all().map_err(failed)?)))
    }

    /// Compresses bytes, if that makes them fewer.
    pub(super) fn pack_bytes(&mut self, bytes: Bytes) -> Packed {
        let packed = match &mut self.0 {
            Some(compressor) if !bytes.is_empty() => deflate(compressor, &bytes),
            _ => None,
        };
        match packed {
            Some(packed) => Packed { method: DEFLATED, bytes: packed, ..stored(bytes) },
            None => stored(bytes),
        }
    }
}

fn stored(bytes: Bytes) -> Packed {
    Packed { method: STORED, crc: crc32fast::hash(&bytes), size: bytes.len() as u64, bytes }
}

/// Returns the compressed bytes if they are fewer: the output buffer is one byte shorter than the input.
fn deflate(compressor: &mut Compressor, bytes: &[u8]) -> Option<Bytes> {
    let mut packed = vec![0; bytes.len() - 1];
    let len = compressor.deflate_compress(bytes, &mut packed).ok()?;
    packed.truncate(len);
    packed.shrink_to_fit();
    Some(packed.into())
}
