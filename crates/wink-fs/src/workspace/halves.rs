//! The two halves of a move, which go back together or not at all.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::operation::{Left, OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// Finds what is to be left alone besides what somebody changed since an operation.
///
/// Where something moved away and another thing is now in its old place, it stays where it is, which may be
/// the only place it has. Where a directory moved and somebody wrote into it, what is kept of it may be what
/// they wrote into: its files are kept without a copy.
pub(super) fn left_behind(
    before: &dyn Tree,
    operation: &OperationRecord,
    changed_since: &[TreePath],
) -> Result<BTreeSet<TreePath>> {
    let changed_since: BTreeSet<&TreePath> = changed_since.iter().collect();
    let mut left = BTreeSet::new();
    for went in operation.changes.iter().filter(|it| has_gone(it)) {
        if changed_since.contains(&went.path) {
            left.extend(places(before, operation, went)?);
        } else if went.before == Some(Kind::Directory) && operation.cause.saved().is_none() {
            let places = places(before, operation, went)?;
            let is_changed = places.iter().any(|place| changed_since.contains(place));
            left.extend(is_changed.then(|| went.path.clone()));
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
    if is_only_one(operation, went) {
        return Ok(operation.changes.iter().filter(came).map(|it| it.path.clone()).collect());
    }
    let was = Left::at(before, &went.path)?;
    let same = operation.changes.iter().filter(came).filter(|it| it.left == was);
    Ok(same.map(|it| it.path.clone()).collect())
}

/// Tells whether a call made one thing go and one of the same kind come where nothing was, whatever it wrote
/// into that.
fn is_only_one(operation: &OperationRecord, went: &OperationChange) -> bool {
    let changes = || operation.changes.iter();
    let mut came = changes().filter(|it| it.after == went.before);
    operation.cause.saved().is_none()
        && changes().filter(|it| has_gone(it) && it.before == went.before).count() == 1
        && came.next().is_some_and(|it| it.before.is_none())
        && came.next().is_none()
}

fn has_gone(change: &OperationChange) -> bool {
    change.before.is_some() && change.after.is_none()
}
