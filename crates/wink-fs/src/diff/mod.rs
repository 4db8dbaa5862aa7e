//! What is different between two trees, for people and programs.

mod hunk;
pub(crate) mod moved;
mod rename;

use crate::error::Result;
use crate::filesystem::capture::NotCaptured;
use crate::path::TreePath;
use crate::tree::compare::{Difference, compare, count_files, count_in_scope};
use crate::tree::descend::descend;
use crate::tree::scope::Scope;
use crate::tree::{Kind, Tree};

pub use hunk::{DiffLine, Hunk, LineChange};
pub use rename::Renamed;

/// Says how much a comparison tells.
///
/// ```
/// let options = wink_fs::DiffOptions::default().renames(true).hunks(true);
/// assert!(options.renames && options.hunks);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DiffOptions {
    /// Whether a file that went and one that came with the same content are told as one that moved.
    pub renames: bool,
    /// Whether the lines that changed are told.
    pub hunks: bool,
    /// Which part of the trees is compared.
    pub scope: Scope,
}

impl DiffOptions {
    /// Sets whether moved files are told as such.
    #[must_use]
    pub fn renames(mut self, renames: bool) -> Self {
        self.renames = renames;
        self
    }

    /// Sets whether the lines that changed are told.
    #[must_use]
    pub fn hunks(mut self, hunks: bool) -> Self {
        self.hunks = hunks;
        self
    }

    /// Sets which part of the trees is compared.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }
}

/// Holds what is different, each part in the order of paths.
///
/// Files and links are named; a directory is where it is empty, for otherwise what is in it says so.
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
    /// What is only in the second tree.
    pub added: Vec<Changed>,
    /// What is in both, but not the same.
    pub modified: Vec<Changed>,
    /// What is only in the first tree.
    pub deleted: Vec<Changed>,
    /// What moved, where that was asked for; it is then neither added nor deleted.
    pub renamed: Vec<Renamed>,
    /// How many files and links are the same in both.
    pub unchanged_count: u64,
    /// What of the files of now could not be captured, such as a FIFO, and so was not compared.
    pub not_captured: Vec<NotCaptured>,
}

impl Diff {
    /// Tells whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty()
            && self.modified.is_empty()
            && self.deleted.is_empty()
            && self.renamed.is_empty()
    }
}

/// Names an entry that is different.
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
    /// Where it is.
    pub path: TreePath,
    /// What it was in the first tree.
    pub before: Option<Kind>,
    /// What it is in the second tree.
    pub after: Option<Kind>,
    /// The lines that changed, where they were asked for and both sides are text.
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

/// Compares two trees, of which the second is known to have so many files and links.
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
        if !is_directory(it.before) && !is_directory(it.after) {
            let changed = Changed::new(it.path.clone(), it.before, it.after);
            self.list(it.before, it.after).push(changed);
            return Ok(());
        }
        // One side, or both, have more to say than one entry.
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

/// Visits the files and links of an entry, and the directories in it that are empty.
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
