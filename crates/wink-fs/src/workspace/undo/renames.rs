//! The two halves of a move, which go back together or not at all.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::oplog::{Left, OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::tree::Tree;

/// Finds what to leave alone besides what a later operation or another program changed since an operation.
///
/// Where something moved away and another thing is now in its old place, it stays where it is, which may be
/// the only place it has.
pub(crate) fn left_behind(
    before: &dyn Tree,
    operation: &OperationRecord,
    changed_since: &[TreePath],
) -> Result<BTreeSet<TreePath>> {
    let changed_since: BTreeSet<&TreePath> = changed_since.iter().collect();
    let mut left = BTreeSet::new();
    for went in operation.changes.iter().filter(|it| has_gone(it)) {
        if changed_since.contains(&went.path) {
            left.extend(places(before, operation, went)?);
        }
    }
    Ok(left)
}

/// Returns where something that has gone may be now.
fn places(
    before: &dyn Tree,
    operation: &OperationRecord,
    went: &OperationChange,
) -> Result<Vec<TreePath>> {
    let came = |it: &&OperationChange| it.after == went.before;
    let was = Left::at(before, &went.path)?;
    let same = operation.changes.iter().filter(came).filter(|it| it.left == was);
    Ok(same.map(|it| it.path.clone()).collect())
}

fn has_gone(change: &OperationChange) -> bool {
    change.before.is_some() && change.after.is_none()
}
