//! Where the history of a workspace is written down.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use super::value::{OperationCause, OperationRecord};
use crate::error::Result;
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::tree::Tree;

/// How many operations are kept before the oldest goes; to take one back, or do it again, is none of them.
const KEPT: usize = 200;

/// How many records are kept: that each operation was done, and that it was taken back.
const KEPT_RECORDS: usize = 2 * KEPT;

/// Returns how many of so many records are too old, after one of this cause was added.
///
/// What takes others back pushes none of them out, unless somebody goes to and fro without end.
pub(crate) fn too_many(records: usize, added: OperationCause) -> usize {
    let most = if added.is_step() { 2 * KEPT_RECORDS } else { KEPT_RECORDS };
    records.saturating_sub(most)
}

/// Leaves the last operations, with what took them back or did them again.
pub(crate) fn last_kept(mut operations: Vec<OperationRecord>) -> Vec<OperationRecord> {
    let mut counted = 0;
    let too_old = operations.iter().rposition(|it| {
        counted += usize::from(!it.cause.is_step());
        counted > KEPT
    });
    operations.drain(..too_old.map_or(0, |last| last + 1));
    operations
}

/// Keeps operations in their order, with what was there before each of them.
pub(crate) trait Ledger: Send + Sync {
    /// Waits until no other process works in the workspace, and keeps it so until the value is dropped.
    fn lock(&self) -> Result<Box<dyn Any + Send>>;

    /// Returns the operations, last first, that a process began and did not live to write down, each with
    /// the paths that it may have changed.
    fn interrupted(&self) -> Result<Vec<(u64, Vec<TreePath>)>>;

    /// Remembers an operation that failed and could not be taken back.
    fn remember_interrupted(&self, sequence: u64, paths: &[TreePath], before: Arc<dyn Tree>);

    /// Returns the number of the next operation, and the directory in which it may keep things.
    fn next(&self) -> Result<(u64, PathBuf)>;

    /// Writes an operation down so far that adding it takes no more space; until then it is none.
    ///
    /// Its number is the one that [`next`](Self::next) gave.
    fn prepare(&self, operation: &OperationRecord) -> Result<()>;

    /// Adds an operation that was prepared.
    fn append(&self, operation: OperationRecord, before: Option<Arc<dyn Tree>>) -> Result<()>;

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

    /// Forgets all operations that are written down.
    fn forget_all(&self) -> Result<()> {
        self.forget(&self.numbers()?)
    }

    /// Returns where other workspaces are written down that share the snapshots, each with its name.
    fn others(&self) -> Result<Vec<(String, Box<dyn Ledger>)>> {
        Ok(Vec::new())
    }

    /// Returns what was there before an operation.
    fn before(&self, sequence: u64) -> Result<Arc<dyn Tree>>;

    /// Returns the snapshot that was taken or restored last.
    fn head(&self) -> Result<Option<SnapshotId>>;

    /// Says which snapshot was taken or restored last.
    fn set_head(&self, id: SnapshotId) -> Result<()>;
}
