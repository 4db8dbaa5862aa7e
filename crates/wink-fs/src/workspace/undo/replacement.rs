//! Undo and redo of replacements, from their safety snapshots.

use std::collections::{BTreeMap, BTreeSet};

use super::Reversal;
use super::take_back::{Outcome, PathState, concerns_path};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Backend;
use crate::filesystem::guard::Guard;
use crate::filesystem::layer::Layered;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::oplog::{ContentId, DirectoryModeChange, OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::tree::compare::{Difference, count_files, kind_at};
use crate::tree::descend;
use crate::tree::hash::directory_mode;
use crate::tree::scope::Scope;
use crate::tree::{Kind, Tree};
use crate::workspace::Workspace;
use crate::workspace::restore::replacement::{Going, Restore};

/// How often the undo of a replacement is tried again while other programs write.
const REPLACE_TRIES: usize = 64;

impl Reversal<'_> {
    /// Undoes a replacement, from its safety snapshot.
    pub(super) fn replace(
        &self,
        files: &Workspace,
        writer: &mut Layered<Guard>,
        saved: SnapshotId,
    ) -> Result<(Outcome, Option<u64>)> {
        let before = self.history.load_saved(self.source, &saved);
        let mut before = before.map_err(|error| not_kept(self.of, saved, error))?;
        if let Some(redone) = self.redone {
            before = self.history.with_written(redone, before)?;
        }
        let mut kept_back: Vec<TreePath> = Vec::new();
        let mut tries = 0;
        loop {
            tries += 1;
            let backend = files.backend(writer);
            let live = backend.live();
            let done = self
                .history
                .leaving_out(&*live, || self.try_replace(backend, &*before, &kept_back));
            match done {
                // Another program wrote meanwhile: decide again, which leaves its changes alone.
                Err(error) if error.kind() == ErrorKind::Conflict && tries < REPLACE_TRIES => {}
                // What blocks one path must not keep the others from being undone.
                Err(error) if concerns_path(&error) => {
                    let is_new =
                        |path: &&TreePath| concerns(&error, path) && !kept_back.contains(path);
                    let paths = self.source.changes.iter().map(|it| &it.path);
                    let in_the_way: Vec<_> = paths.filter(is_new).cloned().collect();
                    if in_the_way.is_empty() {
                        return Err(error);
                    }
                    kept_back.extend(in_the_way);
                }
                done => return done,
            }
        }
    }

    /// Replaces once, by one capture; a change after it is a Conflict.
    fn try_replace(
        &self,
        backend: &mut dyn Backend,
        before: &dyn Tree,
        kept_back: &[TreePath],
    ) -> Result<(Outcome, Option<u64>)> {
        let history = self.history;
        let captured = history.capture(backend)?;
        let (mut same, mut changed) = partition(&*captured.tree, before, &self.source.changes)?;
        let left_out = history.excluded.left_out();
        let is_left_out = |path: &TreePath| left_out.iter().any(|it| it.path.overlaps(path));
        changed.extend(same.extract_if(.., |path| kept_back.contains(path) || is_left_out(path)));
        // A moved file is a removal and a new file to a replacement. Undoing only the new file would delete its
        // content.
        if !same.is_empty() && !changed.is_empty() {
            let left_behind = left_behind(before, self.source, &changed)?;
            changed.extend(same.extract_if(.., |path| left_behind.contains(path)));
        }
        let modes = self.modes_to_restore(&*captured.tree, &same, &mut changed)?;
        changed.sort();
        let outcome = Outcome {
            restored: same.iter().chain(modes.iter().map(|it| &it.path)).cloned().collect(),
            left_alone: changed.iter().cloned().collect(),
            ..Outcome::default()
        };
        if same.is_empty() && modes.is_empty() {
            return Ok((outcome, None));
        }
        let scope = Scope::paths(with_made_parents(before, &*captured.tree, &same)?);
        let scope = scope.excluding(history.excluded.in_turn());
        let only_modes = Scope::paths(modes.iter().map(|it| it.path.clone()));
        let scope = if same.is_empty() { only_modes } else { scope };
        let restore = Restore { history, target: before, scope: &scope };
        let step = Some((self.cause(), changed));
        let going = Going { name: &self.of.name, step, is_kept_for_good: self.is_at_once };
        let plan = if same.is_empty() {
            Ok(ReplacePlan::of_nothing(captured, before, &scope))
        } else {
            ReplacePlan::new(captured, before, &scope)
        };
        let plan = plan.map(|plan| plan.with_directory_modes(modes));
        let done = plan.and_then(|plan| restore.replace(backend, plan, &going));
        let sequence = done.map_err(|error| error.during(Operation::Undo))?.sequence;
        Ok((outcome, sequence))
    }
}

impl Reversal<'_> {
    /// Returns the directories whose mode is still as the operation left it, to be restored; adds those that another
    /// program changed to `changed`.
    ///
    /// Those in a directory that is restored as a whole need nothing.
    fn modes_to_restore(
        &self,
        live: &dyn Tree,
        restored: &[TreePath],
        changed: &mut Vec<TreePath>,
    ) -> Result<Vec<Difference>> {
        let mut modes = Vec::new();
        for DirectoryModeChange { path, was, is } in &self.source.modes {
            let is_there = kind_at(live, path)? == Some(Kind::Directory);
            if !is_there || restored.iter().any(|above| path.starts_with(above)) {
                continue;
            }
            let now = directory_mode(live, path)?;
            if now == *is {
                modes.push(Difference::of_directory_mode(path.clone(), *was));
            } else if now != *was {
                changed.push(path.clone());
            }
        }
        Ok(modes)
    }
}

