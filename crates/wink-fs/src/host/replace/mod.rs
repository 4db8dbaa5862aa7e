//! Replaces the whole tree: everything is staged first, then renamed into place or not at all.

mod apply;
pub(super) mod journal;
mod recover;
#[cfg(test)]
mod scene;
pub(super) mod stage;
pub(super) mod step;

use std::sync::Arc;

use self::apply::apply;
pub(super) use self::apply::{
    bring_back, content_of, discard_unless_open, end_return, journal_keep, journal_return,
};
pub(super) use self::recover::{Finished, is_unfinished, recover};
use self::stage::{Staged, Writer};
pub(super) use self::step::content_at;
use super::HostTree;
use super::capture;
use super::capture::tree::Captured;
use super::staging::Area;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::filesystem::{DoneFirst, Replaced};
use crate::path::TreePath;
use crate::tree::compare::{Difference, count_in_scope};
use crate::tree::scope::Scope;
use crate::tree::{FileMode, Kind, Tree};
use crate::util::parallel;

/// Changes the files in scope to those of `target`.
pub(super) fn replace(host: &Arc<HostTree>, target: &dyn Tree, scope: &Scope) -> Result<Replaced> {
    let before = capture::capture(host, scope)?;
    replace_by(host, &ReplacePlan::new(before, target, scope)?, &mut || Ok(None))
}

/// Fails if the replacement would be refused, before anything is written.
pub(super) fn check(host: &Arc<HostTree>, planned: &ReplacePlan<'_>) -> Result<()> {
    let before = Captured::of(&*planned.before.tree, host).ok_or_else(not_ours)?;
    plan(before, &planned.differences)?;
    planned.check_kinds()
}

/// Runs a plan.
pub(super) fn replace_by(
    host: &Arc<HostTree>,
    planned: &ReplacePlan<'_>,
    first: DoneFirst<'_>,
) -> Result<Replaced> {
    let ReplacePlan { before: captured, target, scope, differences, .. } = planned;
    let before = Captured::of(&*captured.tree, host).ok_or_else(not_ours)?;
    let changes = plan(before, differences)?;
    let area = host.area().map_err(|errno| Error::system(Operation::Replace, errno))?;
    let writer = Writer {
        before: Some(before),
        target: *target,
        excluded: scope.excluded(),
        owner: host.root.owner(),
    };
    // The safety snapshot is saved while the new files are staged: both wait for the disk, and neither needs the other.
    let (staged, done) = parallel::both(|| stage(host, &writer, &area, &changes), first);
    let kept = done?;
    let mut staged = staged?;
    // Counted first: an error after the files changed would be taken for a failure.
    let gone: u64 = planned.removed()?.iter().sum();
    let unchanged = count_in_scope(&*captured.tree, captured.totals.files, scope)? - gone;
    apply(host, &area, (before, *target), &mut staged, kept.as_ref())?;
    Ok(Replaced {
        written: staged.iter().map(|staged| staged.files).sum(),
        removed: differences.iter().filter(|difference| difference.after.is_none()).count() as u64,
        unchanged,
    })
}

/// Writes all new entries and syncs the file system, so that no rename reaches the disk before the content.
fn stage(
    host: &HostTree,
    writer: &Writer<'_>,
    area: &Arc<Area>,
    changes: &[Change],
) -> Result<Vec<Staged>> {
    let staged = writer.stage(area, changes)?;
    // One `syncfs` instead of an fsync for every file and directory (decision 0011).
    if !staged.is_empty() && !host.is_temporary() {
        area.sync().map_err(|errno| Error::system(Operation::Replace, errno))?;
    }
    Ok(staged)
}

fn not_ours() -> Error {
    Error::new(Operation::Replace, ErrorKind::Unsupported)
}

struct Change {
    path: TreePath,
    action: Action,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    /// In the directory only.
    Remove,
    /// In the target only.
    Add(Kind),
    /// A parent of an entry in the target only.
    AddParent,
    /// Different in both.
    Exchange(Kind),
    /// A directory in both, with another mode in the target.
    SetMode(FileMode),
}

/// Turns differences into changes, in the order of paths.
fn plan(before: &Captured, differences: &[Difference]) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for difference in differences {
        plan_parents(before, &difference.path, &mut changes)?;
        plan_difference(before, difference, &mut changes)?;
    }
    Ok(changes)
}

fn plan_parents(before: &Captured, path: &TreePath, changes: &mut Vec<Change>) -> Result<()> {
    for parent in path.ancestors() {
        let is_planned = |change: &Change| change.path == parent;
        match before.stat(&parent) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if !changes.iter().rev().any(is_planned) {
                    changes.push(Change { path: parent, action: Action::AddParent });
                }
            }
            stat => checks::check_directory(&parent, stat?.kind)
                .map_err(|error| error.during(Operation::Replace))?,
        }
    }
    Ok(())
}

fn plan_difference(
    before: &Captured,
    difference: &Difference,
    changes: &mut Vec<Change>,
) -> Result<()> {
    let Difference { path, before: was, after, .. } = difference;
    if let Some(mode) = difference.directory_mode() {
        changes.push(Change { path: path.clone(), action: Action::SetMode(mode) });
        return Ok(());
    }
    let action = match (was, after) {
        (_, Some(kind)) if was.is_none() => Action::Add(*kind),
        // What was not captured is in no snapshot: a replacement must not delete it.
        (_, None) if before.hides(path) => return plan_removals(before, path, changes),
        (_, Some(_)) if before.hides(path) => return Err(checks::in_the_way(path)),
        (_, Some(kind)) => Action::Exchange(*kind),
        (_, None) => Action::Remove,
    };
    changes.push(Change { path: path.clone(), action });
    Ok(())
}

fn plan_removals(before: &Captured, path: &TreePath, changes: &mut Vec<Change>) -> Result<()> {
    for entry in before.list(path)? {
        let path = path.join(&entry.name)?;
        let gone = Difference { path, before: Some(entry.kind), after: None, mode: None };
        plan_difference(before, &gone, changes)?;
    }
    Ok(())
}
