//! Recovery: rolls back the calls of processes that died, and records the replacements that were finished.
//!
//! `host/replace/recover.rs` finishes a replacement.

use std::collections::BTreeSet;

use super::history::{History, describe, directory_modes};
use super::undo::take_back::{Outcome, PreimageUse, concerns_path, is_permanent};
use crate::error::{Error, ErrorKind, Result};
use crate::filesystem::Backend;
use crate::filesystem::event::Event;
use crate::oplog::{
    ContentId, DirectoryModeChange, OperationCause, OperationChange, OperationRecord, Recorded,
    Recording, Step,
};
use crate::path::TreePath;
use crate::snapshot::Snapshot;
use crate::tree::Tree;
use crate::tree::compare::compare;
use crate::tree::filtered::Filtered;
use crate::tree::hash::directory_mode;
use crate::tree::scope::Scope;

/// The name of a call about which only its changes are known.
const INTERRUPTED: &str = "interrupted";

/// An operation that failed, or whose process died.
pub(super) struct FailedOperation<'a> {
    pub(super) number: u64,
    /// The name of the call.
    pub(super) name: &'a str,
    pub(super) recorded: Recorded,
}

impl History {
    /// Rolls back the calls of processes that died, and records replacements that the backend has finished.
    pub(super) fn recover(&self, backend: &mut dyn Backend, recording: &Recording) -> Result<()> {
        for number in self.oplog.interrupted()? {
            match self.oplog.begun_record(number)? {
                Some(begun) if is_execution(&begun) => self.recover_execution(backend, begun)?,
                Some(begun) if begun.saved().is_some() => self.finish(backend, begun)?,
                begun => {
                    let name = begun.map(|begun| rollback_name(&begun.name, begun.cause));
                    let name = name.unwrap_or_else(|| INTERRUPTED.to_owned());
                    let recorded = self.oplog.recorded(number)?;
                    let failed = FailedOperation { number, name: &name, recorded };
                    // Whatever blocks a path now, maybe for ever, must not block every later call.
                    let (restored, left) =
                        self.roll_back(backend, recording, &failed, is_permanent)?;
                    self.report_recovered(restored, left);
                }
            }
        }
        Ok(())
    }

    /// Rolls back an operation that failed or was interrupted, as an operation of its own, because a program that has
    /// one of the files open may still write into it.
    ///
    /// Returns the restored paths, and those that were left alone and have a pre-image.
    pub(super) fn roll_back(
        &self,
        backend: &mut dyn Backend,
        recording: &Recording,
        failed: &FailedOperation<'_>,
        is_left_alone: fn(&Error) -> bool,
    ) -> Result<(Vec<TreePath>, Vec<TreePath>)> {
        let mut outcome = Outcome::default();
        if failed.recorded.has_changes() {
            self.roll_back_changes(backend, recording, failed, is_left_alone, &mut outcome)?;
        }
        let restored = outcome.restored.iter().cloned().collect();
        let FailedOperation { number, name, recorded } = failed;
        Ok((restored, self.end_rollback(*number, name, recorded.clone(), outcome)?))
    }

    fn roll_back_changes(
        &self,
        backend: &mut dyn Backend,
        recording: &Recording,
        failed: &FailedOperation<'_>,
        is_left_alone: fn(&Error) -> bool,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let steps = &failed.recorded;
        let (sequence, aside) = self.oplog.next()?;
        let image = backend.before_image(&aside)?;
        let (done, record) = recording.during(image, || {
            self.take_back(backend, steps, concerns_path, PreimageUse::Move, outcome)
        });
        match done {
            // The rollback cannot be recorded, on a full disk say. Moving pre-images back needs no space, so continue
            // unrecorded.
            Err(error) if is_permanent(&error) => {
                self.oplog.discard(sequence);
                let done =
                    self.take_back(backend, steps, is_left_alone, PreimageUse::Move, outcome);
                return done.inspect_err(|_| {
                    let undone: Vec<_> = outcome.undone_lines.iter().copied().collect();
                    // The next call continues. Without these lines, it checks each step again.
                    let _ = self.oplog.drop_steps(failed.number, &undone);
                });
            }
            done => done?,
        }
        let recorded = self.record(
            sequence,
            failed.name,
            OperationCause::Recovery,
            Vec::new(),
            &record,
            &backend.live(),
        );
        // The files are back already, so a rollback that cannot be recorded is not a failure.
        if recorded.is_err() {
            self.oplog.discard(sequence);
        }
        Ok(())
    }