/// Returns whether an error is about a path, something above or something below it.
fn concerns(error: &Error, path: &TreePath) -> bool {
    let at = error.path().and_then(|text| TreePath::parse(text).ok());
    at.is_some_and(|at| at.overlaps(path))
}

/// Splits the changes of a replacement into paths that are still *after* it and those that are *neither*.
///
/// Paths that are *before* already need nothing.
fn partition(
    live: &dyn Tree,
    before: &dyn Tree,
    changes: &[OperationChange],
) -> Result<(Vec<TreePath>, Vec<TreePath>)> {
    let mut same = Vec::new();
    let mut changed = Vec::new();
    for change in changes {
        let now = ContentId::at(live, &change.path)?;
        let is_hollow = change.left.is_none() && is_hollow(live, &change.path)?;
        let is_after = || now == change.left || is_hollow;
        match PathState::of(&now, &ContentId::at(before, &change.path)?, is_after) {
            PathState::Before => {}
            PathState::After => same.push(change.path.clone()),
            PathState::Neither => changed.push(change.path.clone()),
        }
    }
    Ok((same, changed))
}

/// Returns whether a path has only directories without files; what else was in them is excluded.
fn is_hollow(live: &dyn Tree, path: &TreePath) -> Result<bool> {
    let is_directory = live.stat(path).is_ok_and(|stat| stat.kind == Kind::Directory);
    Ok(is_directory && count_files(live, path, Some(Kind::Directory))? == 0)
}

/// Returns what must be left alone besides `changed_since`.
///
/// If something moved and its old place is taken since, it stays where it is, which may be its only copy.
fn left_behind(
    before: &dyn Tree,
    operation: &OperationRecord,
    changed_since: &[TreePath],
) -> Result<BTreeSet<TreePath>> {
    let changed_since: BTreeSet<_> = changed_since.iter().collect();
    let mut left = BTreeSet::new();
    let removed = operation.changes.iter().filter(|it| it.before.is_some() && it.after.is_none());
    for gone in removed.filter(|it| changed_since.contains(&it.path)) {
        let was = ContentId::at(before, &gone.path)?;
        let moved_to = |it: &&OperationChange| it.after == gone.before && it.left == was;
        left.extend(operation.changes.iter().filter(moved_to).map(|it| it.path.clone()));
    }
    Ok(left)
}

/// Extends paths to the parents that the replacement made for them, so that no empty directory stays.
///
/// A replacement of some paths records those, and not the directories above them. A directory that contains nothing
/// else is removed as a whole.
fn with_made_parents(
    before: &dyn Tree,
    live: &dyn Tree,
    paths: &[TreePath],
) -> Result<Vec<TreePath>> {
    let mut made = Made { before, live, paths: paths.iter().collect(), known: BTreeMap::new() };
    let mut with: Vec<TreePath> = Vec::new();
    for path in made.paths.clone() {
        if !with.last().is_some_and(|directory| path.starts_with(directory)) {
            with.push(made.highest(path)?);
        }
    }
    Ok(with)
}

struct Made<'a> {
    before: &'a dyn Tree,
    live: &'a dyn Tree,
    paths: BTreeSet<&'a TreePath>,
    /// Whether directories were made only for the paths, as far as checked.
    known: BTreeMap<TreePath, bool>,
}

impl Made<'_> {
    /// Returns the highest directory above a path that was made only for such paths, or the path itself.
    fn highest(&mut self, path: &TreePath) -> Result<TreePath> {
        let mut highest = path.clone();
        while let Some(directory) = highest.parent().filter(|it| !it.is_root()) {
            if !self.is_made(&directory)? {
                break;
            }
            highest = directory;
        }
        Ok(highest)
    }

    fn is_made(&mut self, directory: &TreePath) -> Result<bool> {
        if let Some(known) = self.known.get(directory) {
            return Ok(*known);
        }
        let is_made = kind_at(self.before, directory)?.is_none()
            && holds_only(self.live, directory, &self.paths)?;
        self.known.insert(directory.clone(), is_made);
        Ok(is_made)
    }
}

/// Returns whether everything in a directory is at one of the paths, or above one.
fn holds_only(tree: &dyn Tree, directory: &TreePath, paths: &BTreeSet<&TreePath>) -> Result<bool> {
    for entry in tree.list(directory)? {
        let path = directory.join(&entry.name)?;
        if paths.contains(&path) {
            continue;
        }
        let mut from_there = paths.range::<TreePath, _>(&path..);
        let is_above = from_there.next().is_some_and(|it| it.starts_with(&path));
        let holds = entry.kind == Kind::Directory && is_above;
        if !holds || !descend(|| holds_only(tree, &path, paths))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Explains which operation cannot be undone any more, and why.
fn not_kept(of: &OperationRecord, saved: SnapshotId, error: Error) -> Error {
    let OperationRecord { sequence, name, .. } = of;
    if error.kind() != ErrorKind::SnapshotNotFound {
        return error;
    }
    Error::new(Operation::Undo, ErrorKind::SnapshotNotFound).with_detail(format!(
        "operation {sequence} ({name}) cannot be undone, because snapshot {} of what was there before it is not \
         kept any more: too many came after it, or it made room; restore an older snapshot",
        saved.short()
    ))
}
