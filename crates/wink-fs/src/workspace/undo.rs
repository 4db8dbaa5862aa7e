//! Taking operations back, and doing them again.

use std::sync::Arc;

use super::Workspace;
use super::halves::{left_behind, whole_half};
use super::history::{History, describe, keep};
use super::made_parents::with_made_parents;
use super::moved_back::MovedBack;
use super::restore::RESTORE;
use crate::compare::{compare, count_files};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Backend;
use crate::operation::{Left, OperationCause, OperationChange, OperationRecord, check_contents};
use crate::path::TreePath;
use crate::scope::Scope;
use crate::snapshot::SnapshotId;
use crate::tree::{Kind, Tree};

/// Says what taking an operation back, or doing it again, did.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write("a.txt", "one")?;
/// files.write("a.txt", "two")?;
/// let undone = files.undo()?;
/// assert_eq!((undone.operation.sequence, undone.paths.len()), (2, 1));
/// assert_eq!(files.read("a.txt")?.content, "one");
/// files.redo()?;
/// assert_eq!(files.read("a.txt")?.content, "two");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Undone {
    /// The operation that was taken back or done again.
    pub operation: OperationRecord,
    /// The paths that are as they were.
    pub paths: Vec<TreePath>,
    /// The paths that somebody changed since, which were left alone.
    pub conflicts: Vec<TreePath>,
}

/// Which way to go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Undo,
    Redo,
}

/// An operation that can be taken back, and the later one that holds what was there before.
#[derive(Clone, Copy)]
struct Step {
    of: u64,
    held_by: u64,
}

impl Workspace {
    /// Takes back the last operation that was not taken back; see [`operations`](Self::operations).
    ///
    /// What somebody changed since is left alone and named; where that is all of it, or a program wrote into
    /// what was kept because it still had it open, it is a Conflict. Where what was kept is missing, or
    /// damaged, it is Corrupt, and nothing is changed. Of
    /// the operations that replaced files as a whole, such as a restore or a program's run, only the last can
    /// be taken back ([`Retention::max_safety`](crate::Retention::max_safety) says how many): what was there
    /// before an older one is not kept, which is SnapshotNotFound.
    pub fn undo(&self) -> Result<Undone> {
        self.step(Way::Undo, None)
    }

