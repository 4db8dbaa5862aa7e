//! Recovery: rolls back the calls of processes that died, or finishes them.

pub(crate) mod executed;

use std::collections::BTreeSet;

use super::history::History;
use super::undo::take_back::{Kept, Outcome, is_lasting, is_of_the_path};
use crate::error::{Error, Result};
use crate::filesystem::Backend;
use crate::filesystem::event::Event;
use crate::oplog::{Left, OperationCause, OperationChange, OperationRecord, Recorded, Recording};
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// What a call is called of which nothing is known but its changes.
const INTERRUPTED: &str = "interrupted";

/// An operation that failed, or whose process died.
pub(super) struct Failed<'a> {
    pub(super) number: u64,
    /// What was called.
    pub(super) name: &'a str,
    pub(super) recorded: Recorded,
}

impl History {
    /// Takes back what calls had changed whose process died, but for what other programs changed since, and records
    /// a replacement as done that the backend has finished.
    pub(super) fn recover(&self, backend: &mut dyn Backend, recording: &Recording) -> Result<()> {
        for number in self.oplog.interrupted()? {
            match self.oplog.begun_record(number)? {
                Some(begun) if is_programs_run(&begun) => self.recover_executed(backend, begun)?,
                Some(begun) if begun.saved().is_some() => self.finish(backend, begun)?,
                begun => {
                    let name = begun.map_or_else(|| INTERRUPTED.to_owned(), |begun| begun.name);
                    self.recover_call(backend, recording, number, &name)?;
                }
            }
        }
        Ok(())
    }

    fn recover_call(
        &self,
        backend: &mut dyn Backend,
        recording: &Recording,
        number: u64,
        name: &str,
    ) -> Result<()> {
        let failed = Failed { number, name, recorded: self.oplog.recorded(number)? };
        let (back, left) = self.roll_back(backend, recording, &failed, is_lasting)?;
        self.tell_recovered(back, left);
        Ok(())
    }

    /// Takes back what an operation changed that failed, or whose process died. That is an operation of its own: a
    /// program that has one of the files open may still write into it. Returns the paths that are as they were, and
    /// those that were left alone and for which something is kept.
    pub(super) fn roll_back(
        &self,
        backend: &mut dyn Backend,
        recording: &Recording,
        failed: &Failed<'_>,
        is_left: fn(&Error) -> bool,
    ) -> Result<(Vec<TreePath>, Vec<TreePath>)> {
        let outcome = if failed.recorded.has_changes() {
            self.roll_back_changes(backend, recording, failed, is_left)?
        } else {
            Outcome::default()
        };
        let back = outcome.back.iter().cloned().collect();
        let Failed { number, name, recorded } = failed;
        Ok((back, self.settle_taken_back(*number, name, recorded.clone(), outcome)?))
    }

    fn roll_back_changes(
        &self,
        backend: &mut dyn Backend,
        recording: &Recording,
        failed: &Failed<'_>,
        is_left: fn(&Error) -> bool,
    ) -> Result<Outcome> {
        let (sequence, aside) = self.oplog.next()?;
        let image = backend.before_image(&aside)?;
        let take_back = || self.take_back(backend, &failed.recorded, is_of_the_path, Kept::Goes);
        let (outcome, record) = recording.during(image, take_back);
        let outcome = match outcome {
            // Nothing can be recorded, as on a full disk: what is given back takes no space.
            Err(error) if is_lasting(&error) => {
                self.oplog.discard(sequence);
                return self.take_back(backend, &failed.recorded, is_left, Kept::Goes);
            }
            outcome => outcome?,
        };
        // It is done: where it cannot be recorded, it is none.
        let changes = self.changes_of(sequence, failed.name, &record, &backend.live());
        let recorded = changes.and_then(|changes| {
            if changes.is_empty() {
                Ok(())
            } else {
                let done =
                    self.prepare(sequence, failed.name, OperationCause::Recovery, changes)?;
                self.append(done, Some(record.recorded()))
            }
        });
        if recorded.is_err() {
            self.oplog.discard(sequence);
        }
        Ok(outcome)
    }

