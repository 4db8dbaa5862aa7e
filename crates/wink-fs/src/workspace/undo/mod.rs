//! Undo and redo of operations; the rules are in `docs/undo.md`.
//!
//! `take_back` decides for every path of a call, for undo, redo, rollback and recovery alike; `replacement` undoes
//! replacements; `order` finds the operation that is next.

mod order;
mod replacement;
pub(crate) mod take_back;

use std::collections::BTreeSet;

use super::Workspace;
use super::history::History;
use super::recovery::rollback_name;
use super::restore::RESTORE;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Backend as _;
use crate::filesystem::guard::Guard;
use crate::filesystem::layer::Layered;
use crate::oplog::{ContentId, OperationCause, OperationChange, OperationRecord, check_contents};
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::tree::Tree;
use order::{can_be_undone, changed_later, done, is_restored_since, is_undone, next_step};
use take_back::{Outcome, PreimageUse, concerns_path};

/// The result of an undo or a redo.
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
    /// The operation that was undone or redone.
    pub operation: OperationRecord,
    /// The restored paths.
    pub paths: Vec<TreePath>,
    /// The paths that a later operation or another program changed since, which were left alone.
    pub conflicts: Vec<TreePath>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Undo,
    Redo,
}

impl Workspace {
    /// Undoes the last operation that is not undone; see [`operations`](Self::operations).
    ///
    /// Paths that a later operation or another program changed since are left alone and reported. If all were, or a
    /// program that still had a file open wrote into its pre-image, the error is Conflict. If a pre-image is missing or
    /// damaged, it is Corrupt, and nothing is changed. Of replacements, such as a restore or a program's run, only the
    /// last can be undone ([`Retention::max_safety`](crate::Retention::max_safety) says how many): the error for an
    /// older one is SnapshotNotFound.
    pub fn undo(&self) -> Result<Undone> {
        self.reverse(Direction::Undo, None)
    }