    /// Ends a rollback: the operation is forgotten, unless paths were left alone.
    ///
    /// For those it stays in the log, so that their pre-images can be found; they are returned. Only their steps stay
    /// part of it: to undo a step again whose pre-image went back into view would remove the file.
    pub(super) fn end_rollback(
        &self,
        number: u64,
        name: &str,
        recorded: Recorded,
        outcome: Outcome,
    ) -> Result<Vec<TreePath>> {
        let (recorded, dropped) = split_left(recorded, &outcome)?;
        let changes = left_changes(&recorded, &outcome)?;
        if changes.is_empty() {
            self.oplog.discard(number);
            return Ok(Vec::new());
        }
        let left: Vec<_> = changes.iter().map(|it| it.path.clone()).collect();
        let mut operation = self.operation(number, name, OperationCause::Call, changes);
        operation.left_alone = left.clone();
        self.oplog.drop_steps(number, &dropped)?;
        let operation = self.prepare_record(operation)?;
        self.append(operation, Some(recorded))?;
        Ok(left)
    }

    /// Records a finished replacement and reports its paths; one that did nothing is forgotten.
    ///
    /// If the backend cannot finish it yet, the next call looks again.
    fn finish(&self, backend: &dyn Backend, begun: OperationRecord) -> Result<()> {
        // The file system may be read-only for now.
        if backend.is_unfinished() {
            self.observers.tell(&Event::ReplacementUnfinished { name: begun.name });
            return Ok(());
        }
        let (finished, left) = split_finished(&*backend.live(), &begun);
        // Even if other programs changed every path since, a displaced file may be the only copy of their work.
        if finished.is_empty() && self.oplog.written(begun.sequence)?.is_none() {
            self.oplog.discard(begun.sequence);
            return Ok(());
        }
        let name = begun.name.clone();
        self.append(begun, None)?;
        self.observers.tell(&Event::ReplacementFinished { name, finished, left });
        Ok(())
    }

    /// Forgets a failed replacement that changed nothing.
    ///
    /// If a part could not be undone, the next call records that part.
    pub(super) fn forget_if_undone(&self, live: &dyn Tree, begun: &OperationRecord) {
        let is_undone = split_finished(live, begun).0.is_empty();
        if is_undone && self.oplog.written(begun.sequence).is_ok_and(|written| written.is_none()) {
            self.oplog.discard(begun.sequence);
        }
    }

    pub(super) fn report_recovered(&self, restored: Vec<TreePath>, left: Vec<TreePath>) {
        if !restored.is_empty() || !left.is_empty() {
            self.observers.tell(&Event::Recovered { taken_back: restored, left });
        }
    }

    /// Records what a program changed before its process died, by comparing with the safety snapshot.
    ///
    /// If that can never be determined, the changes stay, and cannot be undone. If it cannot be determined now, for
    /// example because a directory is unreadable, the next call tries again; other work continues.
    fn recover_execution(&self, backend: &dyn Backend, begun: OperationRecord) -> Result<()> {
        match self.changed_during(backend, &begun) {
            Ok(Some((_, done))) if done.has_changes() => {
                let saved = begun.cause.saved();
                let name = begun.name.clone();
                let changed = done.changes.iter().map(|it| it.path.clone()).collect();
                self.append_executed(done)?;
                self.report_recovered(Vec::new(), changed);
                let forget = || saved.map_or(Ok(()), |saved| self.forget_oldest_saved(saved));
                self.tidy(&name, forget);
                Ok(())
            }
            Err(error) if !is_undeterminable(&error) => Ok(()),
            found => {
                self.oplog.discard(begun.sequence);
                if let Ok(Some((saved, _))) = found {
                    self.forget_unneeded(&saved);
                }
                Ok(())
            }
        }
    }

