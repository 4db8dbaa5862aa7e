//! Checks that pre-images are what their operation displaced.
//!
//! A missing pre-image looks like a path where nothing was, and undo would delete what is there.

use super::log::OpLog;
use super::recorded::Recorded;
use super::value::OperationRecord;
use crate::error::{Error, Operation, Result, damaged};
use crate::ops;
use crate::path::TreePath;

/// Checks that everything displaced has a pre-image of the right kind; otherwise the error is Corrupt.
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

/// Checks the content of pre-images whose hash is known; otherwise the error is Corrupt.
///
/// A program that had the file open may have written into it since, which is not damage.
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
