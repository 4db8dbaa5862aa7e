//! Replaces the files of a backend by those of an archive.

use super::ArchiveTree;
use crate::error::{Operation, Result};
use crate::filesystem::{Backend, Replaced};
use crate::snapshot::Skipped;
use crate::tree::scope::Scope;

/// The result of an import.
///
/// ```
/// use wink_fs::{MemoryBackend, Workspace};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let archive = directory.path().join("a.fs.zip");
/// let files = Workspace::memory();
/// files.write("a.txt", "kept")?;
/// files.export_archive(&archive)?;
/// files.write("a.txt", "changed")?;
/// files.write("b.txt", "new")?;
///
/// let imported = files.import_archive(&archive)?;
/// assert_eq!((imported.file_count, imported.replaced.removed), (1, 1));
/// assert_eq!(files.read("a.txt")?.content, "kept");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Imported {
    /// The number of files and links in the archive.
    pub file_count: u64,
    /// What changed.
    pub replaced: Replaced,
    /// What was left as it is, because it cannot be read, or keeps changing, so that it could not be saved before.
    pub missing: Vec<Skipped>,
}

impl Imported {
    pub(crate) fn new(archive: &ArchiveTree, replaced: Replaced) -> Self {
        Self { file_count: archive.file_count(), replaced, missing: Vec::new() }
    }
}

/// Replaces the files of a backend by those of an archive, as a whole or not at all.
///
/// The archive's structure was checked when it was opened. Contents are checked when they are read, which all are
/// before the first change.
pub fn import(backend: &mut dyn Backend, archive: &ArchiveTree) -> Result<Imported> {
    let replaced = backend
        .replace(archive, &Scope::everything())
        .map_err(|error| error.during(Operation::Import))?;
    Ok(Imported::new(archive, replaced))
}
