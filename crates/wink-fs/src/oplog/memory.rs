//! An operation log in memory.

use std::any::Any;
use std::collections::VecDeque;
use std::path::PathBuf;

use parking_lot::Mutex;

use super::log::{MANY_RECORDS, OpLog, last_kept, not_kept};
use super::recorded::Recorded;
use super::value::OperationRecord;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::snapshot::SnapshotId;

type Kept = (OperationRecord, Option<Recorded>);

/// Keeps operations in memory.
#[derive(Default)]
pub(crate) struct MemoryOpLog {
    operations: Mutex<VecDeque<Kept>>,
    interrupted: Mutex<Vec<Interrupted>>,
    head: Mutex<Option<SnapshotId>>,
}

/// An operation that failed and could not be rolled back.
struct Interrupted {
    sequence: u64,
    recorded: Recorded,
}

impl OpLog for MemoryOpLog {
    fn lock(&self) -> Result<Box<dyn Any + Send>> {
        Ok(Box::new(()))
    }

    fn interrupted(&self) -> Result<Vec<u64>> {
        Ok(self.interrupted.lock().iter().rev().map(|it| it.sequence).collect())
    }

    fn remember_interrupted(&self, sequence: u64, recorded: Recorded) {
        let mut interrupted = self.interrupted.lock();
        interrupted.retain(|it| it.sequence != sequence);
        interrupted.push(Interrupted { sequence, recorded });
    }

    fn next(&self) -> Result<(u64, PathBuf)> {
        let last = self.operations.lock().back().map_or(0, |(operation, _)| operation.sequence);
        let begun = self.interrupted.lock().last().map_or(0, |it| it.sequence);
        Ok((last.max(begun) + 1, PathBuf::new()))
    }

    fn prepare(&self, _: &OperationRecord) -> Result<()> {
        Ok(())
    }

    fn append(&self, operation: OperationRecord, recorded: Option<Recorded>) -> Result<()> {
        self.discard(operation.sequence);
        let mut operations = self.operations.lock();
        operations.push_back((operation, recorded));
        if operations.len() <= MANY_RECORDS {
            return Ok(());
        }
        let records: Vec<_> = operations.iter().map(|(it, _)| (it.sequence, it.cause)).collect();
        let gone = not_kept(&records);
        if gone.is_empty() {
            return Ok(());
        }
        let is_gone = |(operation, _): &Kept| gone.contains(&operation.sequence);
        let (gone, kept): (VecDeque<Kept>, _) = operations.drain(..).partition(is_gone);
        *operations = kept;
        // Freeing the records may take long: release the lock first.
        drop(operations);
        drop(gone);
        Ok(())
    }

    fn discard(&self, sequence: u64) {
        self.interrupted.lock().retain(|it| it.sequence != sequence);
    }

    fn list(&self) -> Result<Vec<OperationRecord>> {
        Ok(last_kept(
            self.operations.lock().iter().map(|(operation, _)| operation.clone()).collect(),
        ))
    }

    fn numbers(&self) -> Result<Vec<u64>> {
        Ok(self.operations.lock().iter().map(|(operation, _)| operation.sequence).collect())
    }

    fn forget(&self, sequences: &[u64]) -> Result<()> {
        self.operations.lock().retain(|(operation, _)| !sequences.contains(&operation.sequence));
        Ok(())
    }

    fn recorded(&self, sequence: u64) -> Result<Recorded> {
        let interrupted = self.interrupted.lock();
        if let Some(found) = interrupted.iter().find(|it| it.sequence == sequence) {
            return Ok(found.recorded.clone());
        }
        let operations = self.operations.lock();
        let found = operations.iter().find(|(operation, _)| operation.sequence == sequence);
        found.and_then(|(_, recorded)| recorded.clone()).ok_or_else(gone)
    }

    fn head(&self) -> Result<Option<SnapshotId>> {
        Ok(*self.head.lock())
    }

    fn set_head(&self, id: SnapshotId) -> Result<()> {
        *self.head.lock() = Some(id);
        Ok(())
    }
}

/// Returns the error for pre-images that are not kept any more.
pub(crate) fn gone() -> Error {
    Error::new(Operation::Undo, ErrorKind::NotFound)
        .with_detail("what was there before is not kept any more; restore a snapshot instead")
}
