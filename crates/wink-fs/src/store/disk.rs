//! The files of a store; no other code of the store accesses the host.

#![allow(
    clippy::disallowed_methods,
    reason = "this is the ambient authority that the constructors' names speak of"
)]

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::format;
use crate::error::{damaged, worded};

/// A store's directory; names are relative to it.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    root: PathBuf,
    /// A file that exists if the store's disk is mounted.
    marker: PathBuf,
    /// The temporary directory of the store, deleted with the last handle.
    _temporary: Option<Arc<TempDir>>,
}

/// Tells a file from one that replaced it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub(super) size: u64,
    /// The modification time, since 1970.
    pub(super) nanoseconds: u128,
}

impl Disk {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), marker: root.join(format::NAME), _temporary: None }
    }

    /// Makes a temporary directory, deleted with the last handle to it or to a part of it.
    pub(super) fn temporary() -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("wink-history-").tempdir()?;
        let place = Self::new(&directory.path().join("store"));
        Ok(Self { _temporary: Some(Arc::new(directory)), ..place })
    }

    /// Returns a subdirectory as a disk of its own.
    pub(crate) fn below(&self, name: &str) -> Self {
        Self { root: self.root.join(name), ..self.clone() }
    }

    /// Returns the disk of the whole store.
    pub(crate) fn top(&self) -> Self {
        let root = self.marker.parent().unwrap_or(&self.root).to_path_buf();
        Self { root, ..self.clone() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the store's directory, or uses an empty one.
    pub(crate) fn make_root(&self) -> io::Result<()> {
        match directories().create(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.check_empty(),
            made => made,
        }
    }

    fn check_empty(&self) -> io::Result<()> {
        match fs::read_dir(&self.root)?.next() {
            None => restrict(&self.root),
            Some(_) => Err(worded(
                io::ErrorKind::AlreadyExists,
                "the directory is not empty; name a new one, or open the store that is there",
            )),
        }
    }

    pub(crate) fn make_dir(&self, name: &str) -> io::Result<()> {
        directories().create(self.root.join(name))
    }

    pub(crate) fn make_dir_unless_there(&self, name: &str) -> io::Result<()> {
        match self.make_dir(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    /// Returns the path of a name, for callers that access it themselves.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Deletes a directory and everything in it, if it exists.
    pub(crate) fn remove_all(&self, name: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.root.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Deletes an entry of any kind and everything in it, if it exists.
    pub(crate) fn remove_entry(&self, name: &str) -> io::Result<()> {
        match self.remove(name) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                self.remove_all(name).or_else(|_| {
                    make_removable(&self.root.join(name));
                    self.remove_all(name)
                })
            }
            removed => removed.map(drop),
        }
    }

    pub(crate) fn open(&self, name: &str) -> io::Result<File> {
        File::open(self.root.join(name))
    }

    /// Returns whether a name exists.
    pub(crate) fn is_there(&self, name: &str) -> bool {
        fs::symlink_metadata(self.root.join(name)).is_ok()
    }

    /// Reads a file of at most `limit` bytes.
    pub(crate) fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let mut file = self.open(name)?;
        let size = file.metadata()?.len();
        if size > limit {
            return Err(damaged(format!("the store's file {name} is too large to be whole")));
        }
        // With a known size, one call reads it.
        let mut bytes = vec![0; size as usize];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Creates a new file that only this user can access.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        private().read(true).write(true).create_new(true).open(self.root.join(name))
    }

    /// Opens a file for reading and appending, and creates it if it is missing.
    pub(crate) fn open_to_continue(&self, name: &str) -> io::Result<File> {
        private().read(true).append(true).create(true).open(self.root.join(name))
    }

    /// Opens a lock file, and creates it if it is missing and the store exists.
    pub(crate) fn open_lock(&self, name: &str) -> io::Result<File> {
        let open = |make| {
            private().read(true).write(true).create(make).truncate(false).open(self.root.join(name))
        };
        match open(false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.check_there()?;
                open(true)
            }
            opened => opened,
        }
    }

    /// Fails if the store is not there. Nothing may be created then, because its disk may not be mounted.
    pub(crate) fn check_there(&self) -> io::Result<()> {
        File::open(&self.marker).map(drop)
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.root.join(from), self.root.join(to))
    }

    /// Removes a file, and returns whether it existed.
    pub(crate) fn remove(&self, name: &str) -> io::Result<bool> {
        match fs::remove_file(self.root.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    /// Returns the names in a directory, sorted.
    pub(crate) fn names(&self, directory: &str) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(self.root.join(directory))?;
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        let mut names = entries.map(name).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    /// Opens an existing file for appending.
    pub(super) fn open_to_append(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().append(true).open(self.root.join(name))
    }

    /// Stats a file.
    pub(super) fn stamp(&self, name: &str) -> io::Result<Stamp> {
        let known = fs::symlink_metadata(self.root.join(name))?;
        let since = known.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(Stamp { size: known.len(), nanoseconds: since.as_nanos() })
    }

    /// Returns the size of a file, or of all files below a directory.
    pub(crate) fn size(&self, name: &str) -> io::Result<u64> {
        size_below(&self.root.join(name))
    }

    /// Syncs a directory, so that its names survive a power loss.
    pub(crate) fn sync_dir(&self, directory: &str) -> io::Result<()> {
        #[cfg(unix)]
        self.open(directory)?.sync_all()?;
        #[cfg(not(unix))]
        let _ = directory;
        Ok(())
    }
}

/// Makes directories accessible before deletion: pre-images have the permissions that they had in the workspace.
fn make_removable(directory: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let Ok(known) = fs::symlink_metadata(directory) else { return };
        if !known.is_dir() {
            return;
        }
        if known.permissions().mode() & 0o700 != 0o700 {
            let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
        }
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        entries.for_each(|entry| make_removable(&entry.path()));
    }
    #[cfg(not(unix))]
    let _ = directory;
}

/// Uses handles, because pre-images may have longer paths here than they had.
#[cfg(target_os = "linux")]
fn size_below(path: &Path) -> io::Result<u64> {
    Ok(crate::host::bytes_below(path)?)
}

/// What disappears meanwhile takes no space.
#[cfg(not(target_os = "linux"))]
fn size_below(path: &Path) -> io::Result<u64> {
    let known = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        known => known?,
    };
    if !known.is_dir() {
        return Ok(known.len());
    }
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    entries.map(|entry| size_below(&entry?.path())).sum()
}

fn directories() -> DirBuilder {
    #[allow(unused_mut, reason = "only Unix has modes")]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn private() -> OpenOptions {
    #[allow(unused_mut, reason = "only Unix has modes")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Removes all access of other users from an existing directory.
fn restrict(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(directory, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    #[cfg(not(unix))]
    let _ = directory;
    Ok(())
}
