//! Which operations are done, which are undone, and which is next.

use super::Direction;
use crate::oplog::{OperationCause, OperationRecord};
use crate::path::TreePath;
use crate::workspace::restore::RESTORE;

/// Returns whether an operation is undone and not redone; one that was passed over is not.
pub(super) fn is_undone(operations: &[OperationRecord], sequence: u64) -> bool {
    operations.iter().fold(false, |undone, it| match it.cause {
        OperationCause::Undo { of } if of == sequence => it.has_changes(),
        OperationCause::Redo { of } if of == sequence => false,
        _ => undone,
    })
}

/// Returns a path of an operation that a later one, still done, changed too.
pub(super) fn changed_later<'o>(
    operations: &'o [OperationRecord],
    of: &OperationRecord,
) -> Option<&'o TreePath> {
    let later = operations.iter().filter(|it| it.sequence > of.sequence && !it.cause.is_step());
    // A rollback left the files as they were before the call that it rolled back.
    let later = later.filter(|it| it.cause != OperationCause::Recovery);
    let later = later.filter(|it| !is_undone(operations, it.sequence));
    let mut changed = later.flat_map(|it| &it.changes).map(|it| &it.path);
    changed.find(|path| of.changes.iter().any(|it| it.path.overlaps(path)))
}

/// Returns whether a restore after an operation is still done.
pub(super) fn is_restored_since(operations: &[OperationRecord], sequence: u64) -> bool {
    let later = operations.iter().filter(|it| it.sequence > sequence && it.name == RESTORE);
    later.filter(|it| it.cause.saved().is_some()).any(|it| !is_undone(operations, it.sequence))
}

/// Returns the operation that is undone or redone next, and the one whose steps that reverses.
pub(super) fn next_step(
    operations: &[OperationRecord],
    direction: Direction,
) -> Option<(u64, u64)> {
    let (done, undone) = stacks(operations);
    match direction {
        Direction::Undo => done.last().map(|of| (*of, *of)),
        Direction::Redo => undone.last().copied(),
    }
}

/// Returns whether an operation can be undone: it is done, or was undone partly.
pub(super) fn can_be_undone(operations: &[OperationRecord], number: u64) -> bool {
    let (done, _) = stacks(operations);
    let last = operations.iter().rfind(|it| it.cause.step_of() == Some(number));
    let is_partly_undone = last.is_some_and(|it| {
        matches!(it.cause, OperationCause::Undo { .. }) && !it.left_alone.is_empty()
    });
    done.contains(&number) || is_partly_undone
}

/// Returns the operations that are done; the next to undo is last.
pub(super) fn done(operations: &[OperationRecord]) -> Vec<u64> {
    stacks(operations).0
}

/// Returns the operations that are done, and the undone ones with their undos; the next one is last.
///
/// Of the undos and redos of one operation, only the last is kept for sure.
fn stacks(operations: &[OperationRecord]) -> (Vec<u64>, Vec<(u64, u64)>) {
    let (mut done, mut undone): (Vec<u64>, Vec<(u64, u64)>) = (Vec::new(), Vec::new());
    for operation in operations {
        let number = operation.sequence;
        match operation.cause {
            // The files are as they were before the interrupted call.
            OperationCause::Recovery => {}
            // A new operation ends the redo stack, as in an editor: redoing on top of other content would mix two
            // histories.
            OperationCause::Call | OperationCause::Replacement { .. } => {
                done.push(number);
                undone.clear();
            }
            OperationCause::Undo { of } => {
                done.retain(|it| *it != of);
                undone.retain(|(it, _)| *it != of);
                // Without changes it was passed over, and its files are as they were.
                if operation.has_changes() {
                    undone.push((of, number));
                }
            }
            OperationCause::Redo { of } => {
                done.retain(|it| *it != of);
                undone.retain(|(it, _)| *it != of);
                done.push(of);
            }
        }
    }
    (done, undone)
}
