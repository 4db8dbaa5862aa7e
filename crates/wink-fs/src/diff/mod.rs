//! Compares two trees, for users and programs.

mod hunk;
pub(crate) mod rename;

use crate::error::Result;
use crate::filesystem::capture::NotCaptured;
use crate::path::TreePath;
use crate::snapshot::Skipped;
use crate::tree::compare::{Difference, compare, count_files, count_in_scope};
use crate::tree::descend;
use crate::tree::scope::Scope;
use crate::tree::{Kind, Tree};

pub use hunk::{DiffLine, Hunk, LineChange};
pub use rename::Renamed;

/// Options of a comparison.
///
/// ```
/// let options = wink_fs::DiffOptions::default().renames(true).hunks(true);
/// assert!(options.renames && options.hunks);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DiffOptions {
    /// Whether a deleted and an added file of the same content are reported as a rename.
    pub renames: bool,
    /// Whether changed lines are reported.
    pub hunks: bool,
    /// The part of the trees to compare.
    pub scope: Scope,
}

impl DiffOptions {
    /// Sets whether renames are reported.
    #[must_use]
    pub fn renames(mut self, renames: bool) -> Self {
        self.renames = renames;
        self
    }

    /// Sets whether changed lines are reported.
    #[must_use]
    pub fn hunks(mut self, hunks: bool) -> Self {
        self.hunks = hunks;
        self
    }

    /// Sets the part of the trees to compare.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }
}

/// The differences between two trees, each list sorted by path.
///
/// Only files, links and empty directories are listed.
///
/// ```
/// use wink_fs::{StateRef, Workspace};
///
/// let files = Workspace::memory();
/// files.write("kept.txt", "")?;
/// files.write("old.txt", "")?;
/// let before = files.snapshot("before")?;
/// files.delete("old.txt")?;
/// files.write("new.txt", "")?;
///
/// let diff = files.diff(&before, StateRef::Live)?;
/// assert_eq!(diff.added[0].path.to_string(), "new.txt");
/// assert_eq!(diff.deleted[0].path.to_string(), "old.txt");
/// assert_eq!((diff.modified.len(), diff.unchanged_count), (0, 1));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Diff {
    /// Entries in the second tree only.
    pub added: Vec<Changed>,
    /// Entries in both that differ; a directory if only its mode does.
    pub modified: Vec<Changed>,
    /// Entries in the first tree only.
    pub deleted: Vec<Changed>,
    /// Renames, if asked for; they are neither added nor deleted then.
    pub renamed: Vec<Renamed>,
    /// The number of files and links that are equal in both.
    pub unchanged_count: u64,
    /// Entries that could not be captured, such as a FIFO, and were not compared.
    pub not_captured: Vec<NotCaptured>,
    /// What one of the states should hold and does not, so that it was not compared; nothing between two trees.
    pub missing: Vec<Skipped>,
}

impl Diff {
    /// Returns whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty()
            && self.modified.is_empty()
            && self.deleted.is_empty()
            && self.renamed.is_empty()
    }
}

/// An entry that differs.
///
/// ```
/// use wink_fs::{StateRef, DiffOptions, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "one\ntwo\n")?;
/// let before = files.snapshot("before")?;
/// files.write("a.txt", "one\n2\n")?;
/// let diff = files.diff_with(&before, StateRef::Live, &DiffOptions::default().hunks(true))?;
/// let hunks = diff.modified[0].hunks.as_ref().unwrap();
/// assert_eq!(hunks[0].to_string(), "@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Changed {
    /// Its path.
    pub path: TreePath,
    /// What it is in the first tree.
    pub before: Option<Kind>,
    /// What it is in the second tree.
    pub after: Option<Kind>,
    /// The changed lines, if asked for and both sides are text.
    pub hunks: Option<Vec<Hunk>>,
}

/// Compares two trees.
///
/// ```
/// use wink_fs::{DiffOptions, MemoryBackend, diff};
///
/// let (a, b) = (MemoryBackend::new(), MemoryBackend::new());
/// assert!(diff(&a, &b, &DiffOptions::default())?.is_empty());
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub fn diff(before: &dyn Tree, after: &dyn Tree, options: &DiffOptions) -> Result<Diff> {
    let files = count_files(after, &TreePath::root(), Some(Kind::Directory))?;
    diff_of(before, after, files, options)
}

/// Compares two trees; the second has `files` files and links.
pub(crate) fn diff_of(
    before: &dyn Tree,
    after: &dyn Tree,
    files: u64,
    options: &DiffOptions,
) -> Result<Diff> {
    let mut diff = Diff::default();
    for difference in compare(before, after, &options.scope)? {
        diff.add(before, after, &difference)?;
    }
    let is_file = |changed: &&Changed| changed.after.is_some_and(|kind| kind != Kind::Directory);
    let new = diff.added.iter().chain(&diff.modified).filter(is_file).count() as u64;
    let in_scope = count_in_scope(after, files, &options.scope)?;
    diff.unchanged_count = in_scope.saturating_sub(new);
    if options.renames {
        rename::find(&mut diff, before, after)?;
    }
    if options.hunks {
        hunk::find(&mut diff, before, after)?;
    }
    Ok(diff)
}

impl Diff {
    fn add(&mut self, before: &dyn Tree, after: &dyn Tree, it: &Difference) -> Result<()> {
        let is_directory = |kind: Option<Kind>| kind == Some(Kind::Directory);
        let is_entry = !is_directory(it.before) && !is_directory(it.after);
        if is_entry || it.directory_mode().is_some() {
            let changed = Changed::new(it.path.clone(), it.before, it.after);
            self.list(it.before, it.after).push(changed);
            return Ok(());
        }
        // A directory on one side or both stands for several entries.
        spread(before, &it.path, it.before, &mut |path, kind| {
            self.deleted.push(Changed::new(path, Some(kind), None));
        })?;
        spread(after, &it.path, it.after, &mut |path, kind| {
            self.added.push(Changed::new(path, None, Some(kind)));
        })
    }

    fn list(&mut self, before: Option<Kind>, after: Option<Kind>) -> &mut Vec<Changed> {
        match (before, after) {
            (None, _) => &mut self.added,
            (_, None) => &mut self.deleted,
            _ => &mut self.modified,
        }
    }
}

impl Changed {
    fn new(path: TreePath, before: Option<Kind>, after: Option<Kind>) -> Self {
        Self { path, before, after, hunks: None }
    }
}

/// Visits the files, links and empty directories of an entry.
fn spread(
    tree: &dyn Tree,
    path: &TreePath,
    kind: Option<Kind>,
    visit: &mut dyn FnMut(TreePath, Kind),
) -> Result<()> {
    let Some(kind) = kind else { return Ok(()) };
    let children = if kind == Kind::Directory { tree.list(path)? } else { Vec::new() };
    if children.is_empty() {
        visit(path.clone(), kind);
    }
    children.iter().try_for_each(|child| {
        let path = path.join(&child.name)?;
        descend(|| spread(tree, &path, Some(child.kind), visit))
    })
}