    /// Compares the files with the safety snapshot of a program's run; returns both the snapshot and the record of what
    /// changed.
    fn changed_during(
        &self,
        backend: &dyn Backend,
        begun: &OperationRecord,
    ) -> Result<Option<(Snapshot, OperationRecord)>> {
        let Some(saved) = begun.cause.saved() else { return Ok(None) };
        let saved = self.snapshots.describe(&saved)?;
        let before = self.snapshots.load(&saved.id)?;
        let (mut changes, modes) = self.leaving_out(&*backend.live(), || {
            let after = self.capture(backend)?;
            let excluded = self.excluded.in_turn().and(&saved.excluded)?;
            let scope = Scope::everything().excluding(excluded.clone());
            let live = Filtered { tree: backend.live(), excluded };
            let differences = compare(&*before, &*after.tree, &scope)?;
            Ok((describe(&differences, &live)?, directory_modes(&differences, &*before)?))
        })?;
        // Changes of later operations are theirs to undo. Counting them here would undo them twice.
        let later = self.changed_after(begun.sequence)?;
        changes.retain(|it| !later.iter().any(|path| path.overlaps(&it.path)));
        Ok(Some((saved, OperationRecord { changes, modes, ..begun.clone() })))
    }

    /// Returns the paths that later operations changed: their own undo covers them.
    fn changed_after(&self, sequence: u64) -> Result<Vec<TreePath>> {
        let operations = self.oplog.list()?.into_iter().filter(|it| it.sequence > sequence);
        Ok(operations.flat_map(|it| it.changes).map(|it| it.path).collect())
    }
}

/// Returns the name under which the rollback of an operation, or what is left of it, is recorded.
pub(super) fn rollback_name(name: &str, cause: OperationCause) -> String {
    match cause {
        OperationCause::Undo { .. } => format!("undo of {name}"),
        OperationCause::Redo { .. } => format!("redo of {name}"),
        _ => name.to_owned(),
    }
}

/// Returns whether an operation is a program's run, whose changes are not known beforehand.
fn is_execution(operation: &OperationRecord) -> bool {
    operation.saved().is_some() && !operation.has_changes()
}

/// Splits the paths of a replacement into those that it changed and those that it did not.
fn split_finished(live: &dyn Tree, done: &OperationRecord) -> (Vec<TreePath>, Vec<TreePath>) {
    let mut finished = Vec::new();
    let mut left = Vec::new();
    for change in &done.changes {
        let is_finished = ContentId::at(live, &change.path).ok() == Some(change.left.clone());
        if is_finished { &mut finished } else { &mut left }.push(change.path.clone());
    }
    for DirectoryModeChange { path, is, .. } in &done.modes {
        let is_finished = directory_mode(live, path).is_ok_and(|mode| mode == *is);
        if is_finished { &mut finished } else { &mut left }.push(path.clone());
    }
    (finished, left)
}

/// Splits off the steps that a rollback left nothing to undo of, and returns their lines.
///
/// A file that was put, and has no pre-image any more, may be one that an interrupted rollback brought back.
fn split_left(mut recorded: Recorded, outcome: &Outcome) -> Result<(Recorded, Vec<usize>)> {
    let made = recorded.steps.len() - recorded.rescued.len();
    let rescued = recorded.steps.split_off(made);
    let mut left = Vec::new();
    let mut dropped = Vec::new();
    for (line, step) in std::mem::take(&mut recorded.steps) {
        let is_put = matches!(step, Step::Put { .. } | Step::Place { .. });
        let is_undone = outcome.undone_lines.contains(&line);
        if !is_undone && (!is_put || recorded.kept(line)?.is_some()) {
            left.push((line, step));
        } else {
            dropped.push(line);
        }
    }
    recorded.steps = left.into_iter().chain(rescued).collect();
    Ok((recorded, dropped))
}

/// Returns the changes at paths that were left alone.
///
/// A path without a pre-image is omitted: there is nothing to find for it.
fn left_changes(recorded: &Recorded, outcome: &Outcome) -> Result<Vec<OperationChange>> {
    let mut changes = Vec::new();
    let rescued = recorded.rescued.iter();
    for path in outcome.left_alone.iter().chain(rescued).collect::<BTreeSet<_>>() {
        let before = recorded.displaced_kind(path)?;
        if before.is_none() && !recorded.has_moved(path) {
            continue;
        }
        let left = recorded.steps.iter().rev().find_map(|(_, step)| step.left_at(path)).flatten();
        let after = match &left {
            Some(ContentId::Entry(identity)) => Some(identity.kind()),
            _ => None,
        };
        changes.push(OperationChange {
            path: path.clone(),
            before,
            after,
            inside: Vec::new(),
            left,
            replaced: None,
        });
    }
    Ok(changes)
}

/// Returns whether the changes can never be known: the snapshot is gone or damaged, or a child of the program keeps
/// writing. Later calls must not fail for that.
fn is_undeterminable(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::SnapshotNotFound | ErrorKind::Corrupt | ErrorKind::Conflict)
}