    /// Undoes the last operation of this handle's actor that is not undone; operations of others stay. See
    /// [`acting_as`](Self::acting_as).
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let agent = files.acting_as("an agent");
    /// agent.write("a.txt", "by the agent")?;
    /// files.write("b.txt", "by a person")?;
    /// agent.undo_own()?;
    /// assert!(!files.exists("a.txt") && files.exists("b.txt"));
    /// assert!(agent.undo_own().is_err());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn undo_own(&self) -> Result<Undone> {
        self.reverse(Direction::Undo, Some(self.own_last()?))
    }

    /// Skips the last operation of this handle's actor that is not undone, as [`pass_over`](Self::pass_over) does.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let agent = files.acting_as("an agent");
    /// agent.write("a.txt", "one")?;
    /// files.write("b.txt", "two")?;
    /// assert_eq!(agent.pass_over_own()?.operation.sequence, 1);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn pass_over_own(&self) -> Result<Undone> {
        self.skip(Some(self.own_last()?))
    }

    /// Returns the number of the last operation of this handle's actor that is not undone.
    fn own_last(&self) -> Result<u64> {
        let history = self.history(Operation::Undo)?;
        let operations = history.oplog.list()?;
        let own = self.1.name.as_deref().or(history.actor.as_deref());
        let is_own = |number: &u64| {
            operations.iter().any(|it| it.sequence == *number && it.by.as_deref() == own)
        };
        done(&operations).into_iter().rfind(is_own).ok_or_else(|| nothing_to(Direction::Undo))
    }

    /// Undoes one operation; what was done since stays.
    ///
    /// Paths that a later operation or another program changed since are left alone and reported; if all were, the
    /// error is Conflict. An operation that is not kept, or undone already, is NotFound.
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
        self.reverse(Direction::Undo, Some(sequence))
    }

    /// Returns the operation that the next [`undo`](Self::undo) undoes, if there is one.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// assert!(files.next_to_undo()?.is_none());
    /// files.write("a.txt", "one")?;
    /// assert_eq!(files.next_to_undo()?.unwrap().name, "write");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn next_to_undo(&self) -> Result<Option<OperationRecord>> {
        let operations = self.operations()?;
        let next = next_step(&operations, Direction::Undo);
        Ok(next.and_then(|(of, _)| operations.into_iter().find(|it| it.sequence == of)))
    }

    /// Redoes the operation that was undone last.
    pub fn redo(&self) -> Result<Undone> {
        self.reverse(Direction::Redo, None)
    }

    /// Returns the operations that are kept, oldest first: one for each call that changed something.
    pub fn operations(&self) -> Result<Vec<OperationRecord>> {
        self.history(Operation::Undo)?.oplog.list()
    }

    /// Returns the numbers of operations with a damaged record, oldest first; undo skips them.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// assert!(files.damaged_operations()?.is_empty());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn damaged_operations(&self) -> Result<Vec<u64>> {
        self.history(Operation::Undo)?.oplog.damaged()
    }

    /// Returns how many operations were recorded since the workspace was opened; calls that failed or changed
    /// nothing do not count.
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

    /// Returns whether a replacement, such as a merge, is still in effect: it was not undone, and no restore went back
    /// to before it. It is named by its safety snapshot.
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
        if is_undone(&operations, operations[made].sequence) {
            return Ok(false);
        }
        let restores = operations[made + 1..].iter().filter(|it| it.name == RESTORE);
        let restores = restores.filter(|it| !is_undone(&operations, it.sequence));
        let restores: Vec<_> = restores.filter_map(|it| it.cause.saved()).collect();
        Ok(!self.history(Operation::Undo)?.went_back_before(saved, &restores)?)
    }

    /// Undoes operations and forgets them, the last one first; they can be neither undone nor redone afterwards.
    ///
    /// Paths that a later operation or another program changed since are left alone and returned. If some operations
    /// are not kept any more, the others are undone all the same, and the error is NotFound.
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
        let all = history.oplog.list()?;
        let kept: Vec<_> = all.iter().filter(|it| operations.contains(&it.sequence)).collect();
        let mut left_alone = Vec::new();
        for operation in kept.iter().rev() {
            let (went, step) = Reversal::undo(history, &all, operation).run(self, &mut writer)?;
            // The pre-images of paths that were left alone must stay findable.
            if went.conflicts.is_empty() {
                history.tidy(&operation.name, || history.forget_undone(operation.sequence, step));
            }
            left_alone.extend(went.conflicts);
        }
        let is_gone = |number: &&u64| kept.iter().all(|it| it.sequence != **number);
        match operations.iter().filter(is_gone).count() {
            0 => Ok(left_alone),
            gone => Err(not_all_kept(gone, operations.len())),
        }
    }

    /// Skips the last operation that is not undone, so that the next undo takes the one before it.
    ///
    /// Use it if another program changed the files of that operation since.
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
        self.skip(None)
    }

    /// Skips an operation, or the next one.
    fn skip(&self, number: Option<u64>) -> Result<Undone> {
        let history = self.history(Operation::Undo)?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        let mut operations = history.oplog.list()?;
        let next = || next_step(&operations, Direction::Undo).map(|(of, _)| of);
        let number = number.or_else(next);
        let at = operations.iter().position(|it| number == Some(it.sequence));
        let of = operations.swap_remove(at.ok_or_else(|| nothing_to(Direction::Undo))?);
        let (sequence, _) = history.oplog.next()?;
        let cause = OperationCause::Undo { of: of.sequence };
        let passed_over = history.prepare(sequence, &of.name, cause, Vec::new())?;
        history.append(passed_over, None)?;
        Ok(Undone { operation: of, paths: Vec::new(), conflicts: Vec::new() })
    }

    /// Undoes an operation within the call that recorded it; if nothing of it is left, it is forgotten, and the result
    /// is true.
    pub(super) fn undo_at_once(
        &self,
        history: &History,
        writer: &mut Layered<Guard>,
        sequence: u64,
    ) -> Result<bool> {
        let operations = history.oplog.list()?;
        let of = operations.iter().find(|it| it.sequence == sequence);
        let of = of.ok_or_else(|| nothing_to(Direction::Undo))?;
        let reversal = Reversal { is_at_once: true, ..Reversal::undo(history, &operations, of) };
        let (undone, number) = reversal.run(self, writer)?;
        let is_all_back = undone.conflicts.is_empty();
        if is_all_back {
            // The files from before it are in a snapshot.
            history.tidy(&of.name, || history.forget_undone(sequence, number));
        }
        Ok(is_all_back)
    }

    /// Undoes or redoes an operation, or the next one.
    fn reverse(&self, direction: Direction, of: Option<u64>) -> Result<Undone> {
        let history = self.history(Operation::Undo)?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let operations = history.oplog.list()?;
        let (of, source) = match of {
            Some(number) => (number, number),
            None => next_step(&operations, direction).ok_or_else(|| nothing_to(direction))?,
        };
        if direction == Direction::Undo && !can_be_undone(&operations, of) {
            return Err(not_to_undo(of));
        }
        let find = |number| operations.iter().find(|it| it.sequence == number);
        let (Some(of), Some(source)) = (find(of), find(source)) else {
            return Err(nothing_to(direction));
        };
        let reversal = match direction {
            Direction::Undo => Reversal::undo(history, &operations, of),
            Direction::Redo => Reversal { direction, source, ..Reversal::undo(history, &[], of) },
        };
        let (undone, number) = reversal.run(self, &mut writer)?;
        if number.is_none() {
            let conflict = undone.conflicts.first();
            let changed_later =
                changed_later(&operations, of).filter(|_| direction == Direction::Undo);
            if let Some(path) = conflict.or(changed_later) {
                return Err(changed_since(path));
            }
            // Everything was as it should be already. Without a record, the next undo would take this one again.
            let (sequence, _) = history.oplog.next()?;
            let done = history.prepare(sequence, &of.name, reversal.cause(), Vec::new())?;
            history.append(done, None)?;
        }
        if undone.conflicts.is_empty()
            && direction == Direction::Undo
            && !is_restored_since(&operations, of.sequence)
        {
            history.tidy(&of.name, || history.go_back_to_head_before(of));
        }
        Ok(undone)
    }
}

