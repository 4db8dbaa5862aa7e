//! Undo and redo of operations; the rules are in `docs/undo.md`.
//!
//! `take_back` decides for every path, for undo, redo, roll-back and recovery alike.

pub(crate) mod implicit_parents;
pub(crate) mod renames;
pub(crate) mod take_back;

use std::sync::Arc;

use super::Workspace;
use super::history::History;
use super::restore::RESTORE;
use super::restore::replacement::{Going, Restore};
use super::undo::implicit_parents::with_made_parents;
use super::undo::renames::left_behind;
use super::undo::take_back::{Kept, Outcome, is_of_the_path};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Backend;
use crate::filesystem::guard::Guard;
use crate::filesystem::layer::Layered;
use crate::oplog::{
    Left, OperationCause, OperationChange, OperationRecord, Record, check_contents,
};
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::tree::compare::count_files;
use crate::tree::scope::Scope;
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
    /// The paths that a later operation or another program changed since, which were left alone.
    pub conflicts: Vec<TreePath>,
}

/// How often what replaced files as a whole is taken back again because other programs write meanwhile.
const REPLACE_TRIES: usize = 64;

/// Which way to go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Undo,
    Redo,
}

impl Workspace {
    /// Takes back the last operation that was not taken back; see [`operations`](Self::operations).
    ///
    /// What a later operation or another program changed since is left alone and reported; if that is all of it,
    /// or a program wrote into what was kept because it still had it open, the error is Conflict. Where what was
    /// kept is missing, or damaged, it is Corrupt, and nothing is changed. Of
    /// the operations that replaced files as a whole, such as a restore or a program's run, only the last can
    /// be taken back ([`Retention::max_safety`](crate::Retention::max_safety) says how many): what was there
    /// before an older one is not kept, which is SnapshotNotFound.
    pub fn undo(&self) -> Result<Undone> {
        self.step(Way::Undo, None)
    }

    /// Takes back one operation, whatever was done since, which stays.
    ///
    /// What a later operation or another program changed since is left alone and reported; if that is all of it, the
    /// error is Conflict. One that is not kept, or taken back already, is NotFound.
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
        self.history(Operation::Undo)?.oplog.list()
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
        self.history(Operation::Undo)?.oplog.damaged()
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
    /// What a later operation or another program changed since is left alone and returned. Where some are not kept
    /// any more, because too many came after them, the others are taken back all the same, and then it is NotFound.
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
            let (went, step) = Step::undo(history, &all, operation).go(self, &mut writer)?;
            // What is kept for paths that were left alone has to be found.
            if went.conflicts.is_empty() {
                history.forget_undone(operation.sequence, step)?;
            }
            left_alone.extend(went.conflicts);
        }
        let is_gone = |number: &&u64| kept.iter().all(|it| it.sequence != **number);
        match operations.iter().filter(is_gone).count() {
            0 => Ok(left_alone),
            gone => Err(not_all_kept(gone, operations.len())),
        }
    }

    /// Leaves the last operation that was not undone as it is, so that the next undo takes back the one before it.
    /// Use it when another program changed the files of that operation since.
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
        let mut operations = history.oplog.list()?;
        let next = next_step(&operations, Way::Undo);
        let at = operations.iter().position(|it| next.is_some_and(|(of, _)| of == it.sequence));
        let of = operations.swap_remove(at.ok_or_else(|| nothing_to(Way::Undo))?);
        let (sequence, _) = history.oplog.next()?;
        let cause = OperationCause::Undo { of: of.sequence };
        let passed_over = history.prepare(sequence, &of.name, cause, Vec::new())?;
        history.append(passed_over, None)?;
        Ok(Undone { operation: of, paths: Vec::new(), conflicts: Vec::new() })
    }

    /// Takes back an operation within the call that it was recorded by; where nothing of it is left, neither is an
    /// operation, and it returns true.
    pub(super) fn undo_at_once(
        &self,
        history: &History,
        writer: &mut Layered<Guard>,
        sequence: u64,
    ) -> Result<bool> {
        let operations = history.oplog.list()?;
        let of = operations.iter().find(|it| it.sequence == sequence);
        let of = of.ok_or_else(|| nothing_to(Way::Undo))?;
        let step = Step { is_at_once: true, ..Step::undo(history, &operations, of) };
        let (undone, number) = step.go(self, writer)?;
        let is_all_back = undone.conflicts.is_empty();
        if is_all_back {
            // What was there is in a snapshot.
            history.forget_undone(sequence, number)?;
        }
        Ok(is_all_back)
    }

    /// Goes one step: the next one, or that of an operation.
    fn step(&self, way: Way, of: Option<u64>) -> Result<Undone> {
        let history = self.history(Operation::Undo)?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let operations = history.oplog.list()?;
        let (of, source) = match of {
            Some(number) => (number, number),
            None => next_step(&operations, way).ok_or_else(|| nothing_to(way))?,
        };
        if way == Way::Undo && !can_be_undone(&operations, of) {
            return Err(not_to_undo(of));
        }
        let find = |number| operations.iter().find(|it| it.sequence == number);
        let (Some(of), Some(source)) = (find(of), find(source)) else {
            return Err(nothing_to(way));
        };
        let step = match way {
            Way::Undo => Step::undo(history, &operations, of),
            Way::Redo => Step { way, source, ..Step::undo(history, &[], of) },
        };
        let (undone, number) = step.go(self, &mut writer)?;
        if number.is_none() {
            let conflict = undone.conflicts.first();
            let built_upon = built_upon(&operations, of).filter(|_| way == Way::Undo);
            if let Some(path) = conflict.or(built_upon) {
                return Err(changed_since(path));
            }
        }
        if number.is_none() {
            step.record_nothing()?;
        }
        if undone.conflicts.is_empty()
            && way == Way::Undo
            && !is_restored_since(&operations, of.sequence)
        {
            history.go_back_to_head_before(of)?;
        }
        Ok(undone)
    }
}

