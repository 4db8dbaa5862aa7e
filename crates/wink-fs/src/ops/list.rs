//! Directory listings.

use crate::error::{ErrorKind, Result};
use crate::path::TreePath;
use crate::tree::{Entry, Kind, Tree};

/// Options of a listing.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write("a.txt", "hello")?;
/// let listed = files.list_with("", &wink_fs::ListOptions::default().sizes(true))?;
/// assert_eq!(listed[0].size_bytes, Some(5));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// Whether to return sizes, which costs a stat of every file.
    pub sizes: bool,
}

impl ListOptions {
    /// Sets whether to return sizes.
    #[must_use]
    pub fn sizes(mut self, sizes: bool) -> Self {
        self.sizes = sizes;
        self
    }
}

/// One line of a listing.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write("a/b.txt", "")?;
/// let listed = files.list("a")?;
/// assert_eq!((listed[0].name.as_str(), listed[0].path.to_string()), ("b.txt", "a/b.txt".into()));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Listed {
    /// Its name as text.
    pub name: String,
    /// Its path in the workspace.
    pub path: TreePath,
    /// What it is.
    pub kind: Kind,
    /// A link's target, byte for byte.
    pub target: Option<Vec<u8>>,
    /// A file's size, if asked for.
    pub size_bytes: Option<u64>,
}

/// Lists the direct children of a directory, sorted bytewise by name.
pub fn list(tree: &dyn Tree, path: &TreePath, options: &ListOptions) -> Result<Vec<Listed>> {
    let entries = tree.list(path)?;
    entries.iter().map(|entry| describe(tree, path.join(&entry.name)?, entry, options)).collect()
}

fn describe(
    tree: &dyn Tree,
    path: TreePath,
    entry: &Entry,
    options: &ListOptions,
) -> Result<Listed> {
    let target = match entry.kind {
        Kind::Symlink => unless_gone(tree.read_link(&path))?,
        _ => None,
    };
    let size_bytes = match entry.kind {
        Kind::File if options.sizes => unless_gone(tree.stat(&path))?.map(|stat| stat.size_bytes),
        _ => None,
    };
    Ok(Listed { name: entry.name.to_string(), path, kind: entry.kind, target, size_bytes })
}

/// Treats an entry that was removed meanwhile, or may not be accessed, as one without details.
fn unless_gone<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_about_the_entry(error.kind()) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_about_the_entry(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidArgument, NotFound, PermissionDenied};
    matches!(kind, NotFound | InvalidArgument | PermissionDenied)
}
