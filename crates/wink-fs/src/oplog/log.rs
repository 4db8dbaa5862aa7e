//! The operation log of a workspace.

use std::any::Any;
use std::collections::BTreeSet;
use std::path::PathBuf;

use super::recorded::Recorded;
use super::value::{OperationCause, OperationRecord};
use crate::error::Result;
use crate::path::TreePath;
use crate::snapshot::SnapshotId;

const KEPT: usize = OperationRecord::MOST_KEPT;

/// With more records than this, the log looks for those that are too old.
pub(crate) const MANY_RECORDS: usize = 2 * KEPT;

/// The most records, however often the user undoes and redoes.
const MOST_RECORDS: usize = 4 * KEPT;

/// Returns the numbers of records that are too old, oldest first.
///
/// Undo and redo push no operations out. If there are too many of them, those go that a later undo or redo of the same
/// operation has superseded.
pub(crate) fn not_kept(records: &[(u64, OperationCause)]) -> BTreeSet<u64> {
    let (too_old, kept) = records.split_at(too_old(records));
    let excess = kept.len().saturating_sub(MOST_RECORDS);
    let mut gone: BTreeSet<u64> = too_old.iter().map(|(number, _)| *number).collect();
    if excess > 0 {
        gone.extend(overtaken(kept).into_iter().rev().take(excess));
    }
    gone
}

fn too_old(records: &[(u64, OperationCause)]) -> usize {
    let mut counted = 0;
    let too_old = records.iter().rposition(|(_, cause)| {
        // Otherwise undoing and redoing 100 times would push out everything that could still be undone.
        counted += usize::from(!cause.is_step());
        counted > KEPT
    });
    too_old.map_or(0, |last| last + 1)
}

/// Returns the numbers of superseded undos and redos, last first.
fn overtaken(records: &[(u64, OperationCause)]) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    let steps = records.iter().rev().filter_map(|(number, cause)| Some((number, cause.step_of()?)));
    steps.filter(|(_, of)| !seen.insert(*of)).map(|(number, _)| *number).collect()
}

/// Returns the last operations, with their undos and redos.
pub(crate) fn last_kept(mut operations: Vec<OperationRecord>) -> Vec<OperationRecord> {
    let records: Vec<_> = operations.iter().map(|it| (it.sequence, it.cause)).collect();
    let gone = not_kept(&records);
    operations.retain(|it| !gone.contains(&it.sequence));
    operations
}

/// Keeps operations in order, with their pre-images.
pub(crate) trait OpLog: Send + Sync {
    /// Locks the workspace for this process until the value is dropped.
    fn lock(&self) -> Result<Box<dyn Any + Send>>;

    /// Like [`lock`](Self::lock), but does not wait; `None` if another process holds the lock.
    fn lock_if_free(&self) -> Result<Option<Box<dyn Any + Send>>> {
        self.lock().map(Some)
    }

    /// Returns the numbers of operations that were begun and neither done nor rolled back, last first.
    fn interrupted(&self) -> Result<Vec<u64>>;

    /// Remembers an operation that failed and could not be rolled back.
    fn remember_interrupted(&self, sequence: u64, recorded: Recorded);

    /// Returns the number of the next operation, and the path prefix of its pre-images.
    fn next(&self) -> Result<(u64, PathBuf)>;

    /// Writes an operation so far that appending it needs no more space; until then it does not count.
    ///
    /// Its number must come from [`next`](Self::next).
    fn prepare(&self, operation: &OperationRecord) -> Result<()>;

    /// Notes that steps of an operation were rolled back, so that a later undo does not undo them once more.
    fn drop_steps(&self, _sequence: u64, _lines: &[usize]) -> Result<()> {
        Ok(())
    }

    /// Writes an operation without a list again, once everything about it is known.
    fn prepare_again(&self, _operation: &OperationRecord) -> Result<()> {
        Ok(())
    }

    /// Appends a prepared operation.
    fn append(&self, operation: OperationRecord, recorded: Option<Recorded>) -> Result<()>;

    /// Deletes what an operation kept that is not appended.
    fn discard(&self, sequence: u64);

    /// Returns the operations, oldest first.
    fn list(&self) -> Result<Vec<OperationRecord>>;

    /// Forgets operations; missing ones are ignored.
    fn forget(&self, sequences: &[u64]) -> Result<()>;

    /// Returns the numbers of all recorded operations, even those too old or too damaged to be listed.
    fn numbers(&self) -> Result<Vec<u64>> {
        Ok(self.list()?.iter().map(|operation| operation.sequence).collect())
    }

    /// Returns the numbers of damaged records, oldest first, as far back as others are listed; they cannot be undone.
    fn damaged(&self) -> Result<Vec<u64>> {
        Ok(Vec::new())
    }

    /// Returns the record of an interrupted operation, if it got that far.
    fn begun_record(&self, _sequence: u64) -> Result<Option<OperationRecord>> {
        Ok(None)
    }

    /// Returns whether an operation keeps an entry that none of its steps displaced, and whose path is unknown or
    /// accepted by `is_meant`.
    fn keeps_unused(&self, _sequence: u64, _is_meant: &dyn Fn(&TreePath) -> bool) -> Result<bool> {
        Ok(false)
    }

    /// Returns how much space the operations take; nothing if that is not known.
    fn bytes(&self) -> Result<u64> {
        Ok(0)
    }

    /// Returns the logs of other workspaces that share the store, each with its name.
    fn others(&self) -> Result<Vec<(String, Box<dyn OpLog>)>> {
        Ok(Vec::new())
    }

    /// Returns the first pre-image that a program wrote into after the operation.
    fn first_written_since(&self, _sequence: u64) -> Result<Option<TreePath>> {
        Ok(None)
    }

    /// Returns whether a program may have written into a pre-image after it was displaced.
    fn may_be_written(&self, _kept: &TreePath) -> Result<bool> {
        Ok(false)
    }

    /// Returns the files that a replacement displaced while programs may have had them open; the snapshot may have
    /// older content.
    fn written(&self, _sequence: u64) -> Result<Option<Recorded>> {
        Ok(None)
    }

    /// Returns the steps of an operation, with their pre-images; it may be an interrupted one.
    fn recorded(&self, sequence: u64) -> Result<Recorded>;

    /// Returns the last snapshot taken or restored.
    fn head(&self) -> Result<Option<SnapshotId>>;

    /// Sets the last snapshot taken or restored.
    fn set_head(&self, id: SnapshotId) -> Result<()>;
}
