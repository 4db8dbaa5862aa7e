//! Opens an archive file of the host.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::tree::ArchiveTree;
use crate::archive::options::ArchiveLimits;
use crate::archive::refuse;
use crate::error::{Error, ErrorKind, Operation, Result};

impl ArchiveTree {
    /// Opens an archive at a path of the host, with the ambient authority of the process.
    ///
    /// ```
    /// use wink_fs::archive::{self, ArchiveLimits, ArchiveTree, ExportOptions};
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// let path = directory.path().join("work.fs.zip");
    /// let files = wink_fs::Workspace::memory();
    /// archive::export_ambient(&*files.tree(), &path, &ExportOptions::default())?;
    /// assert_eq!(ArchiveTree::open_ambient(&path, &ArchiveLimits::default())?.file_count(), 0);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn open_ambient(path: impl AsRef<Path>, limits: &ArchiveLimits) -> Result<Self> {
        let file = open(path.as_ref()).map_err(refuse::reading)?;
        let metadata = file.metadata().map_err(refuse::reading)?;
        if !metadata.is_file() {
            return Err(Error::new(Operation::OpenArchive, ErrorKind::InvalidArgument)
                .with_detail("it is not a file; name an archive"));
        }
        Self::open(Arc::new(file), metadata.len(), limits)
    }
}

/// Opens a file without blocking on a FIFO.
#[cfg(target_os = "linux")]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::disallowed_methods, reason = "this is the ambient authority the name speaks of")]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}
