//! Making the directory what another tree is: everything staged first, then renamed in or not at all.

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
    announce_keep, announce_return, bring_back, content_of, discard_settled, settle_return,
};
pub(super) use self::recover::{Finished, is_unfinished, recover};
use self::stage::{Staged, Writer};
pub(super) use self::step::content_at;
use super::HostTree;
use super::capture;
use super::capture::tree::Captured;
use super::staging::Area;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::Capture;
use crate::filesystem::checks;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::filesystem::{DoneFirst, Replaced};
use crate::path::TreePath;
use crate::tree::compare::{Difference, count_files, count_in_scope};
use crate::tree::scope::Scope;
use crate::tree::{Kind, Tree};
use crate::util::parallel;

/// Makes the files below the root those of `target`, as far as they are in scope.
pub(super) fn replace(host: &Arc<HostTree>, target: &dyn Tree, scope: &Scope) -> Result<Replaced> {
    let before = capture::capture(host, scope)?;
    replace_by(host, &ReplacePlan::new(before, target, scope)?, &mut || Ok(None))
}

/// Refuses what would be refused before anything is written.
pub(super) fn check(host: &Arc<HostTree>, planned: &ReplacePlan<'_>) -> Result<()> {
    let before = Captured::of(&*planned.before.tree, host).ok_or_else(not_ours)?;
    plan(before, &planned.differences)?;
    planned.check_kinds()
}

/// Does what was planned.
pub(super) fn replace_by(
    host: &Arc<HostTree>,
    planned: &ReplacePlan<'_>,
    first: DoneFirst<'_>,
) -> Result<Replaced> {
    let ReplacePlan { before: captured, target, scope, differences } = planned;
    let before = Captured::of(&*captured.tree, host).ok_or_else(not_ours)?;
    let changes = plan(before, differences)?;
    let area = host.area().map_err(|errno| Error::system(Operation::Replace, errno))?;
    let writer = Writer { before: Some(before), target: *target, excluded: scope.excluded() };
    let (staged, done) = parallel::both(|| stage(host, &writer, &area, &changes), first);
    let kept = done?;
    let mut staged = staged?;
    apply(host, &area, (before, *target), &mut staged, kept.as_ref())?;
    count(captured, differences, scope, &staged)
}

/// Writes everything that is new, and makes it durable with what it is to take the place of.
fn stage(
    host: &HostTree,
    writer: &Writer<'_>,
    area: &Arc<Area>,
    changes: &[Change],
) -> Result<Vec<Staged>> {
    let staged = writer.stage(area, changes)?;
    if !staged.is_empty() && !host.is_temporary() {
        area.sync().map_err(|errno| Error::system(Operation::Replace, errno))?;
    }
    Ok(staged)
}

fn not_ours() -> Error {
    Error::new(Operation::Replace, ErrorKind::Unsupported)
}

fn count(
    captured: &Capture,
    differences: &[Difference],
    scope: &Scope,
    staged: &[Staged],
) -> Result<Replaced> {
    let gone = differences.iter().map(|it| count_files(&*captured.tree, &it.path, it.before));
    let gone: u64 = gone.sum::<Result<_>>()?;
    Ok(Replaced {
        written: staged.iter().map(|staged| staged.files).sum(),
        removed: differences.iter().filter(|difference| difference.after.is_none()).count() as u64,
        unchanged: count_in_scope(&*captured.tree, captured.totals.files, scope)? - gone,
    })
}

struct Change {
    path: TreePath,
    action: Action,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    /// Only here.
    Remove,
    /// Only in the target.
    Add(Kind),
    /// A parent of something that is only in the target.
    AddParent,
    /// In both, as something else.
    Exchange(Kind),
}

/// Says what must be done, in the order of paths.
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
    let action = match (was, after) {
        (_, Some(kind)) if was.is_none() => Action::Add(*kind),
        // A replacement must not remove what was not captured.
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
