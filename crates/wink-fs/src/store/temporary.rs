//! Unfinished files of a store.

use std::fs::File;
use std::io::{self, Write};

use super::disk::Disk;

/// The prefix of unfinished files, which no reader opens.
const PREFIX: char = '.';

/// Returns whether a file is unfinished.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Returns the temporary path of a file.
pub(super) fn place(directory: &str, name: &str) -> String {
    format!("{directory}/{PREFIX}{name}.tmp")
}

/// An unfinished file, deleted on drop unless it is published.
#[derive(Debug)]
pub(crate) struct Temporary<'a> {
    disk: &'a Disk,
    file: File,
    directory: &'static str,
    name: String,
    /// Its current path, if it is to be deleted.
    place: Option<String>,
}

impl<'a> Temporary<'a> {
    /// Makes the file that is to become `name`.
    pub(crate) fn new(disk: &'a Disk, directory: &'static str, name: String) -> io::Result<Self> {
        let place = place(directory, &name);
        let file = disk.create(&place)?;
        Ok(Self { disk, file, directory, name, place: Some(place) })
    }

    /// Makes the file, replacing one of a dead process; requires a lock.
    pub(crate) fn over(disk: &'a Disk, directory: &'static str, name: String) -> io::Result<Self> {
        match Self::new(disk, directory, name.clone()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                disk.remove(&place(directory, &name))?;
                Self::new(disk, directory, name)
            }
            made => made,
        }
    }

    /// Syncs the content. After a failure the caller must not retry, because the kernel may have dropped the data and
    /// report success.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Renames the file into place and syncs the directory; on failure the file is deleted.
    pub(crate) fn publish(&mut self) -> io::Result<()> {
        self.rename()?;
        self.disk.sync_dir(self.directory)
    }

    /// Replaces the file of its name and syncs the directory.
    ///
    /// On failure it stays all the same, because the old one is gone.
    pub(crate) fn replace(mut self) -> io::Result<()> {
        self.rename()?;
        // Kept before the sync: dropping it on failure would delete the only file of that name.
        let disk = self.disk;
        let directory = self.directory;
        self.keep();
        disk.sync_dir(directory)
    }

    /// Renames the file into place.
    pub(crate) fn rename(&mut self) -> io::Result<()> {
        let place = format!("{}/{}", self.directory, self.name);
        if let Some(from) = &self.place {
            self.disk.rename(from, &place)?;
        }
        self.place = Some(place);
        Ok(())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Changes the name that it will get.
    #[must_use]
    pub(crate) fn named(mut self, name: String) -> Self {
        self.name = name;
        self
    }

    /// Keeps the file on drop.
    pub(crate) fn keep(mut self) {
        self.place = None;
    }
}

impl Write for Temporary<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            // If this fails, the file is removed when the store is next opened.
            let _ = self.disk.remove(place);
        }
    }
}
