//! Changing files.

use bytes::Bytes;

use super::Workspace;
use crate::archive::{self, ArchiveLimits, ArchiveTree, ExportOptions, Exported, Imported};
use crate::error::{Operation, Result};
use crate::filesystem::staged::{Staged, Staging};
use crate::filesystem::{Put, PutOptions, Recursion, Removed};
use crate::ops::{self, Copied, MkdirOptions, MoveOptions, WriteOptions, Written};
use crate::path::TreePath;
use crate::tree::FileMode;

/// Changing files.
impl Workspace {
    /// Writes text, replacing what is there and making missing parents.
    pub fn write(&self, path: &str, content: &str) -> Result<Written> {
        self.write_with(path, content, &WriteOptions::default())
    }

    /// Writes text.
    pub fn write_with(&self, path: &str, content: &str, options: &WriteOptions) -> Result<Written> {
        let path = self.parse(Operation::Write, path)?;
        self.as_owner("write", |fs| ops::write(fs, &path, content, options))
    }

    /// Writes bytes, replacing what is there and making missing parents.
    pub fn write_bytes(&self, path: &str, content: impl Into<Bytes>) -> Result<Written> {
        self.write_bytes_with(path, content, &WriteOptions::default())
    }

    /// Writes bytes.
    pub fn write_bytes_with(
        &self,
        path: &str,
        content: impl Into<Bytes>,
        options: &WriteOptions,
    ) -> Result<Written> {
        let path = self.parse(Operation::Write, path)?;
        self.as_owner("write", |fs| ops::write_bytes(fs, &path, content, options))
    }

    /// Starts writing content of any size, which blocks no other call and changes nothing until it is put.
    pub fn stage(&self) -> Result<Staging> {
        let mut writer = self.turn()?;
        self.backend(&mut writer).stage()
    }

    /// Makes staged content the content of a file, in one step; the parent must be there.
    pub fn put(&self, path: &str, staged: &mut Staged, options: &PutOptions) -> Result<Put> {
        let path = self.parse(Operation::Write, path)?;
        self.as_owner("put", |fs| fs.put(&path, staged, options))
    }

    /// Writes all files but those that are excluded to an archive on the host, whose path is the program's own.
    pub fn export_archive(&self, target: impl AsRef<std::path::Path>) -> Result<Exported> {
        let tree = self.tree_without_excluded();
        archive::export_ambient(&*tree, target.as_ref(), &ExportOptions::default())
    }

    /// Makes the files those of an archive on the host, whose path is the program's own.
    pub fn import_archive(&self, source: impl AsRef<std::path::Path>) -> Result<Imported> {
        self.import(&ArchiveTree::open_ambient(source, &ArchiveLimits::default())?)
    }

    /// Deletes a file, a link or an empty directory.
    pub fn delete(&self, path: &str) -> Result<Removed> {
        let path = self.parse(Operation::Delete, path)?;
        self.as_owner("delete", |fs| fs.remove(&path, Recursion::OnlyEmpty))
    }

    /// Deletes an entry with all that is below it.
    pub fn delete_all(&self, path: &str) -> Result<Removed> {
        let path = self.parse(Operation::Delete, path)?;
        self.as_owner("delete", |fs| fs.remove(&path, Recursion::Recursive))
    }

    /// Makes a directory and its missing parents; one that is there already will do.
    pub fn mkdir(&self, path: &str) -> Result<bool> {
        self.mkdir_with(path, &MkdirOptions::default())
    }

    /// Makes a directory and returns whether it was not there before.
    pub fn mkdir_with(&self, path: &str, options: &MkdirOptions) -> Result<bool> {
        let path = self.parse(Operation::Mkdir, path)?;
        self.as_owner("mkdir", |fs| ops::mkdir(fs, &path, options))
    }

    /// Makes a symbolic link, which is data and never followed.
    pub fn symlink(&self, path: &str, target: &[u8]) -> Result<()> {
        let path = self.parse(Operation::Symlink, path)?;
        self.as_owner("symlink", |fs| fs.symlink(&path, target))
    }

    /// Changes what is kept of a file's permissions.
    pub fn set_mode(&self, path: &str, mode: FileMode) -> Result<()> {
        let path = self.parse(Operation::SetMode, path)?;
        self.as_owner("set mode", |fs| fs.set_mode(&path, mode))
    }

    /// Moves an entry to a place where nothing is.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.rename_with(from, to, &MoveOptions::default())
    }

    /// Moves an entry.
    pub fn rename_with(&self, from: &str, to: &str, options: &MoveOptions) -> Result<()> {
        let (from, to) = self.parse_pair(Operation::Rename, from, to)?;
        self.as_owner("rename", |fs| ops::rename(fs, &from, &to, options))
    }

    /// Copies an entry to a place where nothing is, with all that is below it.
    pub fn copy(&self, from: &str, to: &str) -> Result<Copied> {
        self.copy_with(from, to, &MoveOptions::default())
    }

    /// Copies an entry.
    pub fn copy_with(&self, from: &str, to: &str, options: &MoveOptions) -> Result<Copied> {
        let (from, to) = self.parse_pair(Operation::Copy, from, to)?;
        self.as_owner("copy", |fs| ops::copy(fs, &from, &to, options))
    }

    fn parse_pair(&self, operation: Operation, a: &str, b: &str) -> Result<(TreePath, TreePath)> {
        Ok((self.parse(operation, a)?, self.parse(operation, b)?))
    }
}
