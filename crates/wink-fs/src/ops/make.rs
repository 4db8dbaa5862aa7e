//! Directories made on the way, and entries moved.

use crate::error::{ErrorKind, Operation, Result};
use crate::filesystem::{Filesystem, Recursion, Replacement};
use crate::path::TreePath;

use super::look;

/// Says how a directory is made.
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
    /// Whether missing parents are made too.
    pub parents: bool,
    /// Whether a directory that is there already will do.
    pub exist_ok: bool,
}

impl MkdirOptions {
    /// Sets whether missing parents are made too.
    #[must_use]
    pub fn parents(mut self, parents: bool) -> Self {
        self.parents = parents;
        self
    }

    /// Sets whether a directory that is there already will do.
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

/// Says how an entry gets to its new place.
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
    /// Whether what is at the new place may be replaced.
    pub replacement: Replacement,
    /// Whether missing parents of the new place are made.
    pub create_parents: bool,
}

impl MoveOptions {
    /// Sets whether what is at the new place may be replaced.
    #[must_use]
    pub fn replace(mut self, replace: bool) -> Self {
        self.replacement = if replace { Replacement::Replace } else { Replacement::Refuse };
        self
    }

    /// Sets whether missing parents of the new place are made.
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

/// Makes a directory and returns whether it was not there before.
///
/// Where it fails, the parents made on the way are taken away again, unless that fails too.
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

/// Moves an entry within the workspace, with all that is below it.
///
/// Where it fails, the parents made on the way are taken away again, unless that fails too.
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
    // It is not known yet which of the two is missing.
    fs.stat(from).map_err(|error| error.during(Operation::Rename))?;
    after_making_parents(fs, to, |fs| fs.rename(from, to, options.replacement))
        .map_err(|error| error.during(Operation::Rename))
}

/// Does something that needs the parents of `path`, making them where they are missing.
pub(super) fn with_parents<T>(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    make: bool,
    mut action: impl FnMut(&mut dyn Filesystem) -> Result<T>,
) -> Result<T> {
    match action(fs) {
        Err(error) if make && error.kind() == ErrorKind::NotFound => {}
        result => return result,
    }
    after_making_parents(fs, path, action)
}

/// Makes the missing parents of `path` and then does something that needs them.
///
/// Where it fails, the parents it made are taken away again; one that cannot be taken away, because the
/// backend fails once more, stays.
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
    for directory in made.iter().rev() {
        // Another process may have put something in the directory meanwhile; then it is not empty, and stays.
        let _ = fs.remove(directory, Recursion::OnlyEmpty);
    }
}