    /// Takes back one operation, whatever was done since, which stays.
    ///
    /// What somebody changed since, also by a later operation, is left alone and named; where that is all of it, it
    /// is a Conflict. One that is not kept, or taken back already, is NotFound.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// files.write("b.txt", "two")?;
    /// files.undo_operation(1)?;
    /// assert!(!files.exists("a.txt") && files.exists("b.txt"));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn undo_operation(&self, sequence: u64) -> Result<Undone> {
        self.step(Way::Undo, Some(sequence))
    }

    /// Does the operation again that was taken back last.
    pub fn redo(&self) -> Result<Undone> {
        self.step(Way::Redo, None)
    }

    /// Returns the operations that are kept, oldest first: one for each call that changed something.
    pub fn operations(&self) -> Result<Vec<OperationRecord>> {
        self.history(Operation::Undo)?.ledger.list()
    }

    /// Returns the numbers of the operations that are kept and whose record is damaged, oldest first: nothing is
    /// known of them, and an undo passes over them.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// assert!(files.damaged_operations()?.is_empty());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn damaged_operations(&self) -> Result<Vec<u64>> {
        self.history(Operation::Undo)?.ledger.damaged()
    }

    /// Returns how many operations were written down since the workspace was opened here: calls that changed
    /// nothing, or failed, are none.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// files.write("a.txt", "one")?;
    /// assert!(files.delete("b.txt").is_err());
    /// assert_eq!(files.operations_recorded(), 1);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn operations_recorded(&self) -> u64 {
        self.0.history.as_ref().map_or(0, History::recorded)
    }

    /// Tells whether what files were replaced by, as in a merge, is known to be still there: it was not taken
    /// back, and no restore went back to before it. It is named by the snapshot that was saved before it.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let start = files.snapshot("start")?;
    /// files.write("a.txt", "one")?;
    /// let saved = files.restore(&start)?.saved.unwrap();
    /// assert!(files.is_in_effect(saved)?);
    /// files.undo()?;
    /// assert!(!files.is_in_effect(saved)?);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn is_in_effect(&self, saved: SnapshotId) -> Result<bool> {
        let operations = self.operations()?;
        let cause = OperationCause::Replacement { saved };
        let Some(made) = operations.iter().position(|it| it.cause == cause) else {
            return Ok(false);
        };
        if is_taken_back(&operations, operations[made].sequence) {
            return Ok(false);
        }
        let restores = operations[made + 1..].iter().filter(|it| it.name == RESTORE);
        let restores = restores.filter(|it| !is_taken_back(&operations, it.sequence));
        let restores: Vec<_> = restores.filter_map(|it| it.cause.saved()).collect();
        Ok(!self.history(Operation::Undo)?.went_back_before(saved, &restores)?)
    }

    /// Takes operations back as if they had never been, the last one first: afterwards they can neither be
    /// undone nor done again.
    ///
    /// What somebody changed since is left alone and returned. Where some are not kept any more, because too many
    /// came after them, the others are taken back all the same, and then it is NotFound.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// files.write("a.txt", "two")?;
    /// assert!(files.retract(&[1, 2])?.is_empty());
    /// assert!(!files.exists("a.txt") && files.operations()?.is_empty());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn retract(&self, operations: &[u64]) -> Result<Vec<TreePath>> {
        let history = self.history(Operation::Undo)?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let mut kept = history.ledger.list()?;
        kept.retain(|it| operations.contains(&it.sequence));
        let mut left_alone = Vec::new();
        for operation in kept.iter().rev() {
            let (paths, conflicts) = self.sort_out(history, operation, operation)?;
            let mut gone = vec![operation.sequence];
            if !paths.is_empty() {
                let backend = self.backend(&mut writer);
                gone.push(go_back(history, backend, operation, operation, &paths, Way::Undo)?);
            }
            history.ledger.forget(&gone)?;
            left_alone.extend(conflicts);
        }
        let is_gone = |number: &&u64| kept.iter().all(|it| it.sequence != **number);
        match operations.iter().filter(is_gone).count() {
            0 => Ok(left_alone),
            gone => Err(not_all_kept(gone, operations.len())),
        }
    }

    /// Leaves the last operation that was not taken back as it is, so that the next undo takes back the one
    /// before it; for one whose files somebody changed since.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// files.write("b.txt", "two")?;
    /// assert_eq!(files.pass_over()?.operation.sequence, 2);
    /// files.undo()?;
    /// assert!(!files.exists("a.txt") && files.exists("b.txt"));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn pass_over(&self) -> Result<Undone> {
        let history = self.history(Operation::Undo)?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        let mut operations = history.ledger.list()?;
        let step = last_step(&operations, Way::Undo);
        let at = operations.iter().position(|it| step.is_some_and(|step| step.of == it.sequence));
        let of = operations.swap_remove(at.ok_or_else(|| nothing_to(Way::Undo))?);
        let (sequence, _) = history.ledger.next()?;
        let cause = OperationCause::Undo { of: of.sequence };
        let passed_over = history.prepare(sequence, &of.name, cause, Vec::new())?;
        history.append(passed_over, None)?;
        Ok(Undone { operation: of, paths: Vec::new(), conflicts: Vec::new() })
    }

    /// Tells the paths that can be as they were before an operation from those that are left alone.
    fn sort_out(
        &self,
        history: &History,
        of: &OperationRecord,
        held: &OperationRecord,
    ) -> Result<(Vec<TreePath>, Vec<TreePath>)> {
        let (mut same, mut changed) =
            sort_out(&*history.seen_by(held, self.tree()), &held.changes)?;
        if same.is_empty() || changed.is_empty() {
            return Ok((same, changed));
        }
        let before = history.before(held).map_err(|error| not_kept(of, held, error))?;
        let left_behind = left_behind(&*before, held, &changed)?;
        changed.extend(same.extract_if(.., |path| left_behind.contains(path)));
        changed.sort();
        Ok((same, changed))
    }

    /// Goes one step: the next one, or that of an operation.
    fn step(&self, way: Way, of: Option<u64>) -> Result<Undone> {
        let history = self.history(Operation::Undo)?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let operations = history.ledger.list()?;
        let step = match of {
            Some(number) => step_of(&operations, number).ok_or_else(|| not_to_undo(number))?,
            None => last_step(&operations, way).ok_or_else(|| nothing_to(way))?,
        };
        let find = |number| operations.iter().find(|it| it.sequence == number);
        let (Some(of), Some(held)) = (find(step.of), find(step.held_by)) else {
            return Err(nothing_to(way));
        };
        let (paths, conflicts) = self.sort_out(history, of, held)?;
        if let (true, Some(conflict)) = (paths.is_empty(), conflicts.first()) {
            return Err(changed_since(conflict));
        }
        if !paths.is_empty() {
            go_back(history, self.backend(&mut writer), of, held, &paths, way)?;
        }
        if conflicts.is_empty() && way == Way::Undo && !is_restored_since(&operations, of.sequence)
        {
            history.go_back_to_head_before(of)?;
        }
        Ok(Undone { operation: of.clone(), paths, conflicts })
    }
}