impl History {
    /// Forgets an operation that was taken back, with the step that did that, unless a program may have written into
    /// what one of them displaced: that is nowhere else.
    fn forget_undone(&self, sequence: u64, step: Option<u64>) -> Result<()> {
        let numbers: Vec<u64> = [Some(sequence), step].into_iter().flatten().collect();
        for number in &numbers {
            if self.oplog.written(*number)?.is_some() {
                return Ok(());
            }
        }
        self.oplog.forget(&numbers)
    }
}

/// One operation that is taken back, or done again.
struct Step<'a> {
    history: &'a History,
    of: &'a OperationRecord,
    /// The operation whose changes are taken back: itself, or to do it again the one that took it back.
    source: &'a OperationRecord,
    /// The last redo, where that is what an undo takes back: it displaced what was there before it.
    redone: Option<&'a OperationRecord>,
    way: Way,
    /// Whether it is a part of the call that failed: then neither of the two is an operation.
    is_at_once: bool,
}

impl<'a> Step<'a> {
    /// Takes an operation back that is one of some.
    fn undo(
        history: &'a History,
        operations: &'a [OperationRecord],
        of: &'a OperationRecord,
    ) -> Self {
        let is_step = |it: &&OperationRecord| it.cause.step_of() == Some(of.sequence);
        let last = operations.iter().rfind(is_step);
        let redone = last.filter(|it| matches!(it.cause, OperationCause::Redo { .. }));
        Self { history, of, source: of, redone, way: Way::Undo, is_at_once: false }
    }

    /// Goes the step and records it; returns also the number of its record, where anything changed.
    fn go(&self, files: &Workspace, writer: &mut Layered<Guard>) -> Result<(Undone, Option<u64>)> {
        let (done, number) = match self.source.saved() {
            Some(saved) => self.replace(files, writer, saved)?,
            None => self.take_back(files, writer)?,
        };
        let mut conflicts = done.left;
        if self.way == Way::Redo {
            // What was left alone then is not as the operation left it.
            let is_back = |path: &TreePath| done.back.iter().any(|it| it.starts_with(path));
            let left_then = self.source.left_alone.iter().filter(|path| !is_back(path));
            conflicts.extend(left_then.cloned());
        }
        let changed = self.of.changes.iter().map(|it| &it.path).chain(&done.back);
        let is_left = |path: &TreePath| conflicts.iter().any(|it| it.starts_with(path));
        let paths = changed.filter(|path| !is_left(path)).cloned().collect();
        let paths = topmost(paths);
        Ok((
            Undone {
                operation: self.of.clone(),
                paths,
                conflicts: conflicts.into_iter().collect(),
            },
            number,
        ))
    }

