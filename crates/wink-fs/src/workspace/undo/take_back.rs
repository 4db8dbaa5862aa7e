//! Undoes the steps of an operation, the last one first.
//!
//! This is the one place that decides what happens to a path. A failed call uses it (rollback), and so do recovery,
//! undo and redo. It follows `docs/undo.md`: a path is as *before* the step, as *after* it, or *neither*. A path that
//! is neither belongs to another program. It is never replaced or removed, but left alone and named.

use std::collections::BTreeSet;
use std::io::Write as _;

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::event::Event;
use crate::filesystem::layer::Source;
use crate::filesystem::{Backend, EntryIdentity, PutCondition, PutOptions, Recursion, Replacement};
use crate::oplog::{ContentId, KeptEntry, Recorded, Step};
use crate::path::TreePath;
use crate::tree::compare::kind_at;
use crate::tree::descend;
use crate::tree::merkle::Identity;
use crate::tree::scope::Scope;
use crate::tree::{Entry, FileMode, Kind};
use crate::workspace::history::History;

/// What happened to the paths of an operation.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Restored paths.
    pub(crate) restored: BTreeSet<TreePath>,
    /// Paths that another program changed or created, which were left alone.
    pub(crate) left_alone: BTreeSet<TreePath>,
    /// The lines of the steps of which nothing is left to undo. A second attempt skips them: where several steps changed a
    /// path, it would find the path as before the first of them, which is neither before nor after the others.
    pub(crate) undone_lines: BTreeSet<usize>,
    /// Paths whose entry was removed, and whose pre-image could not be restored.
    pub(super) emptied: BTreeSet<TreePath>,
    /// New directories that stay, because other programs put something into them.
    pub(super) kept_directories: BTreeSet<TreePath>,
}

/// Up to this many entries of a directory that stays are named; with more, the directory is named.
const MOST_NAMED: usize = 100;

impl History {
    /// Undoes steps; see [`take_back`]. Observers see one replacement.
    pub(crate) fn take_back(
        &self,
        files: &mut dyn Backend,
        recorded: &Recorded,
        is_left_alone: fn(&Error) -> bool,
        preimages: PreimageUse,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let take_back = || take_back(files, recorded, is_left_alone, preimages, outcome);
        let done = self.observers.quietly(take_back);
        let paths = match &done {
            Ok(()) => Scope::paths(outcome.restored.iter().cloned()),
            Err(_) => Scope::paths(recorded.paths().cloned()),
        };
        if !paths.starts().is_empty() {
            self.observers.tell(&Event::Replaced { paths: paths.starts().to_vec() });
        }
        done
    }
}

/// How pre-images are restored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreimageUse {
    /// Copied: the operation may be undone again.
    Copy,
    /// Moved if possible: the operation is abandoned.
    Move,
}

/// What a path is when its change is to be undone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathState {
    /// As before the change: there is nothing to do.
    Before,
    /// As the change left it: it is restored.
    After,
    /// Another program, or a later operation, changed it: it is left alone.
    Neither,
}

impl PathState {
    pub(crate) fn of(
        now: &Option<ContentId>,
        before: &Option<ContentId>,
        is_after: impl FnOnce() -> bool,
    ) -> Self {
        // Before comes first: a file that was replaced by the same content is both, and needs nothing.
        if now == before {
            Self::Before
        } else if is_after() {
            Self::After
        } else {
            Self::Neither
        }
    }
}

