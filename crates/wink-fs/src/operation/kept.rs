//! Whether what an operation kept is what it says was there.
//!
//! Something that is missing looks like something that was not there: to bring that back would be to delete.

use super::value::OperationRecord;
use crate::compare::kind_at;
use crate::error::{Error, Operation, Result, damaged};
use crate::ops;
use crate::path::TreePath;
use crate::tree::Tree;

/// Checks that something of the right kind is kept for all that was there; what is not is Corrupt.
pub(crate) fn check_kinds(operation: &OperationRecord, kept: &dyn Tree) -> Result<()> {
    for change in operation.changes.iter().filter(|it| it.before.is_some()) {
        match kind_at(kept, &change.path)? {
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
pub(crate) fn check_contents(operation: &OperationRecord, kept: &dyn Tree) -> Result<()> {
    for change in &operation.changes {
        if let Some(was) = change.replaced
            && ops::content_hash(kept, &change.path)? != was
        {
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
