//! What an operation changed, as it was before and after.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use super::History;
use super::state_ref::{Side, not_logged};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Backend as _;
use crate::hash::ContentHash;
use crate::memory::MemoryBackend;
use crate::oplog::{ContentId, OperationChange, OperationRecord};
use crate::path::{Name, TreePath};
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::{Entry, Kind, Stat, Tree};
use crate::workspace::Workspace;

/// The entries at the paths of an operation before and after it; see
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
    /// What was there after, at those paths; at those that are unknown, what is there now (nothing, if that is a FIFO,
    /// a socket or a device, or cannot be read).
    pub after: Arc<dyn Tree>,
    /// The paths of which it is not known any more what the operation left there: other programs changed that
    /// since.
    pub unknown: Vec<TreePath>,
    /// The paths of which it is not known any more what was there before: the snapshot that had it is deleted.
    pub forgotten: Vec<TreePath>,
}

impl fmt::Debug for OperationTrees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, paths, unknown, forgotten, .. } = self;
        f.debug_struct("OperationTrees")
            .field("operation", operation)
            .field("paths", paths)
            .field("unknown", unknown)
            .field("forgotten", forgotten)
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
        let operations = history.oplog.list()?;
        let at = operations.iter().position(|it| it.sequence == sequence);
        let at = at.ok_or_else(|| not_logged(sequence).during(Operation::Diff))?;
        let operation = operations[at].clone();
        let (mut pieces, mut unknown) = (BTreeMap::new(), Vec::new());
        let live = history.seen_by(&operation, self.tree());
        let then = history.looking_back(&operations[at + 1..], self.tree());
        let then = history.seen_by(&operation, then);
        for OperationChange { path, left, .. } in &operation.changes {
            let is_it =
                |tree: &&Arc<dyn Tree>| ContentId::at(&***tree, path).is_ok_and(|it| it == *left);
            match [&then, &live].into_iter().find(is_it) {
                Some(tree) => drop(pieces.insert(path.clone(), tree.clone())),
                None => {
                    unknown.push(path.clone());
                    let now = ContentId::at(&*live, path);
                    let is_comparable = matches!(now, Ok(None | Some(ContentId::Entry(_))));
                    // Whatever is there now, the pre-image is shown: a FIFO counts as nothing.
                    let shown =
                        if is_comparable { live.clone() } else { MemoryBackend::new().live() };
                    pieces.insert(path.clone(), shown);
                }
            }
        }
        let (before, forgotten) = if operation.changes.is_empty() {
            // One that was passed over kept nothing.
            (MemoryBackend::new().live(), Vec::new())
        } else {
            history.before_as_known(&operation, then.clone())?
        };
        pieces.retain(|path, _| !forgotten.contains(path));
        unknown.retain(|path| !forgotten.contains(path));
        let paths = pieces.keys().cloned().collect();
        let after = Arc::new(Pieced(pieces));
        Ok(OperationTrees { operation, paths, before, after, unknown, forgotten })
    }
}

impl History {
    /// Returns the files as they were before an operation, and the paths of which that is forgotten.
    ///
    /// The safety snapshot of an undo or a redo is deleted with the next replacement. What a program wrote into a file
    /// that such a step displaced is kept all the same, and is nowhere else.
    fn before_as_known(
        &self,
        operation: &OperationRecord,
        after: Arc<dyn Tree>,
    ) -> Result<(Arc<dyn Tree>, Vec<TreePath>)> {
        let error = match self.before(operation, after.clone()) {
            Err(error) if error.kind() == ErrorKind::SnapshotNotFound => error,
            before => return Ok((before?, Vec::new())),
        };
        let Some(written) = self.oplog.written(operation.sequence)? else { return Err(error) };
        let written_to: Vec<TreePath> = written.paths().cloned().collect();
        let changed = operation.changes.iter().map(|it| &it.path);
        let is_forgotten = |path: &&TreePath| !written_to.contains(path);
        let forgotten = changed.filter(is_forgotten).cloned().collect();
        Ok((Arc::new(written.before(after)), forgotten))
    }

    /// Puts the files before or after an operation together; `live` are those of now.
    pub(super) fn of_operation(
        &self,
        sequence: u64,
        side: Side,
        live: Arc<dyn Tree>,
    ) -> Result<Arc<dyn Tree>> {
        let operations = self.oplog.list()?;
        let at = operations.iter().position(|it| it.sequence == sequence);
        let at = at.ok_or_else(|| not_logged(sequence))?;
        let first = match side {
            Side::Before => at,
            Side::After => at + 1,
        };
        // Where one of them cannot be looked at, the state is not known: an error, not the files of another time.
        let later = operations[first..].iter().rev().filter(|next| !next.changes.is_empty());
        later.into_iter().try_fold(live, |after, next| self.before(next, after))
    }

    /// Returns the files as they were before some operations, oldest first, as far as that can be looked at.
    fn looking_back(&self, later: &[OperationRecord], live: Arc<dyn Tree>) -> Arc<dyn Tree> {
        later
            .iter()
            .rev()
            .filter(|next| !next.changes.is_empty())
            .fold(live, |after, next| self.before(next, after.clone()).unwrap_or(after))
    }
}

/// Some paths, with all that is below them, each of another tree.
struct Pieced(BTreeMap<TreePath, Arc<dyn Tree>>);

impl Pieced {
    fn at(&self, operation: Operation, path: &TreePath) -> Result<&dyn Tree> {
        let mut above = path.ancestors().chain([TreePath::root()]);
        let found = self.0.get(path).or_else(|| above.find_map(|it| self.0.get(&it)));
        let missing = || Error::new(operation, ErrorKind::NotFound).with_path(path);
        found.map(|tree| &**tree).ok_or_else(missing)
    }

    /// Returns the pieces that are below a path.
    fn below(&self, path: &TreePath) -> impl Iterator<Item = (&TreePath, &Arc<dyn Tree>)> {
        let after = self.0.range((Bound::Excluded(path), Bound::Unbounded));
        after.take_while(|(piece, _)| piece.starts_with(path))
    }

    fn is_above_pieces(&self, path: &TreePath) -> bool {
        (path.is_root() && !self.0.contains_key(path)) || self.below(path).next().is_some()
    }

    /// Returns what is in a directory above pieces.
    fn entries_above(&self, path: &TreePath) -> Vec<Entry> {
        let entry = |(piece, tree): (&TreePath, &Arc<dyn Tree>)| {
            let name = Name::from_segment(piece.segments().nth(path.depth())?);
            if piece.depth() == path.depth() + 1 {
                Some(Entry::new(name, tree.stat(piece).ok()?.kind))
            } else {
                Some(Entry::new(name, Kind::Directory))
            }
        };
        let mut entries: Vec<_> = self.below(path).filter_map(entry).collect();
        entries.dedup_by(|a, b| a.name == b.name);
        entries
    }
}

impl Tree for Pieced {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        if self.is_above_pieces(path) {
            Ok(Stat::new(Kind::Directory, 0))
        } else {
            self.at(Operation::Stat, path)?.stat(path)
        }
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        if self.is_above_pieces(path) {
            Ok(self.entries_above(path))
        } else {
            self.at(Operation::List, path)?.list(path)
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