impl History {
    /// Forgets an undone operation and its undo, unless a program may have written into a file that one of them
    /// displaced: that is nowhere else.
    fn forget_undone(&self, sequence: u64, step: Option<u64>) -> Result<()> {
        let numbers: Vec<u64> = [Some(sequence), step].into_iter().flatten().collect();
        for number in &numbers {
            if self.oplog.written(*number)?.is_some() {
                return Ok(());
            }
        }
        self.forget_operations(&numbers)
    }
}

/// The undo or redo of one operation.
struct Reversal<'a> {
    history: &'a History,
    of: &'a OperationRecord,
    /// The operation whose steps are undone: itself, or for a redo its last undo.
    source: &'a OperationRecord,
    /// The last redo, if an undo reverses that: it has displaced files of its own.
    redone: Option<&'a OperationRecord>,
    direction: Direction,
    /// Whether the call that recorded the operation undoes it itself; then neither counts as an operation.
    is_at_once: bool,
}

impl<'a> Reversal<'a> {
    /// Prepares the undo of an operation.
    fn undo(
        history: &'a History,
        operations: &'a [OperationRecord],
        of: &'a OperationRecord,
    ) -> Self {
        let is_step = |it: &&OperationRecord| it.cause.step_of() == Some(of.sequence);
        let last = operations.iter().rfind(is_step);
        let redone = last.filter(|it| matches!(it.cause, OperationCause::Redo { .. }));
        Self { history, of, source: of, redone, direction: Direction::Undo, is_at_once: false }
    }

    /// Runs and records it; returns also the number of its record, if anything changed.
    fn run(&self, files: &Workspace, writer: &mut Layered<Guard>) -> Result<(Undone, Option<u64>)> {
        let (done, number) = match self.source.saved() {
            Some(saved) => self.replace(files, writer, saved)?,
            None => self.take_back(files, writer)?,
        };
        let mut conflicts = done.left_alone;
        if self.direction == Direction::Redo {
            // What the undo left alone is not as the operation had left it.
            let is_back = |path: &TreePath| done.restored.iter().any(|it| it.starts_with(path));
            let left_then = self.source.left_alone.iter().filter(|path| !is_back(path));
            conflicts.extend(left_then.cloned());
            conflicts.extend(self.not_redone(&*files.0.live, &done.restored));
        }
        let changed = self.of.changes.iter().map(|it| &it.path).chain(&done.restored);
        let is_left = |path: &TreePath| conflicts.iter().any(|it| it.starts_with(path));
        let mut paths: Vec<_> = changed.filter(|path| !is_left(path)).cloned().collect();
        paths.sort();
        paths.dedup_by(|below, above| below.starts_with(above));
        let conflicts = conflicts.into_iter().collect();
        Ok((Undone { operation: self.of.clone(), paths, conflicts }, number))
    }

