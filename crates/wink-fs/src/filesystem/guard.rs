//! Limits and read-only, around any backend.

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Properties;
use crate::filesystem::layer::{Call, Layer};
use crate::limits::Limits;
use crate::path::{MountPoint, TreePath};
use crate::tree::{Kind, Tree};

/// Keeps what an agent creates within [`Limits`], or refuses every change.
///
/// How much content one call may supply is checked where the call is made
/// ([`ops::write`](crate::ops::write)), by the limits this layer announces.
///
/// ```
/// use wink_fs::{ops, ErrorKind, Guard, Layered, Limits, MemoryBackend, TreePath, WriteOptions};
///
/// let mut files = Layered::new(MemoryBackend::new(), Guard::new(Limits::default()));
/// let deep = TreePath::parse(&"d/".repeat(17))?;
/// let error = ops::write(&mut files, &deep, "", &WriteOptions::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::TooLarge);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Guard {
    limits: Limits,
    read_only: bool,
    mount_point: Option<MountPoint>,
}

impl Guard {
    /// Makes a guard that enforces limits.
    pub fn new(limits: Limits) -> Self {
        Self { limits, read_only: false, mount_point: None }
    }

    /// Sets other limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets whether every change is refused.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Sets the absolute prefix that an agent may use, instead of the backend's own.
    #[must_use]
    pub fn mount_point(mut self, mount_point: MountPoint) -> Self {
        self.mount_point = Some(mount_point);
        self
    }

    /// Refuses a move after which something below the directory would exceed a limit.
    fn check_moved(&self, tree: &dyn Tree, from: &TreePath, to: &TreePath) -> Result<()> {
        let mut directories = vec![from.clone()];
        while let Some(directory) = directories.pop() {
            for entry in tree.list(&directory).unwrap_or_default() {
                let path = directory.join(&entry.name)?;
                let moved = path.rebase(from, to).transpose()?.unwrap_or_else(|| path.clone());
                if let Some((kind, why)) = self.excess(&moved) {
                    return Err(Error::new(Operation::Rename, kind).with_path(to).with_detail(why));
                }
                if entry.kind == Kind::Directory {
                    directories.push(path);
                }
            }
        }
        Ok(())
    }

    fn check_created(&self, tree: &dyn Tree, path: &TreePath, operation: Operation) -> Result<()> {
        match self.excess(path) {
            // An existing entry may be changed, no matter which program created it.
            Some((kind, why)) if tree.stat(path).is_err() => {
                Err(Error::new(operation, kind).with_path(path).with_detail(why))
            }
            _ => Ok(()),
        }
    }

    /// Returns the limit that a path exceeds.
    fn excess(&self, path: &TreePath) -> Option<(ErrorKind, String)> {
        let Limits { max_depth, max_segment, ascii_only, plain_names, .. } = self.limits;
        if let Some(max) = max_depth.filter(|max| path.depth() > *max) {
            let depth = path.depth();
            let why = format!(
                "the path has {depth} segments and at most {max} are allowed (limit max_depth); \
                 choose a shallower one"
            );
            return Some((ErrorKind::TooLarge, why));
        }
        let too_long = |max| Some((too_long_segment(path, max)?, max));
        if let Some((longest, max)) = max_segment.and_then(too_long) {
            let why = format!(
                "a segment of the path has {longest} characters and at most {max} are allowed \
                 (limit max_segment); choose a shorter name"
            );
            return Some((ErrorKind::TooLarge, why));
        }
        if plain_names && path.is_escaped() {
            let why = "a new name cannot have characters that must be escaped \
                       (limit plain_names); choose a plain one";
            return Some((ErrorKind::InvalidPath, why.into()));
        }
        (ascii_only && !path.as_bytes().is_ascii()).then(|| {
            let why = "only ASCII is allowed in new paths (limit ascii_only); choose another name";
            (ErrorKind::InvalidPath, why.into())
        })
    }
}

/// Returns the length of the longest segment in characters, if it is too long.
fn too_long_segment(path: &TreePath, max: usize) -> Option<usize> {
    // A character has at least one byte.
    if path.as_bytes().len() <= max {
        return None;
    }
    let characters = |segment| String::from_utf8_lossy(segment).chars().count();
    path.segments().map(characters).max().filter(|longest| *longest > max)
}

impl Layer for Guard {
    fn before(&self, tree: &dyn Tree, call: &Call<'_>) -> Result<()> {
        if self.read_only && call.is_change() {
            return Err(call.refused(ErrorKind::ReadOnly));
        }
        if let Call::Rename { from, to, .. } = call {
            self.check_moved(tree, from, to)?;
        }
        match call.created_path() {
            Some(path) => self.check_created(tree, path, call.operation()),
            None => Ok(()),
        }
    }

    fn properties(&self, inner: &Properties) -> Properties {
        let mut properties = inner.clone();
        properties.limits = self.limits.clone();
        properties.read_only |= self.read_only;
        if self.mount_point.is_some() {
            properties.mount_point.clone_from(&self.mount_point);
        }
        properties
    }
}