    /// Ends an operation that was taken back: nothing is kept of it, but for what belongs to paths that were left
    /// alone. It stays in the history for those, which are returned, so that what they were can be found.
    pub(super) fn settle_taken_back(
        &self,
        number: u64,
        name: &str,
        recorded: Recorded,
        outcome: Outcome,
    ) -> Result<Vec<TreePath>> {
        let changes = left_changes(&recorded, &outcome)?;
        if changes.is_empty() {
            self.oplog.discard(number);
            return Ok(Vec::new());
        }
        let left: Vec<_> = changes.iter().map(|it| it.path.clone()).collect();
        let mut operation = self.operation(number, name, OperationCause::Call, changes);
        operation.left_alone = left.clone();
        let operation = self.prepare_record(operation)?;
        self.append(operation, Some(recorded))?;
        Ok(left)
    }

    /// Records a replacement that is done, and tells how far it is; one of which nothing was done is forgotten. One that
    /// the backend cannot finish yet is looked at again by the next call.
    fn finish(&self, backend: &dyn Backend, begun: OperationRecord) -> Result<()> {
        if backend.is_unfinished() {
            self.observers.tell(&Event::ReplacementUnfinished { name: begun.name });
            return Ok(());
        }
        let (finished, left) = how_far(&*backend.live(), &begun)?;
        // Also where other programs changed everything since, a file that it displaced may be their only copy.
        if finished.is_empty() && self.oplog.written(begun.sequence)?.is_none() {
            self.oplog.discard(begun.sequence);
            return Ok(());
        }
        let name = begun.name.clone();
        self.append(begun, None)?;
        self.observers.tell(&Event::ReplacementFinished { name, finished, left });
        Ok(())
    }

    /// Forgets a replacement that failed and changed nothing. Where a part of it could not be undone, the next call
    /// records that part.
    pub(super) fn give_up(&self, live: &dyn Tree, begun: &OperationRecord) {
        let is_undone = how_far(live, begun).is_ok_and(|(finished, _)| finished.is_empty());
        if is_undone && self.oplog.written(begun.sequence).is_ok_and(|written| written.is_none()) {
            self.oplog.discard(begun.sequence);
        }
    }

    pub(super) fn tell_recovered(&self, taken_back: Vec<TreePath>, left: Vec<TreePath>) {
        if !taken_back.is_empty() || !left.is_empty() {
            self.observers.tell(&Event::Recovered { taken_back, left });
        }
    }
}

/// Tells whether an operation is a program's run: what it will change is not known before.
fn is_programs_run(operation: &OperationRecord) -> bool {
    operation.saved().is_some() && operation.changes.is_empty()
}

/// Tells what a replacement made as it leaves it from what it did not.
fn how_far(live: &dyn Tree, done: &OperationRecord) -> Result<(Vec<TreePath>, Vec<TreePath>)> {
    let (mut finished, mut left) = (Vec::new(), Vec::new());
    for change in &done.changes {
        let is_finished = Left::at(live, &change.path).ok() == Some(change.left.clone());
        if is_finished { &mut finished } else { &mut left }.push(change.path.clone());
    }
    Ok((finished, left))
}

/// Says of the paths that were left alone what the operation had found and left there.
///
/// Where nothing was displaced, what is there now is all that there is: nothing has to be found.
fn left_changes(recorded: &Recorded, outcome: &Outcome) -> Result<Vec<OperationChange>> {
    let mut changes = Vec::new();
    let rescued = recorded.rescued.iter();
    for path in outcome.left.iter().chain(rescued).collect::<BTreeSet<_>>() {
        let before = recorded.displaced_kind(path)?;
        if before.is_none() && !recorded.has_moved(path) {
            continue;
        }
        let left = recorded.steps.iter().rev().find_map(|(_, step)| step.left_at(path)).flatten();
        let after = left.as_ref().and_then(kind_of);
        let (path, inside, replaced) = (path.clone(), Vec::new(), None);
        changes.push(OperationChange { path, before, after, inside, left, replaced });
    }
    Ok(changes)
}

fn kind_of(left: &Left) -> Option<Kind> {
    match left {
        Left::Entry(identity) => Some(identity.kind()),
        Left::Other(_) => None,
    }
}
