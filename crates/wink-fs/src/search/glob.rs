//! Finds files by name.

use parking_lot::Mutex;

use super::pattern::PathPattern;
use super::stop::Stop;
use super::walk::{Skipped, Walk};
use crate::error::{Operation, Result};
use crate::limits::Limits;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// Options of a search for files.
///
/// ```
/// use wink_fs::search::GlobOptions;
/// use wink_fs::Workspace;
///
/// let files = Workspace::memory();
/// files.write(".gitignore", "target/\n")?;
/// files.write("target/a.rs", "")?;
/// files.write("b.rs", "")?;
/// let found = files.glob_with("*.rs", "", &GlobOptions::default().ignore_files(true))?;
/// assert_eq!((found.paths.len(), found.skipped.ignored), (1, 1));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GlobOptions {
    /// Whether `.gitignore` and `.ignore` hide files.
    pub ignore_files: bool,
    /// Whether directories named `.git` are skipped, unless the base or the pattern of the paths names one.
    pub skip_git: bool,
    /// When to stop.
    pub stop: Stop,
}

impl GlobOptions {
    /// Sets whether `.gitignore` and `.ignore` hide files.
    #[must_use]
    pub fn ignore_files(mut self, ignore_files: bool) -> Self {
        self.ignore_files = ignore_files;
        self
    }

    /// Sets whether directories named `.git` are skipped.
    #[must_use]
    pub fn skip_git(mut self, skip_git: bool) -> Self {
        self.skip_git = skip_git;
        self
    }

    /// Sets when to stop.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }
}

/// The files found, in order.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write("a/b.py", "")?;
/// let found = files.glob("*.py", "")?;
/// assert_eq!(found.paths[0].to_string(), "a/b.py");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct GlobResult {
    /// The matching files and links, sorted by path.
    pub paths: Vec<TreePath>,
    /// What was skipped.
    pub skipped: Skipped,
}

/// Finds files and links below `base` by their path.
pub fn glob(
    tree: &dyn Tree,
    pattern: &str,
    base: &TreePath,
    options: &GlobOptions,
    limits: &Limits,
) -> Result<GlobResult> {
    let pattern = PathPattern::parse_in(tree, base, pattern, limits)?;
    let found = Mutex::new(Vec::new());
    let visit = |path: TreePath, kind: Kind| {
        if kind != Kind::Other && pattern.matches_bytes(relative(&path, base)) {
            found.lock().push(path);
        }
    };
    let mut walk = Walk::new(tree, Operation::Glob, &options.stop, &visit);
    walk.ignore_files = options.ignore_files;
    if options.skip_git {
        walk.skip_git(base, Some(&pattern));
    }
    let skipped = walk.run(base)?;
    let mut paths = found.into_inner();
    paths.sort_unstable();
    Ok(GlobResult { paths, skipped })
}

/// Returns the part of a path below the base; for the base itself, its name.
pub(super) fn relative<'p>(path: &'p TreePath, base: &TreePath) -> &'p [u8] {
    let bytes = path.as_bytes();
    match bytes.get(base.as_bytes().len()..) {
        Some([b'/', rest @ ..]) => rest,
        Some([]) => path.split().map_or(bytes, |(_, name)| name),
        _ => bytes,
    }
}
