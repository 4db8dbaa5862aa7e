//! A file that is not part of the store yet.

use std::fs::File;
use std::io::{self, Write};

use super::disk::Disk;

/// What the names of unfinished files start with; nothing reads such files.
const PREFIX: char = '.';

/// Tells whether a file is no part of the store.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Returns where a file lies until it gets its name.
pub(super) fn place(directory: &str, name: &str) -> String {
    format!("{directory}/{PREFIX}{name}.tmp")
}

/// Holds a file under a temporary name; unless it is published, it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Temporary<'a> {
    disk: &'a Disk,
    file: File,
    directory: &'static str,
    name: String,
    /// Where it is now, so that it can be taken away again.
    place: Option<String>,
}

impl<'a> Temporary<'a> {
    /// Makes the file that is to become `name` in a directory of the store.
    pub(crate) fn new(disk: &'a Disk, directory: &'static str, name: String) -> io::Result<Self> {
        let place = place(directory, &name);
        let file = disk.create(&place)?;
        Ok(Self { disk, file, directory, name, place: Some(place) })
    }

    /// Makes the file where only the holder of a lock does, over what one left that died.
    pub(crate) fn over(disk: &'a Disk, directory: &'static str, name: String) -> io::Result<Self> {
        match Self::new(disk, directory, name.clone()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                disk.remove(&place(directory, &name))?;
                Self::new(disk, directory, name)
            }
            made => made,
        }
    }

    /// Makes all bytes durable. After a failure the caller must not retry, because the kernel may have dropped them.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Gives the file its name and makes that durable; if that fails, the file goes.
    pub(crate) fn publish(&mut self) -> io::Result<()> {
        self.rename()?;
        self.disk.sync_dir(self.directory)
    }

    /// Takes the place of the file of its name, and makes that durable; if that fails, it stays all the same,
    /// because what it replaced is gone.
    pub(crate) fn replace(mut self) -> io::Result<()> {
        self.rename()?;
        let (disk, directory) = (self.disk, self.directory);
        self.keep();
        disk.sync_dir(directory)
    }

    /// Gives the file its name.
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

    /// Gives it another name to become.
    #[must_use]
    pub(crate) fn named(mut self, name: String) -> Self {
        self.name = name;
        self
    }

    /// Lets the file stay when this is dropped.
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
            // What cannot be removed now is removed when the store is opened.
            let _ = self.disk.remove(place);
        }
    }
}
