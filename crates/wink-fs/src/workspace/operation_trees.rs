//! What an operation changed, as it was before and after.

use std::fmt;
use std::sync::Arc;

use super::Workspace;
use super::history::History;
use crate::content::Content;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::operation::{Left, OperationChange, OperationRecord};
use crate::path::{Name, TreePath};
use crate::tree::{Entry, Kind, Stat, Tree};
use crate::tree_hash::TreeHash;

/// Holds what was at the paths of an operation before it and after it; see
/// [`Workspace::operation_trees`].
///
/// ```
/// use wink_fs::{DiffOptions, Scope, Workspace, diff};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "one\n")?;
/// files.write("a.txt", "two\n")?;
/// files.write("a.txt", "three\n")?;
/// let trees = files.operation_trees(2)?;
/// let options = DiffOptions::default().hunks(true).scope(Scope::paths(trees.paths.clone()));
/// let changed = diff(&*trees.before, &*trees.after, &options)?;
/// let lines = &changed.modified[0].hunks.as_ref().unwrap()[0].lines;
/// assert_eq!(lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["one\n", "two\n"]);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct OperationTrees {
    /// What the operation was.
    pub operation: OperationRecord,
    /// The paths that can be compared.
    pub paths: Vec<TreePath>,
    /// What was there before, at those paths.
    pub before: Arc<dyn Tree>,
    /// What was there after, at those paths.
    pub after: Arc<dyn Tree>,
    /// The paths of which nobody knows any more what the operation left there: it was changed since by other
    /// programs.
    pub unknown: Vec<TreePath>,
}

impl fmt::Debug for OperationTrees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, paths, unknown, .. } = self;
        f.debug_struct("OperationTrees")
            .field("operation", operation)
            .field("paths", paths)
            .field("unknown", unknown)
            .finish_non_exhaustive()
    }
}

impl Workspace {
    /// Finds what an operation changed, as it was before and after, whatever came later; an operation that is not
    /// kept any more is NotFound.
    ///
    /// What it left is looked for in what later operations kept before they changed it, and in the files of now.
    pub fn operation_trees(&self, sequence: u64) -> Result<OperationTrees> {
        let history = self.history(Operation::Diff)?;
        let operations = history.ledger.list()?;
        let at = operations.iter().position(|it| it.sequence == sequence);
        let at = at.ok_or_else(|| not_kept(sequence))?;
        let operation = operations[at].clone();
        let (mut pieces, mut unknown) = (Vec::new(), Vec::new());
        for change in &operation.changes {
            match self.left_by(history, change, &operations[at + 1..])? {
                Some(tree) => pieces.push((change.path.clone(), tree)),
                None => unknown.push(change.path.clone()),
            }
        }
        let before = history.before(&operation)?;
        let paths = pieces.iter().map(|(path, _)| path.clone()).collect();
        Ok(OperationTrees { operation, paths, before, after: Arc::new(Pieced(pieces)), unknown })
    }

    /// Finds a tree that has what an operation left at a path.
    fn left_by(
        &self,
        history: &History,
        change: &OperationChange,
        later: &[OperationRecord],
    ) -> Result<Option<Arc<dyn Tree>>> {
        let touches = |it: &OperationChange| {
            it.path.starts_with(&change.path) || change.path.starts_with(&it.path)
        };
        let next = later.iter().find(|it| it.changes.iter().any(touches));
        // What cannot be looked at any more is as good as not there.
        let next = next.and_then(|next| history.before(next).ok());
        for tree in next.into_iter().chain([self.tree()]) {
            if Left::at(&*tree, &change.path).is_ok_and(|left| left == change.left) {
                return Ok(Some(tree));
            }
        }
        Ok(None)
    }
}

fn not_kept(sequence: u64) -> Error {
    Error::new(Operation::Diff, ErrorKind::NotFound).with_detail(format!(
        "no operation {sequence} is kept; list the operations to see which are"
    ))
}

/// Some paths, with all that is below them, each of another tree.
struct Pieced(Vec<(TreePath, Arc<dyn Tree>)>);

impl Pieced {
    fn at(&self, operation: Operation, path: &TreePath) -> Result<&dyn Tree> {
        let found = self.0.iter().find(|(piece, _)| path.starts_with(piece));
        let missing = || Error::new(operation, ErrorKind::NotFound).with_path(path);
        found.map(|(_, tree)| &**tree).ok_or_else(missing)
    }

    /// Returns what is in a directory above pieces, or nothing where a path is none.
    fn entries_above(&self, path: &TreePath) -> Option<Vec<Entry>> {
        let is_below = |piece: &TreePath| piece.starts_with(path) && piece != path;
        let below: Vec<_> = self.0.iter().filter(|(piece, _)| is_below(piece)).collect();
        let entry = |(piece, tree): &&(TreePath, Arc<dyn Tree>)| {
            let name = Name::from_segment(piece.segments().nth(path.depth())?);
            match piece.depth() == path.depth() + 1 {
                true => Some(Entry::new(name, tree.stat(piece).ok()?.kind)),
                false => Some(Entry::new(name, Kind::Directory)),
            }
        };
        let mut entries: Vec<_> = below.iter().filter_map(entry).collect();
        entries.dedup_by(|a, b| a.name == b.name);
        (path.is_root() || !below.is_empty()).then_some(entries)
    }
}

impl Tree for Pieced {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        match self.entries_above(path) {
            Some(_) => Ok(Stat::new(Kind::Directory, 0)),
            None => self.at(Operation::Stat, path)?.stat(path),
        }
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        match self.entries_above(path) {
            Some(entries) => Ok(entries),
            None => self.at(Operation::List, path)?.list(path),
        }
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.at(Operation::Read, path)?.open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.at(Operation::Read, path)?.read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.at(Operation::Stat, path).ok()?.known_hash(path)
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        self.at(Operation::Stat, path).ok()?.known_tree_hash(path)
    }
}