    /// Returns the changed paths that a redo did not change, and that are not as the operation had left them.
    ///
    /// Another program had already undone such a path, so the undo did nothing there, and neither did its redo.
    fn not_redone(&self, live: &dyn Tree, redone: &BTreeSet<TreePath>) -> Vec<TreePath> {
        let is_redone = |path: &TreePath| {
            let next = redone.range::<TreePath, _>(path..).next();
            next.is_some_and(|it| it.starts_with(path))
                || path.ancestors().any(|above| redone.contains(&above))
        };
        let is_as_left = |change: &OperationChange| {
            ContentId::at(live, &change.path).is_ok_and(|now| now == change.left)
        };
        let missed = self.of.changes.iter().filter(|it| !is_redone(&it.path) && !is_as_left(it));
        missed.map(|it| it.path.clone()).collect()
    }

    fn cause(&self) -> OperationCause {
        match self.direction {
            Direction::Undo => OperationCause::Undo { of: self.of.sequence },
            Direction::Redo => OperationCause::Redo { of: self.of.sequence },
        }
    }

    /// Undoes the steps of a call, or of an undo.
    fn take_back(
        &self,
        files: &Workspace,
        writer: &mut Layered<Guard>,
    ) -> Result<(Outcome, Option<u64>)> {
        let history = self.history;
        let recorded = history.recorded_changes(self.source)?;
        for displacing in self.redone.into_iter().chain([self.source]) {
            // A redo has displaced files of its own, and a program may have written into those too.
            if let Some(path) = history.oplog.first_written_since(displacing.sequence)? {
                return Err(written_since(&path));
            }
        }
        // Before anything changes: a damaged pre-image must not replace an intact file.
        check_contents(&*history.oplog, self.source, &recorded)?;
        let recorded = recorded.expecting_modes(&self.source.changes);
        let (sequence, aside) = history.oplog.next()?;
        let image = writer.before_image(&aside)?;
        let backend = files.backend(writer);
        let mut outcome = Outcome::default();
        let (done, record) = files.0.recording.during(image, || {
            history.take_back(backend, &recorded, concerns_path, PreimageUse::Copy, &mut outcome)
        });
        let done = done.and_then(|()| {
            let left_alone = outcome.left_alone.iter().cloned().collect();
            let cause = self.cause();
            let name = &self.of.name;
            let live = &files.0.live;
            let number = history.record(sequence, name, cause, left_alone, &record, live)?;
            Ok((outcome, number))
        });
        done.map_err(|error| {
            let name = rollback_name(&self.of.name, self.cause());
            files.roll_back(history, writer, sequence, &name, &record);
            error.during(Operation::Undo)
        })
    }
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
         changed was taken back, but for what has changed since; restore a snapshot to go further back"
    ))
}

fn nothing_to(direction: Direction) -> Error {
    Error::new(Operation::Undo, ErrorKind::NotFound).with_detail(match direction {
        Direction::Undo => "there is nothing to undo; list the operations to see what was done",
        Direction::Redo => "there is nothing to redo; only what was undone last can be",
    })
}

/// Refusing is better than bringing back something other than what was there.
fn written_since(path: &TreePath) -> Error {
    Error::new(Operation::Undo, ErrorKind::Conflict).with_path(path).with_detail(
        "a program that still had it open wrote into it after the operation, so what was there \
         before cannot be brought back, and nothing was undone; pass the operation over to undo \
         what came before it, or restore the path from a snapshot",
    )
}

fn changed_since(path: &TreePath) -> Error {
    Error::new(Operation::Undo, ErrorKind::Conflict).with_path(path).with_detail(
        "it has changed since the operation, so nothing of that can be undone; pass it over \
         to undo what came before it, or restore the path from a snapshot",
    )
}
