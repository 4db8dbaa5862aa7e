//! `copy` and `reflink`: a directory of copies for each snapshot, which users can look into.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use super::keeper::{Finished, Keeper, KeptContent, Reader, Work};
use super::manifest::{Directory, KeptFile, Manifest, Place};
use super::reflink;
use crate::hash::ContentHash;
use crate::host::copy::snapshot_files::Copies;
use crate::path::TreePath;
use crate::snapshot::{Snapshot, SnapshotId};
use crate::store::disk::Disk;
use crate::tree::FileMode;
use crate::tree::content::Content;

/// The directory of copies, a subdirectory for each snapshot.
pub(super) const DIRECTORY: &str = "files";

/// How a file gets into a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CopyMethod {
    /// Its bytes are copied.
    Copy,
    /// The file system shares the space of both files.
    Clone,
}

/// Keeps each snapshot as a directory of copies.
#[derive(Debug)]
pub(super) struct CopyKeeper {
    disk: Disk,
    method: CopyMethod,
}

impl CopyKeeper {
    pub(super) fn new(disk: Disk, method: CopyMethod) -> Self {
        Self { disk, method }
    }

    fn copies(&self, id: &SnapshotId) -> io::Result<Copies> {
        Copies::open_ambient(&self.disk.path(&place(&id.to_string())))
    }
}

fn place(id: &str) -> String {
    format!("{DIRECTORY}/{id}")
}

impl Keeper for CopyKeeper {
    fn begin<'a>(
        &'a self,
        id: &SnapshotId,
        _: Option<&'a Manifest>,
    ) -> io::Result<Box<dyn Work + 'a>> {
        self.disk.make_dir(&place(&id.to_string()))?;
        let copies = self.copies(id)?;
        let reference = place(&id.to_string());
        Ok(Box::new(Copying { copies, method: self.method, reference }))
    }

    fn reader(&self, id: &SnapshotId) -> io::Result<Arc<dyn Reader>> {
        Ok(Arc::new(CopyReader(self.copies(id)?)))
    }

    fn held(&self) -> io::Result<Vec<String>> {
        self.disk.names(DIRECTORY)
    }

    fn forget(&self, id: &str) -> io::Result<()> {
        self.disk.remove_all(&place(id))
    }
}

struct Copying {
    copies: Copies,
    method: CopyMethod,
    reference: String,
}

impl Work for Copying {
    fn enter(&self, path: &TreePath) -> io::Result<()> {
        self.copies.make_dir(path)
    }

    fn file(&self, path: &TreePath, _: FileMode, content: &Content) -> io::Result<KeptContent> {
        let copy = self.copies.make_file(path)?;
        let (hash, size) = match self.method {
            CopyMethod::Copy => write(content, &copy)?,
            CopyMethod::Clone => reflink::clone(content, &copy)?,
        };
        Ok(KeptContent { hash, size, place: Place::new() })
    }

    fn link(&self, path: &TreePath, target: &[u8]) -> io::Result<()> {
        self.copies.make_link(path, target)
    }

    fn finish(self: Box<Self>, _: &Snapshot, _: &Directory) -> io::Result<Finished> {
        self.copies.sync()?;
        Ok(Finished { reference: self.reference, notes: Vec::new() })
    }
}

/// Writes all bytes, and returns their hash and number.
fn write(content: &Content, mut copy: &File) -> io::Result<(ContentHash, u64)> {
    let mut hasher = blake3::Hasher::new();
    let mut size = 0;
    content.for_each_chunk(|chunk| {
        hasher.update(chunk);
        size += chunk.len() as u64;
        copy.write_all(chunk)
    })?;
    Ok((ContentHash::from_bytes(hasher.finalize().into()), size))
}

struct CopyReader(Copies);

impl Reader for CopyReader {
    fn open(&self, path: &TreePath, _: &KeptFile) -> io::Result<Content> {
        let file = self.0.open(path)?;
        let size = file.metadata()?.len();
        Ok(Content::positional(Arc::new(file), size))
    }
}

impl fmt::Debug for CopyReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CopyReader")
    }
}