/// Undoes steps, the last one first; what other programs did is not touched.
///
/// It can be repeated with the same outcome after an error, and continues there. An error for which `is_left_alone` is
/// true leaves its path alone; any other ends it.
fn take_back(
    files: &mut dyn Backend,
    recorded: &Recorded,
    is_left_alone: fn(&Error) -> bool,
    preimages: PreimageUse,
    outcome: &mut Outcome,
) -> Result<()> {
    outcome.left_alone.clear();
    outcome.kept_directories.clear();
    // Abandoned steps changed nothing that is still in view.
    let made = &recorded.steps[..recorded.steps.len() - recorded.rescued.len()];
    for (number, (line, step)) in made.iter().enumerate().rev() {
        if outcome.undone_lines.contains(line) {
            continue;
        }
        let previous = number.checked_sub(1).map(|before| &recorded.steps[before]);
        let previous = previous.filter(|(previous, _)| previous + 1 == *line);
        let made_room = previous.filter(|(_, it)| matches!(it, Step::Remove { .. }));
        let made_room = made_room.map_or(Ok(None), |(line, _)| recorded.kept(*line));
        let mut merged = Vec::new();
        let mut left_alone = Vec::new();
        let undone = recorded.kept(*line).and_then(|preimage| {
            let made_room = made_room?;
            let merged = &mut merged;
            let left_alone = &mut left_alone;
            let emptied = &mut outcome.emptied;
            let files = &mut *files;
            let undo =
                StepUndo { files, preimage, made_room, merged, left_alone, emptied, preimages };
            undo.undo(step)
        });
        if left_alone.is_empty() && matches!(undone, Ok(PathState::Before | PathState::After)) {
            outcome.undone_lines.insert(*line);
        }
        match undone {
            Ok(PathState::Before) => {}
            Ok(PathState::After) => {
                // Of a directory that has something else in it now, only what came back is restored.
                if left_alone.is_empty() || !matches!(step, Step::Remove { .. }) {
                    outcome.restored.extend(step.paths().cloned());
                }
                outcome.restored.extend(merged);
                outcome.left_alone.extend(left_alone);
            }
            Ok(PathState::Neither) => outcome.leave_alone(files, step),
            Err(error) if is_left_alone(&error) => {
                outcome.left_alone.extend(step.paths().cloned());
            }
            Err(error) => return Err(error),
        }
    }
    let Outcome { restored, left_alone, kept_directories, .. } = outcome;
    restored.retain(|path| !left_alone.contains(path) && !kept_directories.contains(path));
    Ok(())
}

impl Outcome {
    /// Names what is left alone: the step's paths, or what other programs put into a directory that it made.
    fn leave_alone(&mut self, files: &dyn Backend, step: &Step) {
        let Step::MakeDir { path } = step else {
            return self.left_alone.extend(step.paths().cloned());
        };
        let entries = files.list(path).unwrap_or_default();
        if entries.is_empty() || entries.len() > MOST_NAMED {
            self.left_alone.insert(path.clone());
            return;
        }
        let inside = entries.iter().filter_map(|entry| path.join(&entry.name).ok());
        let inside = inside.filter(|it| !self.kept_directories.contains(it));
        self.left_alone.extend(inside);
        self.kept_directories.insert(path.clone());
    }
}

/// Returns whether an error is about a path, and not about the backend or the history.
pub(crate) fn concerns_path(error: &Error) -> bool {
    let is_of_disk = matches!(
        error.kind(),
        ErrorKind::Io | ErrorKind::NoSpace | ErrorKind::Corrupt | ErrorKind::ReadOnly
    );
    is_permanent(error) && !is_of_disk
}

/// Returns whether an error may be permanent. Waiting for it to go away would block all other calls too.
pub(crate) fn is_permanent(error: &Error) -> bool {
    let passes = matches!(
        error.kind(),
        ErrorKind::Unavailable | ErrorKind::Locked | ErrorKind::Deadline | ErrorKind::Cancelled
    );
    !passes && !error.is_shortage()
}

/// The undo of one step.
struct StepUndo<'a> {
    files: &'a mut dyn Backend,
    preimage: Option<KeptEntry>,
    /// The pre-image of the step before, if that made room for this one.
    made_room: Option<KeptEntry>,
    /// What was restored in a directory that exists again.
    merged: &'a mut Vec<TreePath>,
    /// What was left alone although the rest was restored.
    left_alone: &'a mut Vec<TreePath>,
    emptied: &'a mut BTreeSet<TreePath>,
    preimages: PreimageUse,
}

