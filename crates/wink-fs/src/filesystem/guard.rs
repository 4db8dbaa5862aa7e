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

    /// Refuses a move after which something below the directory would be deeper than the limit, and deeper than before.
    fn check_moved(&self, tree: &dyn Tree, from: &TreePath, to: &TreePath) -> Result<()> {
        let mut directories = vec![from.clone()];
        while let Some(directory) = directories.pop() {
            for entry in tree.list(&directory).unwrap_or_default() {
                let path = directory.join(&entry.name)?;
                let moved = path.rebase(from, to).transpose()?.unwrap_or_else(|| path.clone());
                if let Some(why) =
                    self.excess_depth(&moved).filter(|_| moved.depth() > path.depth())
                {
                    let refused = Error::new(Operation::Rename, ErrorKind::TooLarge);
                    return Err(refused.with_path(to).with_detail(why));
                }
                if entry.kind == Kind::Directory {
                    directories.push(path);
                }
            }
        }
        Ok(())
    }

    /// Checks the part of a path that is not there yet: what another program made is workable as it is.
    fn check_created(&self, tree: &dyn Tree, path: &TreePath, call: &Call<'_>) -> Result<()> {
        // Most paths are within the limits, and then nothing has to be looked at.
        if self.excess_depth(path).is_none() && self.excess_name(path).is_none() {
            return Ok(());
        }
        if tree.stat(path).is_ok() {
            return Ok(());
        }
        let parent = path.parent().unwrap_or_else(TreePath::root);
        let known = path.ancestors().take_while(|above| tree.stat(above).is_ok()).count();
        let is_workable = known == parent.depth() && self.may_be_in(tree, &parent, path, call);
        let depth = self.excess_depth(path).filter(|_| !is_workable);
        let new: Vec<&[u8]> = path.segments().skip(known).collect();
        let new = TreePath::from_disk(&new.join(&b'/'))?;
        let excess = depth.map(|why| (ErrorKind::TooLarge, why)).or_else(|| self.excess_name(&new));
        excess.map_or(Ok(()), |(kind, why)| {
            Err(Error::new(call.operation(), kind).with_path(path).with_detail(why))
        })
    }

    /// Returns whether a directory is deeper than the limit itself, so that files may be made in it; directories would make
    /// it deeper still, unless one only gets another name.
    fn may_be_in(
        &self,
        tree: &dyn Tree,
        parent: &TreePath,
        path: &TreePath,
        call: &Call<'_>,
    ) -> bool {
        let is_deep = self.limits.max_depth.is_some_and(|max| parent.depth() > max);
        match call {
            Call::Put { .. } | Call::Symlink { .. } => is_deep,
            Call::Rename { from, .. } => {
                let is_directory = tree.stat(from).is_ok_and(|stat| stat.kind == Kind::Directory);
                (is_deep && !is_directory) || path.depth() <= from.depth()
            }
            _ => false,
        }
    }

    /// Says that a path is too deep.
    fn excess_depth(&self, path: &TreePath) -> Option<String> {
        let max = self.limits.max_depth.filter(|max| path.depth() > *max)?;
        let depth = path.depth();
        Some(format!(
            "the path has {depth} segments and at most {max} are allowed (limit max_depth); choose a \
             shallower one"
        ))
    }

    /// Returns the limit of names that a path exceeds.
    fn excess_name(&self, path: &TreePath) -> Option<(ErrorKind, String)> {
        let Limits { max_segment, ascii_only, plain_names, .. } = self.limits;
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
            Some(path) => self.check_created(tree, path, call),
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
