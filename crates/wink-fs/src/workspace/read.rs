//! Looking at files.

use super::Workspace;
use crate::error::{Operation, Result};
use crate::hash::ContentHash;
use crate::ops::{
    self, BytePage, LineOptions, LinePart, ListOptions, Listed, ReadOptions, TextPage,
};
use crate::search::{self, GlobOptions, GlobResult, GrepOptions, GrepResult};
use crate::tree::Stat;
use crate::tree::content::Content;

/// Looking at files.
impl Workspace {
    /// Reads the first page of a text file.
    pub fn read(&self, path: &str) -> Result<TextPage> {
        self.read_with(path, &ReadOptions::default())
    }

    /// Reads a page of a text file.
    pub fn read_with(&self, path: &str, options: &ReadOptions) -> Result<TextPage> {
        let path = self.parse(Operation::Read, path)?;
        ops::read(&*self.0.live, &path, options, &self.0.properties.limits)
    }

    /// Reads a part of one line of a text file, which may be longer than a page.
    pub fn read_line(&self, path: &str, options: &LineOptions) -> Result<LinePart> {
        let path = self.parse(Operation::Read, path)?;
        ops::read_line(&*self.0.live, &path, options, &self.0.properties.limits)
    }

    /// Reads the first bytes of a file.
    pub fn read_bytes(&self, path: &str) -> Result<BytePage> {
        self.read_bytes_with(path, &ReadOptions::default())
    }

    /// Reads a range of a file's bytes.
    pub fn read_bytes_with(&self, path: &str, options: &ReadOptions) -> Result<BytePage> {
        let path = self.parse(Operation::Read, path)?;
        ops::read_bytes(&*self.0.live, &path, options, &self.0.properties.limits)
    }

    /// Opens a file for reading in bounded memory, whatever its size.
    pub fn open(&self, path: &str) -> Result<Content> {
        self.0.live.open(&self.parse(Operation::Read, path)?)
    }

    /// Returns the target of a symbolic link, byte for byte.
    pub fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.0.live.read_link(&self.parse(Operation::Read, path)?)
    }

    /// Returns what is known of an entry.
    pub fn stat(&self, path: &str) -> Result<Stat> {
        self.0.live.stat(&self.parse(Operation::Stat, path)?)
    }

    /// Returns the hash of a file's content.
    pub fn content_hash(&self, path: &str) -> Result<ContentHash> {
        ops::content_hash(&*self.0.live, &self.parse(Operation::Read, path)?)
    }

    /// Lists a directory; `""` is the root.
    pub fn list(&self, path: &str) -> Result<Vec<Listed>> {
        self.list_with(path, &ListOptions::default())
    }

    /// Lists a directory, with as much as is wanted of each entry.
    pub fn list_with(&self, path: &str, options: &ListOptions) -> Result<Vec<Listed>> {
        ops::list(&*self.0.live, &self.parse(Operation::List, path)?, options)
    }

    /// Finds the files and links below a directory whose path matches; see [`search`].
    pub fn glob(&self, pattern: &str, base: &str) -> Result<GlobResult> {
        self.glob_with(pattern, base, &GlobOptions::default())
    }

    /// Finds files and links by their path, with options.
    pub fn glob_with(
        &self,
        pattern: &str,
        base: &str,
        options: &GlobOptions,
    ) -> Result<GlobResult> {
        let base = self.parse(Operation::Glob, base)?;
        search::glob(&*self.0.live, pattern, &base, options, &self.0.properties.limits)
    }

    /// Finds the lines below a directory that match a regular expression; see [`search`].
    pub fn grep(&self, pattern: &str, base: &str, options: &GrepOptions) -> Result<GrepResult> {
        let base = self.parse(Operation::Grep, base)?;
        search::grep(&*self.0.live, pattern, &base, options, &self.0.properties.limits)
    }

    /// Returns whether something is there; a path that is invalid or leaves the workspace is not.
    pub fn exists(&self, path: &str) -> bool {
        self.path(path).is_ok_and(|path| ops::exists(&*self.0.live, &path))
    }

    /// Returns whether a file is there.
    pub fn is_file(&self, path: &str) -> bool {
        self.path(path).is_ok_and(|path| ops::is_file(&*self.0.live, &path))
    }

    /// Returns whether a directory is there.
    pub fn is_dir(&self, path: &str) -> bool {
        self.path(path).is_ok_and(|path| ops::is_dir(&*self.0.live, &path))
    }
}
