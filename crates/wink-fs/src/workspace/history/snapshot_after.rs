//! Which snapshot holds the files as an operation left them.

use super::History;
use super::state_ref::not_logged;
use crate::error::{ErrorKind, Operation, Result};
use crate::oplog::{ContentId, OperationCause, OperationRecord};
use crate::snapshot::{Snapshot, SnapshotId};
use crate::tree::Tree;
use crate::tree::compare::compare;
use crate::tree::scope::Scope;
use crate::workspace::Workspace;

impl Workspace {
    /// Finds the snapshot of the files as an operation left them; `None` if no caller took one.
    ///
    /// It is one that was taken before the next operation and has what the operation left at every path that it
    /// changed, or the very state that a restore went to. An operation that is not kept any more is NotFound.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// files.write("a.txt", "two")?;
    /// let taken = files.snapshot("two")?;
    /// assert_eq!(files.snapshot_after(2)?.map(|it| it.id), Some(taken.id));
    /// assert_eq!(files.snapshot_after(1)?, None);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn snapshot_after(&self, sequence: u64) -> Result<Option<Snapshot>> {
        self.history(Operation::Restore)?.snapshot_after(sequence)
    }
}

impl History {
    pub(crate) fn snapshot_after(&self, sequence: u64) -> Result<Option<Snapshot>> {
        let operations = self.oplog.list()?;
        let at = operations.iter().position(|it| it.sequence == sequence);
        let at = at.ok_or_else(|| not_logged(sequence))?;
        let (operation, next) = (&operations[at], operations.get(at + 1));
        for snapshot in self.snapshots.list()? {
            if is_after(self, &snapshot, operation, next)? {
                return Ok(Some(snapshot));
            }
        }
        Ok(None)
    }
}

fn is_after(
    history: &History,
    snapshot: &Snapshot,
    operation: &OperationRecord,
    next: Option<&OperationRecord>,
) -> Result<bool> {
    if is_between(snapshot, operation, next) {
        return has_left(&*history.snapshots.load(&snapshot.id)?, operation);
    }
    match operation.cause {
        OperationCause::Replacement { saved } if saved != snapshot.id => {
            is_target(history, saved, snapshot, operation)
        }
        _ => Ok(false),
    }
}

/// Returns whether a snapshot was taken after an operation and before the next.
fn is_between(
    snapshot: &Snapshot,
    operation: &OperationRecord,
    next: Option<&OperationRecord>,
) -> bool {
    let before_next = |next: &OperationRecord| match next.cause {
        OperationCause::Replacement { saved } if saved == snapshot.id => true,
        _ => snapshot.created_at <= next.at,
    };
    operation.at <= snapshot.created_at && next.is_none_or(before_next)
}

/// Returns whether every path that an operation changed is what it left there.
fn has_left(tree: &dyn Tree, operation: &OperationRecord) -> Result<bool> {
    for change in &operation.changes {
        if ContentId::at(tree, &change.path)? != change.left {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether a snapshot differs from what was replaced in just what the operation changed.
fn is_target(
    history: &History,
    saved: SnapshotId,
    snapshot: &Snapshot,
    operation: &OperationRecord,
) -> Result<bool> {
    let before = match history.snapshots.load(&saved) {
        Err(error) if error.kind() == ErrorKind::SnapshotNotFound => return Ok(false),
        before => before?,
    };
    let after = history.snapshots.load(&snapshot.id)?;
    let scope = Scope::everything().excluding(history.excluded.known());
    let differences = compare(&*before, &*after, &scope)?;
    let same_paths = differences.len() == operation.changes.len()
        && differences.iter().zip(&operation.changes).all(|(a, b)| a.path == b.path);
    Ok(same_paths && has_left(&*after, operation)?)
}
