//! Makes directories, and moves entries.

use crate::error::{ErrorKind, Operation, Result};
use crate::filesystem::{Filesystem, Recursion, Replacement};
use crate::path::TreePath;

use super::look;

/// Options of making a directory.
///
/// ```
/// use wink_fs::{ErrorKind, MkdirOptions, Workspace};
///
/// let files = Workspace::memory();
/// files.mkdir("a/b")?;
/// let strict = MkdirOptions::default().exist_ok(false);
/// assert_eq!(files.mkdir_with("a/b", &strict).unwrap_err().kind(), ErrorKind::AlreadyExists);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MkdirOptions {
    /// Whether to make missing parents too.
    pub parents: bool,
    /// Whether an existing directory is accepted.
    pub exist_ok: bool,
}

impl MkdirOptions {
    /// Sets whether to make missing parents too.
    #[must_use]
    pub fn parents(mut self, parents: bool) -> Self {
        self.parents = parents;
        self
    }

    /// Sets whether an existing directory is accepted.
    #[must_use]
    pub fn exist_ok(mut self, exist_ok: bool) -> Self {
        self.exist_ok = exist_ok;
        self
    }
}

impl Default for MkdirOptions {
    fn default() -> Self {
        Self { parents: true, exist_ok: true }
    }
}

/// Options of a move.
///
/// ```
/// use wink_fs::{ErrorKind, MoveOptions, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a", "1")?;
/// files.write("b", "2")?;
/// assert_eq!(files.rename("a", "b").unwrap_err().kind(), ErrorKind::AlreadyExists);
/// files.rename_with("a", "b", &MoveOptions::default().replace(true))?;
/// assert_eq!(files.read("b")?.content, "1");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MoveOptions {
    /// Whether an entry at the new path may be replaced.
    pub replacement: Replacement,
    /// Whether to make missing parents of the new path.
    pub create_parents: bool,
}

impl MoveOptions {
    /// Sets whether an entry at the new path may be replaced.
    #[must_use]
    pub fn replace(mut self, replace: bool) -> Self {
        self.replacement = if replace { Replacement::Replace } else { Replacement::Refuse };
        self
    }

    /// Sets whether to make missing parents of the new path.
    #[must_use]
    pub fn create_parents(mut self, create_parents: bool) -> Self {
        self.create_parents = create_parents;
        self
    }
}

impl Default for MoveOptions {
    fn default() -> Self {
        Self { replacement: Replacement::Refuse, create_parents: true }
    }
}

/// Makes a directory, and returns whether it is new.
///
/// On failure new parents are removed again, unless that fails too.
pub fn mkdir(fs: &mut dyn Filesystem, path: &TreePath, options: &MkdirOptions) -> Result<bool> {
    match with_parents(fs, path, options.parents, |fs| fs.create_dir(path)) {
        Ok(()) => Ok(true),
        Err(error) if options.exist_ok && error.kind() == ErrorKind::AlreadyExists => {
            if look::is_dir(fs, path) {
                Ok(false)
            } else {
                Err(error)
            }
        }
        Err(error) => Err(error),
    }
}

/// Moves an entry and everything below it within the workspace.
///
/// On failure new parents are removed again, unless that fails too.
pub fn rename(
    fs: &mut dyn Filesystem,
    from: &TreePath,
    to: &TreePath,
    options: &MoveOptions,
) -> Result<()> {
    match fs.rename(from, to, options.replacement) {
        Err(error) if error.kind() == ErrorKind::NotFound && options.create_parents => {}
        result => return result,
    }
    // Either path may be the missing one: check the source.
    fs.stat(from).map_err(|error| error.during(Operation::Rename))?;
    after_making_parents(fs, to, |fs| fs.rename(from, to, options.replacement))
        .map_err(|error| error.during(Operation::Rename))
}

/// Runs something that needs the parents of `path`, making them if they are missing.
pub(super) fn with_parents<T>(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    make: bool,
    mut action: impl FnMut(&mut dyn Filesystem) -> Result<T>,
) -> Result<T> {
    // First without making parents, which usually exist: one system call instead of one for each directory.
    match action(fs) {
        Err(error) if make && error.kind() == ErrorKind::NotFound => {}
        result => return result,
    }
    after_making_parents(fs, path, action)
}

/// Makes the missing parents of `path`, and then runs something that needs them.
///
/// On failure the new parents are removed again; one that cannot be removed stays.
fn after_making_parents<T>(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    action: impl FnOnce(&mut dyn Filesystem) -> Result<T>,
) -> Result<T> {
    let mut made = Vec::new();
    make_parents(fs, path, &mut made).and_then(|()| action(fs)).inspect_err(|_| unmake(fs, &made))
}

fn make_parents(fs: &mut dyn Filesystem, path: &TreePath, made: &mut Vec<TreePath>) -> Result<()> {
    for parent in path.ancestors() {
        match fs.create_dir(&parent) {
            Ok(()) => made.push(parent),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn unmake(fs: &mut dyn Filesystem, made: &[TreePath]) {
    // Children before parents.
    for directory in made.iter().rev() {
        // Another process may have put something into the directory; then it is not empty, and stays.
        let _ = fs.remove(directory, Recursion::OnlyEmpty);
    }
}