impl StepUndo<'_> {
    fn undo(mut self, step: &Step) -> Result<PathState> {
        match step {
            Step::Put { path, content } => {
                let after = Identity::File { mode: FileMode::default(), hash: *content };
                // The mode is not part of the step: a new file may get it from the one it replaces.
                self.put(path, &ContentId::Entry(after), ContentId::has_content_of)
            }
            Step::Place { path, left } => self.put(path, left, ContentId::eq),
            Step::MakeDir { path } => self.make_dir(path),
            Step::SetMode { path, was, is } => self.set_mode(path, *was, *is),
            Step::Remove { path } => self.remove(path),
            Step::Move { from, to, moved } => self.rename(from, to, moved),
        }
    }

    fn put(
        &mut self,
        path: &TreePath,
        after: &ContentId,
        is_same: fn(&ContentId, &ContentId) -> bool,
    ) -> Result<PathState> {
        let now = ContentId::at(self.files, path)?;
        let before = id_of(self.preimage.as_ref())?;
        // A killed process may have left the new file at the pre-image's path, where it waits for the exchange: then
        // nothing was displaced yet.
        if before.as_ref().is_some_and(|id| is_same(id, after)) {
            return Ok(PathState::Before);
        }
        if now.is_none()
            && self.emptied.contains(path)
            && let Some(preimage) = self.preimage.clone()
        {
            self.restore(path, &preimage)?;
            return Ok(PathState::After);
        }
        let is_after = || now.as_ref().is_some_and(|id| is_same(id, after));
        match (PathState::of(&now, &before, is_after), &now) {
            (PathState::After, Some(ContentId::Entry(found))) => self.exchange(path, *found),
            (PathState::Before, _) => Ok(PathState::Before),
            _ => Ok(PathState::Neither),
        }
    }

    /// Replaces an entry by its pre-image, if it is still the one that was found.
    fn exchange(&mut self, path: &TreePath, found: Identity) -> Result<PathState> {
        let unchanged = Recursion::Unchanged(EntryIdentity(found));
        let Some(preimage) = self.preimage.clone() else {
            self.files.remove(path, unchanged)?;
            return Ok(PathState::After);
        };
        let stat = preimage.tree.stat(&preimage.at)?;
        match (found, stat.kind) {
            // A conditional put compares after the exchange. Removing the file first and restoring then would leave a
            // gap in which the path does not exist.
            (Identity::File { hash, .. }, Kind::File) if self.preimages == PreimageUse::Copy => {
                let options = PutOptions::default().condition(PutCondition::Unchanged(hash));
                self.put_file(path, &preimage, &options.mode(stat.mode))?;
            }
            _ => {
                self.files.remove(path, unchanged)?;
                self.emptied.insert(path.clone());
                self.restore(path, &preimage)?;
                self.emptied.remove(path);
            }
        }
        Ok(PathState::After)
    }

    fn put_file(
        &mut self,
        path: &TreePath,
        preimage: &KeptEntry,
        options: &PutOptions,
    ) -> Result<()> {
        let content = preimage.tree.open(&preimage.at)?;
        let mut staging = self.files.stage()?;
        let failed = |error| Error::system(Operation::Undo, error).with_path(path);
        content.for_each_chunk(|chunk| staging.write_all(chunk)).map_err(failed)?;
        let mut staged = staging.finish().map_err(failed)?;
        self.files.put(path, &mut staged, options).map(drop)
    }

    /// Restores a pre-image to a free path.
    fn restore(&mut self, path: &TreePath, preimage: &KeptEntry) -> Result<()> {
        if self.preimages == PreimageUse::Move && self.files.give_back(path, preimage)? {
            return Ok(());
        }
        let stat = preimage.tree.stat(&preimage.at)?;
        match stat.kind {
            Kind::File => {
                let options = PutOptions::default().condition(PutCondition::Absent);
                self.put_file(path, preimage, &options.mode(stat.mode))
            }
            Kind::Symlink => self.files.symlink(path, &preimage.tree.read_link(&preimage.at)?),
            Kind::Directory | Kind::Other => {
                self.files.install(path, Source { tree: &*preimage.tree, at: &preimage.at })
            }
        }
    }

    fn make_dir(&mut self, path: &TreePath) -> Result<PathState> {
        match kind_at(self.files, path)? {
            None => Ok(PathState::Before),
            // Only if it is empty: other programs may have put something into it.
            Some(Kind::Directory) => match self.files.remove(path, Recursion::OnlyEmpty) {
                Err(error) if error.kind() == ErrorKind::NotEmpty => Ok(PathState::Neither),
                removed => removed.map(|_| PathState::After),
            },
            Some(_) => Ok(PathState::Neither),
        }
    }

    fn set_mode(&mut self, path: &TreePath, was: FileMode, is: FileMode) -> Result<PathState> {
        match self.files.stat(path) {
            Ok(stat) if stat.kind == Kind::File && stat.mode == was => Ok(PathState::Before),
            Ok(stat) if stat.kind == Kind::File && stat.mode == is => {
                self.files.set_mode(path, was)?;
                Ok(PathState::After)
            }
            _ => Ok(PathState::Neither),
        }
    }

    fn remove(&mut self, path: &TreePath) -> Result<PathState> {
        // The step was listed and then not made, or nothing was there.
        let Some(preimage) = self.preimage.clone() else { return Ok(PathState::Before) };
        match kind_at(self.files, path)? {
            None => {
                self.restore(path, &preimage)?;
                Ok(PathState::After)
            }
            Some(Kind::Directory) if preimage.tree.stat(&preimage.at)?.kind == Kind::Directory => {
                self.merge(path, &preimage)?;
                Ok(PathState::After)
            }
            Some(_) => {
                let now = ContentId::at(self.files, path)?;
                Ok(PathState::of(&now, &id_of(Some(&preimage))?, || false))
            }
        }
    }

    /// Restores what is missing in a directory that exists again, or was only partly removed.
    fn merge(&mut self, path: &TreePath, preimage: &KeptEntry) -> Result<()> {
        let displaced = preimage.tree.list(&preimage.at)?;
        let is_new = |entry: &Entry| displaced.iter().all(|it| it.name != entry.name);
        let new = self.files.list(path)?.into_iter().filter(is_new);
        let new: Vec<_> = new.filter_map(|entry| path.join(&entry.name).ok()).collect();
        if new.len() > MOST_NAMED {
            self.left_alone.push(path.clone());
        } else {
            self.left_alone.extend(new);
        }
        for entry in displaced {
            let path = path.join(&entry.name)?;
            let at = preimage.at.join(&entry.name)?;
            let preimage = KeptEntry { tree: preimage.tree.clone(), at };
            match kind_at(self.files, &path)? {
                None => {
                    self.restore(&path, &preimage)?;
                    self.merged.push(path);
                }
                Some(Kind::Directory) if entry.kind == Kind::Directory => {
                    descend(|| self.merge(&path, &preimage))?;
                }
                Some(_) if ContentId::at(self.files, &path)? == id_of(Some(&preimage))? => {}
                Some(_) => self.left_alone.push(path),
            }
        }
        Ok(())
    }

    fn rename(&mut self, from: &TreePath, to: &TreePath, moved: &ContentId) -> Result<PathState> {
        let at_from = ContentId::at(self.files, from)?;
        let at_to = ContentId::at(self.files, to)?;
        let is_moved = |id: &Option<ContentId>| id.as_ref() == Some(moved);
        match (&at_from, &at_to) {
            (Some(_), _) if is_moved(&at_from) && !is_moved(&at_to) => {
                return Ok(PathState::Before);
            }
            (None, Some(_)) if is_moved(&at_to) => {
                self.files.rename(to, from, Replacement::Refuse)?;
            }
            // The process died between the exchange and the removal of what was displaced, so that is still at the old
            // path.
            (Some(ContentId::Entry(found)), Some(_))
                if is_moved(&at_to) && at_from == id_of(self.made_room.as_ref())? =>
            {
                self.files.remove(from, Recursion::Unchanged(EntryIdentity(*found)))?;
                self.files.rename(to, from, Replacement::Refuse)?;
            }
            // The process died, or the call failed, while the entry waited at the pre-image's path for the exchange.
            (None, _) if is_moved(&id_of(self.made_room.as_ref())?) => {
                let Some(parked) = self.made_room.clone() else { return Ok(PathState::Neither) };
                self.restore(from, &parked)?;
            }
            // Another program wrote into the file at its new path. The copy from before the move goes back, and the file
            // stays.
            (None, Some(_)) if is_moved(&id_of(self.preimage.as_ref())?) => {
                let Some(copy) = self.preimage.clone() else { return Ok(PathState::Neither) };
                self.restore(from, &copy)?;
                self.left_alone.push(to.clone());
            }
            _ => return Ok(PathState::Neither),
        }
        Ok(PathState::After)
    }
}

fn id_of(preimage: Option<&KeptEntry>) -> Result<Option<ContentId>> {
    preimage.map_or(Ok(None), |preimage| ContentId::at(&*preimage.tree, &preimage.at))
}
