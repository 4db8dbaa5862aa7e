//! Whether what an operation kept is what it says was there.
//!
//! Something that is missing looks like something that was not there: to bring that back would be to delete.

use super::log::OpLog;
use super::recorded::Recorded;
use super::value::OperationRecord;
use crate::error::{Error, Operation, Result, damaged};
use crate::ops;
use crate::path::TreePath;

/// Checks that something of the right kind is kept for all that was displaced; what is not is Corrupt.
pub(crate) fn check_kinds(operation: &OperationRecord, recorded: &Recorded) -> Result<()> {
    for change in operation.changes.iter().filter(|it| it.before.is_some()) {
        if recorded.has_moved(&change.path) {
            continue;
        }
        match recorded.displaced_kind(&change.path)? {
            None => return Err(not_whole(operation, &change.path, "is missing")),
            is if is != change.before => {
                return Err(not_whole(operation, &change.path, "is something else"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks the bytes of the files that are kept and whose hash is known; what is not the same is Corrupt.
///
/// A program that had a file open when it was displaced may have written into it since: that is no damage.
pub(crate) fn check_contents(
    oplog: &dyn OpLog,
    operation: &OperationRecord,
    recorded: &Recorded,
) -> Result<()> {
    for change in &operation.changes {
        let Some(was) = change.replaced else { continue };
        let Some(kept) = recorded.first_kept(&change.path)? else { continue };
        let is_same = ops::content_hash(&*kept.tree, &kept.at)? == was;
        if !is_same && !oplog.may_be_written(&kept.at)? {
            return Err(not_whole(operation, &change.path, "is damaged"));
        }
    }
    Ok(())
}

fn not_whole(operation: &OperationRecord, path: &TreePath, how: &str) -> Error {
    let number = operation.sequence;
    let text = format!(
        "what operation {number} kept of it {how}, so the operation cannot be undone; pass it over to \
         undo what came before it, or restore the path from a snapshot"
    );
    Error::system(Operation::Undo, damaged(text)).with_path(path)
}
