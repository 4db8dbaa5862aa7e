//! The two halves of a move, which go back together or not at all.

use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;

use super::moved_back::MovedBack;
use crate::compare::compare;
use crate::error::Result;
use crate::operation::{Ledger, Left, OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::scope::Scope;
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

/// Finds where a call moved a directory to whose files somebody wrote into since: what is kept of them is what they
/// wrote into, and in the new place they are as the call left them. Returns where it was, and where it is.
///
/// There is none where the call did more to it than to move it, or where it is not all in its new place.
pub(super) fn whole_half<'o>(
    ledger: &dyn Ledger,
    operation: &'o OperationRecord,
    before: &Arc<dyn Tree>,
    live: &Arc<dyn Tree>,
    paths: &[TreePath],
) -> Result<Option<(&'o TreePath, &'o TreePath)>> {
    let Some((was, is)) = moved_directory(operation) else { return Ok(None) };
    let others: Vec<_> = paths.iter().filter(|it| *it != was).cloned().collect();
    let is_whole = others.contains(is)
        && others.len() < paths.len()
        && ledger.put_by(operation.sequence)?.is_some_and(|put| put.is_empty())
        && ledger.first_written_since(operation.sequence, &others)?.is_none();
    if !is_whole {
        return Ok(None);
    }
    let (before, now) = (before.clone(), live.clone());
    let moved = MovedBack { before, to: was.clone(), now, from: is.clone() };
    for it in compare(&*moved.before, &moved, &Scope::paths([was.clone()]))? {
        let written = ledger.first_written_since(operation.sequence, slice::from_ref(&it.path))?;
        let is_file = (it.before, it.after) == (Some(Kind::File), Some(Kind::File));
        if !is_file || written != Some(it.path) {
            return Ok(None);
        }
    }
    Ok(Some((was, is)))
}

/// Returns where the only directory that a call moved was, and where it is.
fn moved_directory(operation: &OperationRecord) -> Option<(&TreePath, &TreePath)> {
    let is_directory = |kind: Option<Kind>| kind == Some(Kind::Directory);
    let mut changes = operation.changes.iter();
    let went = changes.find(|it| has_gone(it) && is_directory(it.before))?;
    let came = operation.changes.iter().find(|it| is_directory(it.after))?;
    is_only_one(operation, went).then_some((&went.path, &came.path))
}

fn has_gone(change: &OperationChange) -> bool {
    change.before.is_some() && change.after.is_none()
}
