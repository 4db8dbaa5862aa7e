//! Where the history of a workspace is written down.

use std::any::Any;
use std::collections::BTreeSet;
use std::path::PathBuf;

use super::recorded::Recorded;
use super::value::{OperationCause, OperationRecord};
use crate::error::Result;
use crate::path::TreePath;
use crate::snapshot::SnapshotId;

const KEPT: usize = OperationRecord::MOST_KEPT;

/// How many records there may be before the operation log checks which of them are too old.
pub(crate) const MANY_RECORDS: usize = 2 * KEPT;

/// How many records there are at most, however often the user undoes and redoes operations.
const MOST_RECORDS: usize = 4 * KEPT;

/// Returns the numbers of those of some records, oldest first, that are not kept any more.
///
/// What took others back, or did them again, pushes none of them out: where there is too much of it, what
/// goes is what was followed by the same the other way round.
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
        counted += usize::from(!cause.is_step());
        counted > KEPT
    });
    too_old.map_or(0, |last| last + 1)
}

/// Returns the numbers of the steps, last first, after which there is another of the same operation.
fn overtaken(records: &[(u64, OperationCause)]) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    let steps = records.iter().rev().filter_map(|(number, cause)| Some((number, cause.step_of()?)));
    steps.filter(|(_, of)| !seen.insert(*of)).map(|(number, _)| *number).collect()
}

/// Leaves the last operations, with what took them back or did them again.
pub(crate) fn last_kept(mut operations: Vec<OperationRecord>) -> Vec<OperationRecord> {
    let records: Vec<_> = operations.iter().map(|it| (it.sequence, it.cause)).collect();
    let gone = not_kept(&records);
    operations.retain(|it| !gone.contains(&it.sequence));
    operations
}

/// Keeps operations in their order, with what was there before each of them.
pub(crate) trait OpLog: Send + Sync {
    /// Waits until no other process works in the workspace, and keeps it so until the value is dropped.
    fn lock(&self) -> Result<Box<dyn Any + Send>>;

    /// Does the same where no other process works there just now; returns nothing where one does.
    fn lock_if_free(&self) -> Result<Option<Box<dyn Any + Send>>> {
        self.lock().map(Some)
    }

    /// Returns the numbers of the operations, last first, that were begun and neither done nor taken back.
    fn interrupted(&self) -> Result<Vec<u64>>;

    /// Remembers an operation that failed and could not be taken back.
    fn remember_interrupted(&self, sequence: u64, recorded: Recorded);

    /// Returns the number of the next operation, and the directory in which it may keep things.
    fn next(&self) -> Result<(u64, PathBuf)>;

    /// Writes an operation down so far that adding it takes no more space; until then it is none.
    ///
    /// Its number is the one that [`next`](Self::next) gave.
    fn prepare(&self, operation: &OperationRecord) -> Result<()>;

    /// Writes an operation down again that was prepared before all was known of it, and that lists no paths.
    fn prepare_again(&self, _operation: &OperationRecord) -> Result<()> {
        Ok(())
    }

    /// Adds an operation that was prepared.
    fn append(&self, operation: OperationRecord, recorded: Option<Recorded>) -> Result<()>;

    /// Takes away what an operation kept that is not to be added.
    fn discard(&self, sequence: u64);

    /// Returns the operations, oldest first.
    fn list(&self) -> Result<Vec<OperationRecord>>;

    /// Forgets some operations; those that are not there are passed over.
    fn forget(&self, sequences: &[u64]) -> Result<()>;

    /// Returns the numbers of all operations that are written down, also of those that are too old or too
    /// damaged to be listed.
    fn numbers(&self) -> Result<Vec<u64>> {
        Ok(self.list()?.iter().map(|operation| operation.sequence).collect())
    }

    /// Returns the numbers of the operations whose record is damaged, oldest first, as far back as others are
    /// listed: they cannot be undone.
    fn damaged(&self) -> Result<Vec<u64>> {
        Ok(Vec::new())
    }

    /// Returns an interrupted operation as it was written down, where it came to that.
    fn begun_record(&self, _sequence: u64) -> Result<Option<OperationRecord>> {
        Ok(None)
    }

    /// Returns whether an operation keeps an entry that no change of it displaced, and whose path is not recorded or
    /// is one of those that are meant.
    fn keeps_unused(&self, _sequence: u64, _is_meant: &dyn Fn(&TreePath) -> bool) -> Result<bool> {
        Ok(false)
    }

    /// Forgets all operations that are written down.
    fn forget_all(&self) -> Result<()> {
        self.forget(&self.numbers()?)
    }

    /// Returns where other workspaces are written down that share the snapshots, each with its name.
    fn others(&self) -> Result<Vec<(String, Box<dyn OpLog>)>> {
        Ok(Vec::new())
    }

    /// Returns the first of the files that an operation keeps into which a program wrote after they were kept: they
    /// are not what was there before it.
    fn first_written_since(&self, _sequence: u64) -> Result<Option<TreePath>> {
        Ok(None)
    }

    /// Tells whether a program may have written into a kept file after it was displaced.
    fn may_be_written(&self, _kept: &TreePath) -> Result<bool> {
        Ok(false)
    }

    /// Returns the files that a replacement displaced and into which a program may have written since, if there are
    /// any: what its snapshot holds of them may be older.
    fn written(&self, _sequence: u64) -> Result<Option<Recorded>> {
        Ok(None)
    }

    /// Returns the changes of an operation, with what they displaced; it may be one that was interrupted.
    fn recorded(&self, sequence: u64) -> Result<Recorded>;

    /// Returns the snapshot that was taken or restored last.
    fn head(&self) -> Result<Option<SnapshotId>>;

    /// Says which snapshot was taken or restored last.
    fn set_head(&self, id: SnapshotId) -> Result<()>;
}
