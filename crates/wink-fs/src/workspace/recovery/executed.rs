//! What a program had changed when the process died that ran it.

use crate::error::{Error, ErrorKind, Result};
use crate::filesystem::Backend;
use crate::oplog::{OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::snapshot::Snapshot;
use crate::tree::compare::compare;
use crate::tree::filtered::Filtered;
use crate::tree::scope::Scope;
use crate::workspace::history::{History, describe, retried};

impl History {
    /// Makes an operation of what a program had changed, by the snapshot that was taken before it.
    ///
    /// If that can no longer be determined, what the program changed stays, and no undo can take it back. If it
    /// cannot be determined now, for example because a directory is unreadable, recovery is tried again before the
    /// next call; other work goes on.
    pub(crate) fn recover_executed(
        &self,
        backend: &dyn Backend,
        begun: OperationRecord,
    ) -> Result<()> {
        match self.changed_during(backend, &begun) {
            Ok(Some((_, changes))) if !changes.is_empty() => {
                let saved = begun.cause.saved();
                self.append_executed(begun, changes.clone())?;
                self.tell_recovered(Vec::new(), changes.into_iter().map(|it| it.path).collect());
                saved.map_or(Ok(()), |saved| self.forget_oldest_saved(saved))
            }
            Err(error) if !is_untold(&error) => Ok(()),
            found => {
                self.oplog.discard(begun.sequence);
                if let Ok(Some((saved, _))) = found {
                    self.forget_unneeded(&saved);
                }
                Ok(())
            }
        }
    }

    /// Compares what is there with the snapshot that was taken before a program ran.
    fn changed_during(
        &self,
        backend: &dyn Backend,
        begun: &OperationRecord,
    ) -> Result<Option<(Snapshot, Vec<OperationChange>)>> {
        let Some(saved) = begun.cause.saved() else { return Ok(None) };
        let saved = self.snapshots.describe(&saved)?;
        let excluded = self.excluded.known().and(&saved.excluded)?;
        let before = self.snapshots.load(&saved.id)?;
        let scope = Scope::everything().excluding(excluded.clone());
        let live = Filtered { tree: backend.live(), excluded: excluded.clone() };
        let mut changes = retried(|| {
            let after = backend.capture(&excluded)?;
            describe(&compare(&*before, &*after.tree, &scope)?, &live)
        })?;
        let later = self.changed_after(begun.sequence)?;
        changes.retain(|it| !later.iter().any(|path| path.overlaps(&it.path)));
        Ok(Some((saved, changes)))
    }

    /// Returns what operations changed that were done after another was begun: they take it back themselves.
    fn changed_after(&self, sequence: u64) -> Result<Vec<TreePath>> {
        let operations = self.oplog.list()?.into_iter().filter(|it| it.sequence > sequence);
        Ok(operations.flat_map(|it| it.changes).map(|it| it.path).collect())
    }
}

/// Returns whether recovery can never determine what changed: the snapshot is gone or damaged, or what the program
/// left running goes on writing. The calls that come next must not fail for that.
fn is_untold(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::SnapshotNotFound | ErrorKind::Corrupt | ErrorKind::Conflict)
}