    fn cause(&self) -> OperationCause {
        match self.way {
            Way::Undo => OperationCause::Undo { of: self.of.sequence },
            Way::Redo => OperationCause::Redo { of: self.of.sequence },
        }
    }

    /// Takes back the changes of a call, or of another step.
    fn take_back(
        &self,
        files: &Workspace,
        writer: &mut Layered<Guard>,
    ) -> Result<(Outcome, Option<u64>)> {
        let history = self.history;
        let recorded = history.recorded_changes(self.source)?;
        for displacing in self.redone.into_iter().chain([self.source]) {
            if let Some(path) = history.oplog.first_written_since(displacing.sequence)? {
                return Err(written_since(&path));
            }
        }
        check_contents(&*history.oplog, self.source, &recorded)?;
        let (sequence, aside) = history.oplog.next()?;
        let image = writer.before_image(&aside)?;
        let backend = files.backend(writer);
        let (outcome, record) = files
            .0
            .recording
            .during(image, || history.take_back(backend, &recorded, is_of_the_path, Kept::Stays));
        let done = outcome.and_then(|outcome| {
            let number = self.record(sequence, &record, &outcome, &files.0.live)?;
            Ok((outcome, number))
        });
        done.map_err(|error| {
            files.roll_back(history, writer, sequence, &self.of.name, &record);
            error.during(Operation::Undo)
        })
    }

    /// Records what the step changed; nothing where it changed nothing.
    fn record(
        &self,
        sequence: u64,
        record: &Record,
        outcome: &Outcome,
        live: &Arc<dyn Tree>,
    ) -> Result<Option<u64>> {
        let changes = self.history.changes_of(sequence, &self.of.name, record, live)?;
        if changes.is_empty() {
            return Ok(None);
        }
        let mut operation = self.history.operation(sequence, &self.of.name, self.cause(), changes);
        operation.left_alone = outcome.left.iter().cloned().collect();
        let operation = self.history.prepare_record(operation)?;
        self.history.append(operation, Some(record.recorded()))?;
        Ok(Some(sequence))
    }

    /// Records a step that found everything as it was to be: the next one is another.
    fn record_nothing(&self) -> Result<()> {
        let (sequence, _) = self.history.oplog.next()?;
        let operation = self.history.prepare(sequence, &self.of.name, self.cause(), Vec::new())?;
        self.history.append(operation, None)
    }

