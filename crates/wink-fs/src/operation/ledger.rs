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

/// How many records there may be before somebody looks which of them are too old.
pub(crate) const MANY_RECORDS: usize = 2 * KEPT;

/// How many records there are at most, however often somebody goes to and fro.
const MOST_RECORDS: usize = 4 * KEPT;

/// Returns how many of some records, oldest first, are too old: what took others back, or did them again,
/// pushes none of them out.
pub(crate) fn too_old<'r>(
    causes: impl ExactSizeIterator<Item = &'r OperationCause> + DoubleEndedIterator,
) -> usize {
    let (mut counted, all) = (0, causes.len());
    let too_old = causes.rev().position(|cause| {
        counted += usize::from(!cause.is_step());
        counted > KEPT
    });
    too_old.map_or(0, |kept| all - kept).max(all.saturating_sub(MOST_RECORDS))
}

/// Leaves the last operations, with what took them back or did them again.
pub(crate) fn last_kept(mut operations: Vec<OperationRecord>) -> Vec<OperationRecord> {
    operations.drain(..too_old(operations.iter().map(|it| &it.cause)));
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

    /// Returns the numbers of the operations whose record is damaged, oldest first, as far back as others are
    /// listed: they cannot be undone.
    fn damaged(&self) -> Result<Vec<u64>> {
        Ok(Vec::new())
    }

    /// Returns an interrupted operation that replaces files, as it was written down before it began.
    fn begun_replacement(&self, _sequence: u64) -> Result<Option<OperationRecord>> {
        Ok(None)
    }

    /// Tells whether something is kept for an operation of which nobody knows any more where it was.
    fn keeps_nameless(&self, _sequence: u64) -> Result<bool> {
        Ok(false)
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
