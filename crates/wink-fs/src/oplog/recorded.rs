//! The steps of an operation with their pre-images, and the files as they were before it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::step::Step;
use super::value::{OperationChange, OperationRecord};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::path::{Name, TreePath};
use crate::tree::compare::kind_at;
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::{Entry, FileMode, Kind, Stat, Tree};

/// A pre-image, in the tree that has it now.
#[derive(Clone)]
pub struct KeptEntry {
    /// The tree.
    pub tree: Arc<dyn Tree>,
    /// Its path there.
    pub at: TreePath,
}

impl std::fmt::Debug for KeptEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptEntry").field("at", &self.at).finish_non_exhaustive()
    }
}

/// Finds an operation's pre-images.
pub trait KeptEntries: Send + Sync {
    /// Returns the pre-image of a line, if its change displaced anything.
    fn entry(&self, line: usize) -> Result<Option<KeptEntry>>;
}

/// The steps of an operation, with their pre-images.
#[derive(Clone)]
pub(crate) struct Recorded {
    pub(crate) steps: Vec<(usize, Step)>,
    pub(crate) kept: Arc<dyn KeptEntries>,
    /// The paths of abandoned steps, last in the list, for which another program's work is kept.
    pub(crate) rescued: Vec<TreePath>,
}

impl Recorded {
    pub(crate) fn new(steps: Vec<(usize, Step)>, kept: Arc<dyn KeptEntries>) -> Self {
        Self { steps, kept, rescued: Vec::new() }
    }

    /// Adds abandoned steps for which another program's work is kept.
    pub(crate) fn and(mut self, rescued: Self) -> Self {
        self.rescued.extend(rescued.steps.iter().map(|(_, step)| step.path().clone()));
        self.steps.extend(rescued.steps);
        self
    }

    /// Makes the last put of each path expect the mode that the operation left too: a step does not know it.
    pub(crate) fn expecting_modes(mut self, changes: &[OperationChange]) -> Self {
        let left = changes.iter().filter_map(|it| Some((&it.path, it.left.as_ref()?)));
        let mut left: BTreeMap<_, _> = left.collect();
        for (_, step) in self.steps.iter_mut().rev() {
            let left: Vec<_> = step.paths().filter_map(|path| left.remove(path)).collect();
            if let (Step::Put { path, .. }, [left]) = (&*step, &left[..]) {
                *step = Step::Place { path: path.clone(), left: (*left).clone() };
            }
        }
        self
    }

    /// Returns whether any step was made and not abandoned.
    pub(crate) fn has_changes(&self) -> bool {
        self.steps.len() > self.rescued.len()
    }

    /// Returns a line's pre-image, if any.
    pub(crate) fn kept(&self, line: usize) -> Result<Option<KeptEntry>> {
        self.kept.entry(line)
    }

    /// Returns all changed paths.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &TreePath> {
        self.steps.iter().flat_map(|(_, step)| step.paths())
    }

    /// Treats a replacement as steps whose pre-images are in a snapshot.
    pub(crate) fn replacement(operation: &OperationRecord, saved: Arc<dyn Tree>) -> Self {
        let step = |change: &OperationChange| match &change.left {
            Some(left) => Step::Place { path: change.path.clone(), left: left.clone() },
            None => Step::Remove { path: change.path.clone() },
        };
        let steps = operation.changes.iter().map(step).enumerate().collect();
        let path = |it: &OperationChange| it.before.is_some().then(|| it.path.clone());
        let paths = operation.changes.iter().map(path).collect();
        Self::new(steps, Arc::new(Saved { saved, paths }))
    }

    /// Returns whether a path has no pre-image, because it moved or only its mode changed.
    pub(crate) fn has_moved(&self, path: &TreePath) -> bool {
        self.steps.iter().any(|(_, step)| match step {
            Step::Move { from, .. } => path.starts_with(from),
            Step::SetMode { path: at, .. } => at == path,
            _ => false,
        })
    }

    /// Returns the first pre-image of a path.
    pub(crate) fn first_kept(&self, path: &TreePath) -> Result<Option<KeptEntry>> {
        for (line, step) in self.steps.iter().filter(|(_, step)| path.starts_with(step.path())) {
            let Some(KeptEntry { tree, at }) = self.kept(*line)? else { continue };
            let inside = path.rebase(step.path(), &at).transpose()?;
            return Ok(inside.map(|at| KeptEntry { tree, at }));
        }
        Ok(None)
    }

    /// Returns its kind.
    pub(crate) fn displaced_kind(&self, path: &TreePath) -> Result<Option<Kind>> {
        match self.first_kept(path)? {
            Some(kept) => kind_at(&*kept.tree, &kept.at),
            None => Ok(None),
        }
    }

    /// Returns the files before the operation, given those after it.
    pub(crate) fn before(self, after: Arc<dyn Tree>) -> BeforeView {
        BeforeView { recorded: self, after }
    }
}

/// Pre-images in a snapshot.
struct Saved {
    saved: Arc<dyn Tree>,
    paths: Vec<Option<TreePath>>,
}

impl KeptEntries for Saved {
    fn entry(&self, line: usize) -> Result<Option<KeptEntry>> {
        let at = self.paths.get(line).cloned().flatten();
        Ok(at.map(|at| KeptEntry { tree: self.saved.clone(), at }))
    }
}

/// The files before an operation: those after it, with its changes reversed.
pub(crate) struct BeforeView {
    recorded: Recorded,
    after: Arc<dyn Tree>,
}