    /// Takes back what replaced files as a whole, by the snapshot of what was there before.
    fn replace(
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
            match self.try_replace(files.backend(writer), &*before, &kept_back) {
                // Another program wrote meanwhile: what is decided anew leaves that alone.
                Err(error) if error.kind() == ErrorKind::Conflict && tries < REPLACE_TRIES => {}
                // What is in the way of some paths keeps no others.
                Err(error) if is_of_the_path(&error) => {
                    let is_new = |path: &&TreePath| {
                        is_at_or_around(&error, path) && !kept_back.contains(path)
                    };
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

    /// Does the same by one look at the files: whatever changes after it is a Conflict.
    fn try_replace(
        &self,
        backend: &mut dyn Backend,
        before: &dyn Tree,
        kept_back: &[TreePath],
    ) -> Result<(Outcome, Option<u64>)> {
        let history = self.history;
        let captured = history.capture(backend)?;
        let (mut same, mut changed) = sort_out(&*captured.tree, before, &self.source.changes)?;
        changed.extend(same.extract_if(.., |path| kept_back.contains(path)));
        if !same.is_empty() && !changed.is_empty() {
            let left_behind = left_behind(before, self.source, &changed)?;
            changed.extend(same.extract_if(.., |path| left_behind.contains(path)));
        }
        changed.sort();
        let outcome = Outcome::new(&same, changed.clone());
        if same.is_empty() {
            return Ok((outcome, None));
        }
        let scope = Scope::paths(with_made_parents(before, &*captured.tree, &same)?);
        let scope = scope.excluding(history.excluded.known());
        let restore = Restore { history, target: before, scope: &scope };
        let step = Some((self.cause(), changed));
        let going = Going { name: &self.of.name, step, is_kept_for_good: self.is_at_once };
        let done = restore.replace_captured(backend, captured, &going);
        let sequence = done.map_err(|error| error.during(Operation::Undo))?.sequence;
        Ok((outcome, sequence))
    }
}

/// Tells whether an error is about a path, or about a directory above it or an entry below it.
fn is_at_or_around(error: &Error, path: &TreePath) -> bool {
    let at = error.path().and_then(|text| TreePath::parse(text).ok());
    at.is_some_and(|at| at.overlaps(path))
}

/// Leaves the topmost of some paths.
fn topmost(mut paths: Vec<TreePath>) -> Vec<TreePath> {
    paths.sort();
    paths.dedup_by(|below, above| below.starts_with(above));
    paths
}

/// Tells the paths that are still what an operation left there from those that are neither that nor what they were
/// before it.
fn sort_out(
    live: &dyn Tree,
    before: &dyn Tree,
    changes: &[OperationChange],
) -> Result<(Vec<TreePath>, Vec<TreePath>)> {
    let (mut same, mut changed) = (Vec::new(), Vec::new());
    for change in changes {
        let left = Left::at(live, &change.path)?;
        let is_same =
            left == change.left || (change.left.is_none() && is_hollow(live, &change.path)?);
        if !is_same && left == Left::at(before, &change.path)? {
            continue;
        }
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

/// Finds a path of an operation that a later one changed which still stands.
fn built_upon<'o>(operations: &'o [OperationRecord], of: &OperationRecord) -> Option<&'o TreePath> {
    let later = operations.iter().filter(|it| it.sequence > of.sequence && !it.cause.is_step());
    let later = later.filter(|it| !is_taken_back(operations, it.sequence));
    let mut changed = later.flat_map(|it| &it.changes).map(|it| &it.path);
    changed.find(|path| of.changes.iter().any(|it| it.path.overlaps(path)))
}

/// Tells whether a restore that came after an operation still stands.
fn is_restored_since(operations: &[OperationRecord], sequence: u64) -> bool {
    let later = operations.iter().filter(|it| it.sequence > sequence && it.name == RESTORE);
    later.filter(|it| it.cause.saved().is_some()).any(|it| !is_taken_back(operations, it.sequence))
}

/// Finds the operation that would be taken back, or done again, next, and the one whose changes that takes back.
fn next_step(operations: &[OperationRecord], way: Way) -> Option<(u64, u64)> {
    let (done, undone) = stacks(operations);
    match way {
        Way::Undo => done.last().map(|of| (*of, *of)),
        Way::Redo => undone.last().copied(),
    }
}

/// Tells whether an operation can be taken back: it is done, or a part of it is.
fn can_be_undone(operations: &[OperationRecord], number: u64) -> bool {
    let (done, _) = stacks(operations);
    let last = operations.iter().rfind(|it| it.cause.step_of() == Some(number));
    let is_partly_undone = last.is_some_and(|it| {
        matches!(it.cause, OperationCause::Undo { .. }) && !it.left_alone.is_empty()
    });
    done.contains(&number) || is_partly_undone
}

/// Returns the operations that are done, and those that were taken back with what did that, the next one last.
///
/// Of the steps of one operation all but the last may be missing: they are not kept for ever.
fn stacks(operations: &[OperationRecord]) -> (Vec<u64>, Vec<(u64, u64)>) {
    let (mut done, mut undone): (Vec<u64>, Vec<(u64, u64)>) = (Vec::new(), Vec::new());
    for operation in operations {
        let number = operation.sequence;
        match operation.cause {
            // The files are what they were before a call that did not end.
            OperationCause::Recovery => {}
            OperationCause::Call | OperationCause::Replacement { .. } => {
                done.push(number);
                undone.clear();
            }
            OperationCause::Undo { of } => {
                done.retain(|it| *it != of);
                undone.retain(|(it, _)| *it != of);
                // One that was passed over is as it was.
                if !operation.changes.is_empty() {
                    undone.push((of, number));
                }
            }
            OperationCause::Redo { of } => {
                done.retain(|it| *it != of);
                undone.retain(|(it, _)| *it != of);
                done.push(of);
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
         changed was taken back, but for what has changed since; restore a snapshot to go further back"
    ))
}

fn nothing_to(way: Way) -> Error {
    Error::new(Operation::Undo, ErrorKind::NotFound).with_detail(match way {
        Way::Undo => "there is nothing to undo; list the operations to see what was done",
        Way::Redo => "there is nothing to redo; only what was undone last can be",
    })
}

/// Says which operation cannot be taken back any more, and what of it is gone.
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
        "it has changed since the operation, so nothing of that can be undone; pass it over \
         to undo what came before it, or restore the path from a snapshot",
    )
}