/// Puts back what was at some paths, and writes that down as an operation of its own; returns its number.
fn go_back(
    history: &History,
    backend: &mut dyn Backend,
    of: &OperationRecord,
    held: &OperationRecord,
    paths: &[TreePath],
    way: Way,
) -> Result<u64> {
    let mut before = history.before(held).map_err(|error| not_kept(of, held, error))?;
    let mut moved = None;
    if held.cause.saved().is_none()
        && let Some(path) = history.ledger.first_written_since(held.sequence, paths)?
    {
        moved = whole_half(&*history.ledger, held, &before, &backend.live(), paths)?;
        moved.ok_or_else(|| written_since(&path))?;
    } else if held.cause.saved().is_none() {
        check_contents(held, &*before)?;
    }
    let scope = match held.cause.saved() {
        None => Scope::paths(paths.iter().cloned()),
        Some(_) => Scope::paths(with_made_parents(&*before, &*backend.live(), paths)?)
            .excluding(history.excluded.known()),
    };
    let (sequence, aside) = history.ledger.next()?;
    let mut image = backend.before_image(&aside)?;
    keep(&mut *image, &scope)?;
    let kept = image.tree()?;
    if let Some((was, is)) = moved {
        let (to, now, from) = (was.clone(), kept.clone(), is.clone());
        before = Arc::new(MovedBack { before, to, now, from });
    }
    let cause = match way {
        Way::Undo => OperationCause::Undo { of: of.sequence },
        Way::Redo => OperationCause::Redo { of: of.sequence },
    };
    let differences = compare(&*kept, &*before, &scope)?;
    let changes = describe(&differences, &*before)?;
    let operation = history.prepare(sequence, &of.name, cause, changes)?;
    if let Err(error) = backend.replace(&*before, &scope) {
        // Nothing was replaced: what was prepared must not be taken for a step that was cut off.
        if error.kind() == ErrorKind::Conflict {
            history.ledger.discard(sequence);
        }
        return Err(error.during(Operation::Undo));
    }
    history.append(operation, Some(kept))?;
    Ok(sequence)
}

/// Tells the paths that are still what an operation left there from those that are not.
fn sort_out(
    live: &dyn Tree,
    changes: &[OperationChange],
) -> Result<(Vec<TreePath>, Vec<TreePath>)> {
    let (mut same, mut changed) = (Vec::new(), Vec::new());
    for change in changes {
        let left = Left::at(live, &change.path)?;
        let is_same =
            left == change.left || (change.left.is_none() && is_hollow(live, &change.path)?);
        if is_same { &mut same } else { &mut changed }.push(change.path.clone());
    }
    Ok((same, changed))
}

/// Tells whether directories without a file are all that is at a path: what else was in them is excluded.
fn is_hollow(live: &dyn Tree, path: &TreePath) -> Result<bool> {
    let is_directory = live.stat(path).is_ok_and(|stat| stat.kind == Kind::Directory);
    Ok(is_directory && count_files(live, path, Some(Kind::Directory))? == 0)
}

/// Tells whether an operation was taken back and not done again; one that was passed over is as it was.
fn is_taken_back(operations: &[OperationRecord], sequence: u64) -> bool {
    operations.iter().fold(false, |taken_back, it| match it.cause {
        OperationCause::Undo { of } if of == sequence => !it.changes.is_empty(),
        OperationCause::Redo { of } if of == sequence => false,
        _ => taken_back,
    })
}

