//! Finishing what a process began that died.

use rustix::fd::BorrowedFd;

use super::journal::Journal;
use super::step::{Move, Places, Step};
use crate::host::root::Root;
use crate::path::TreePath;

/// Does the rest of a journal; what somebody changed after the process died stays as it is.
///
/// Returns `None` where the journal belongs to another root or cannot be read. Done twice, or again after it was
/// interrupted, it changes nothing more.
pub(in crate::host) fn recover(
    root: &Root,
    staging: BorrowedFd<'_>,
    journal: &[u8],
) -> Option<Vec<TreePath>> {
    // A journal gets its name only when it is whole. One that cannot be read is damaged, or of another
    // version, and what lies beside it may be somebody's only copy.
    let journal = Journal::decode(journal)?;
    // The staging directory is on the root's own file system, whose device may have another number
    // after the machine was started again.
    if root.identity().ok()?.1 != journal.root.1 {
        return None;
    }
    let places = Places { root, staging };
    let left_alone = journal.steps.iter().filter(|step| !redo(&places, step));
    Some(left_alone.map(|step| step.path.clone()).collect())
}

/// Does a step that was not done yet; returns whether the path is what the step makes of it.
fn redo(places: &Places<'_>, step: &Step) -> bool {
    let Ok((standing, waiting)) = places.look(&step.path, &step.name) else { return false };
    let is_new = |found: Option<crate::host::capture::stamp::Stamp>| match (found, step.waiting) {
        (Some(found), Some(new)) => found.is_same_but_renamed(&new),
        _ => false,
    };
    let is_done = match step.what {
        Move::Out => standing.is_none(),
        Move::In | Move::Exchange => is_new(standing),
    };
    let is_to_do = standing == step.standing && (step.what == Move::Out || is_new(waiting));
    is_done || (is_to_do && places.forward(step).is_ok())
}