/// Where an entry from before the operation is now.
enum Place {
    Nowhere,
    Kept(KeptEntry),
    /// Among the files after it, maybe at another path.
    After(TreePath),
}

impl BeforeView {
    /// Follows a path from before the operation through its steps.
    fn place(&self, path: &TreePath) -> Result<Place> {
        let mut path = path.clone();
        for (line, step) in &self.recorded.steps {
            match step {
                // A mode is not content; `earlier_mode` follows it.
                Step::SetMode { .. } => {}
                Step::Move { from, to, .. } => match path.rebase(from, to) {
                    Some(moved) => path = moved?,
                    // What is there now came from elsewhere.
                    None if path.starts_with(to) => return Ok(Place::Nowhere),
                    None => {}
                },
                Step::Put { path: at, .. }
                | Step::Place { path: at, .. }
                | Step::MakeDir { path: at }
                | Step::Remove { path: at } => {
                    if path.starts_with(at) {
                        return self.displaced(*line, at, &path);
                    }
                }
            }
        }
        Ok(Place::After(path))
    }

    /// Returns the pre-image of a path, which may be inside a displaced directory.
    fn displaced(&self, line: usize, at: &TreePath, path: &TreePath) -> Result<Place> {
        let Some(KeptEntry { tree, at: kept }) = self.recorded.kept(line)? else {
            return Ok(Place::Nowhere);
        };
        Ok(match path.rebase(at, &kept) {
            Some(inside) => Place::Kept(KeptEntry { tree, at: inside? }),
            None => Place::Nowhere,
        })
    }

    /// Runs a read on an entry, wherever it is now.
    fn look<T>(
        &self,
        operation: Operation,
        path: &TreePath,
        look: impl FnOnce(&dyn Tree, &TreePath) -> Result<T>,
    ) -> Result<T> {
        let found = match self.place(path)? {
            Place::Nowhere => Err(Error::new(operation, ErrorKind::NotFound)),
            Place::Kept(KeptEntry { tree, at }) => look(&*tree, &at),
            Place::After(at) => look(&*self.after, &at),
        };
        found.map_err(|error| error.with_path(path))
    }

    /// Returns the mode that a file had before its first change.
    fn earlier_mode(&self, path: &TreePath) -> Result<Option<FileMode>> {
        let mut path = path.clone();
        for (_, step) in &self.recorded.steps {
            match step {
                Step::SetMode { path: at, was, .. } if *at == path => return Ok(Some(*was)),
                Step::Move { from, to, .. } => {
                    if let Some(moved) = path.rebase(from, to) {
                        path = moved?;
                    }
                }
                // A pre-image has its old mode already.
                step if path.starts_with(step.path()) => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Returns the names in a directory that steps may have removed.
    fn changed_names(&self, directory: &TreePath) -> Result<BTreeSet<Name>> {
        let mut names = BTreeSet::new();
        for (number, (_, step)) in self.recorded.steps.iter().enumerate() {
            let Some(path) = self.path_before(step.path(), number)? else { continue };
            if path.starts_with(directory) {
                names.extend(path.segments().nth(directory.depth()).map(Name::from_segment));
            }
        }
        Ok(names)
    }

    /// Returns whether something below a path has a pre-image, so that the path was a directory.
    fn is_above_kept(&self, path: &TreePath) -> bool {
        let mut below = self.recorded.steps.iter().filter(|(_, step)| {
            matches!(step, Step::Remove { path: at } if at != path && at.starts_with(path))
        });
        below.any(|(line, _)| self.recorded.kept(*line).is_ok_and(|kept| kept.is_some()))
    }

    /// Returns the path before the operation of what had this path before a step.
    fn path_before(&self, path: &TreePath, change: usize) -> Result<Option<TreePath>> {
        let mut path = path.clone();
        for (_, step) in self.recorded.steps[..change].iter().rev() {
            if let Step::Move { from, to, .. } = step {
                match path.rebase(to, from) {
                    Some(before) => path = before?,
                    // It was moved away at that time.
                    None if path.starts_with(from) => return Ok(None),
                    None => {}
                }
            }
        }
        Ok(Some(path))
    }
}

impl Tree for BeforeView {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        let mut stat = match self.look(Operation::Stat, path, |tree, path| tree.stat(path)) {
            Err(error) if error.is_absence() && self.is_above_kept(path) => {
                return Ok(Stat::new(Kind::Directory, 0));
            }
            stat => stat?,
        };
        if stat.kind == Kind::File
            && let Some(mode) = self.earlier_mode(path)?
        {
            stat.mode = mode;
        }
        Ok(stat)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let entries = match self.look(Operation::List, path, |tree, path| tree.list(path)) {
            Err(error) if error.is_absence() && self.is_above_kept(path) => Vec::new(),
            entries => entries?,
        };
        let mut names = self.changed_names(path)?;
        names.extend(entries.into_iter().map(|entry| entry.name));
        let mut found = Vec::new();
        for name in names {
            match self.stat(&path.join(&name)?) {
                Err(error) if error.is_absence() => {}
                stat => found.push(Entry::new(name, stat?.kind)),
            }
        }
        Ok(found)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.look(Operation::Read, path, |tree, path| tree.open(path))
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.look(Operation::Read, path, |tree, path| tree.read_link(path))
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.look(Operation::Stat, path, |tree, path| Ok(tree.known_hash(path))).ok().flatten()
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
}