/// Tells whether a restore that came after an operation still stands.
fn is_restored_since(operations: &[OperationRecord], sequence: u64) -> bool {
    let later = operations.iter().filter(|it| it.sequence > sequence && it.name == RESTORE);
    later.filter(|it| it.cause.saved().is_some()).any(|it| !is_taken_back(operations, it.sequence))
}

/// Finds what would be taken back, or done again, next.
///
/// Of the steps of one operation all but the last may be missing: they are not kept for ever.
fn last_step(operations: &[OperationRecord], way: Way) -> Option<Step> {
    let (done, undone) = steps(operations);
    match way {
        Way::Undo => done.last().copied(),
        Way::Redo => undone.last().copied(),
    }
}

/// Finds what would take one operation back.
fn step_of(operations: &[OperationRecord], number: u64) -> Option<Step> {
    steps(operations).0.into_iter().find(|step| step.of == number)
}

/// Returns what can be taken back, and what can be done again, the next one last.
fn steps(operations: &[OperationRecord]) -> (Vec<Step>, Vec<Step>) {
    let (mut done, mut undone): (Vec<Step>, Vec<Step>) = (Vec::new(), Vec::new());
    let forget = |of: u64, done: &mut Vec<Step>, undone: &mut Vec<Step>| {
        done.retain(|step| step.of != of);
        undone.retain(|step| step.of != of);
    };
    for operation in operations {
        let held_by = operation.sequence;
        match operation.cause {
            // The files are what they were before a call that nobody saw the end of.
            OperationCause::Recovery => {}
            OperationCause::Call | OperationCause::Replacement { .. } => {
                done.push(Step { of: held_by, held_by });
                undone.clear();
            }
            OperationCause::Undo { of } => {
                forget(of, &mut done, &mut undone);
                // One that was passed over is as it was.
                if !operation.changes.is_empty() {
                    undone.push(Step { of, held_by });
                }
            }
            OperationCause::Redo { of } => {
                forget(of, &mut done, &mut undone);
                done.push(Step { of, held_by });
            }
        }
    }
    (done, undone)
}

fn not_to_undo(number: u64) -> Error {
    Error::new(Operation::Undo, ErrorKind::NotFound).with_detail(format!(
        "operation {number} is not kept, is taken back already, or was passed over; list the operations \
         to see what was done"
    ))
}

fn not_all_kept(gone: usize, all: usize) -> Error {
    Error::new(Operation::Undo, ErrorKind::NotFound).with_detail(format!(
        "{gone} of {all} operations are not kept any more, and what they changed stays; what the others \
         changed was taken back, but for what somebody changed since; restore a snapshot to go further back"
    ))
}

fn nothing_to(way: Way) -> Error {
    Error::new(Operation::Undo, ErrorKind::NotFound).with_detail(match way {
        Way::Undo => "there is nothing to undo; list the operations to see what was done",
        Way::Redo => "there is nothing to redo; only what was undone last can be",
    })
}

/// Says which operation cannot be taken back any more, and what of it is gone.
fn not_kept(of: &OperationRecord, held: &OperationRecord, error: Error) -> Error {
    let OperationRecord { sequence, name, .. } = of;
    match held.cause {
        OperationCause::Replacement { saved } if error.kind() == ErrorKind::SnapshotNotFound => {
            Error::new(Operation::Undo, ErrorKind::SnapshotNotFound).with_detail(format!(
                "operation {sequence} ({name}) cannot be undone, because snapshot {} of what was \
                 there before it is not kept any more: too many came after it, or it made room; \
                 restore an older snapshot",
                saved.short()
            ))
        }
        _ => error,
    }
}

/// To bring back something else than was there would be worse than to say so.
fn written_since(path: &TreePath) -> Error {
    Error::new(Operation::Undo, ErrorKind::Conflict).with_path(path).with_detail(
        "a program that still had it open wrote into it after the operation, so what was there \
         before cannot be brought back, and nothing was undone; pass the operation over to undo \
         what came before it, or restore the path from a snapshot",
    )
}

fn changed_since(path: &TreePath) -> Error {
    Error::new(Operation::Undo, ErrorKind::Conflict).with_path(path).with_detail(
        "somebody changed it since the operation, so nothing of that can be undone; pass it over \
         to undo what came before it, or restore the path from a snapshot",
    )
}
