//! What others changed than the calls of this workspace: people, and programs that write files themselves.

use crate::error::Result;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::oplog::{ContentId, OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::snapshot::Snapshot;
use crate::tree::compare::{Difference, compare};
use crate::tree::scope::Scope;
use crate::tree::{Kind, Tree};
use crate::workspace::history::{History, inside};

/// Finds, among what is about to be replaced, what is neither as the last snapshot holds it nor as the last
/// operation on it left it.
///
/// A file in a directory that an operation made counts as the operation's: only of the whole directory it is known
/// how it was left. Nothing is found if operations since the last snapshot are forgotten already.
pub(crate) fn changed_outside(history: &History, plan: &ReplacePlan<'_>) -> Result<Vec<TreePath>> {
    let Some(last) = history.head()? else { return Ok(Vec::new()) };
    let operations = history.oplog.list()?;
    if are_some_forgotten(&operations, &history.snapshots.describe(&last)?) {
        return Ok(Vec::new());
    }
    let (last, now) = (history.snapshots.load(&last)?, &*plan.before.tree);
    let replaced = plan.differences.iter().filter(|it| it.directory_mode().is_none());
    let replaced: Vec<TreePath> = replaced.map(|it| it.path.clone()).collect();
    // No path at all would mean every path.
    if replaced.is_empty() {
        return Ok(Vec::new());
    }
    let scope = Scope::paths(replaced).excluding(plan.scope.excluded().clone());
    let look = Look { last: &*last, now, operations: &operations };
    let mut found = Vec::new();
    for difference in compare(look.last, now, &scope)? {
        found.extend(look.changed_outside(&difference)?);
    }
    Ok(found)
}

fn are_some_forgotten(operations: &[OperationRecord], last: &Snapshot) -> bool {
    operations.first().is_some_and(|first| first.sequence > 1 && first.at > last.created_at)
}

struct Look<'a> {
    last: &'a dyn Tree,
    now: &'a dyn Tree,
    operations: &'a [OperationRecord],
}

impl Look<'_> {
    fn changed_outside(&self, difference: &Difference) -> Result<Vec<TreePath>> {
        let path = &difference.path;
        if self.is_as_left(path)? {
            return Ok(Vec::new());
        }
        let files = match (difference.before, difference.after) {
            (None, Some(Kind::Directory)) => inside(self.now, path),
            (Some(Kind::Directory), None) => inside(self.last, path),
            _ => Vec::new(),
        };
        if files.is_empty() {
            return Ok(vec![path.clone()]);
        }
        let mut found = Vec::new();
        for file in files {
            if !self.is_as_left(&file)? {
                found.push(file);
            }
        }
        Ok(found)
    }

    /// Returns whether what is at a path is what the last operation there left.
    fn is_as_left(&self, path: &TreePath) -> Result<bool> {
        let mut changes = self.operations.iter().rev().flat_map(|it| &it.changes);
        match changes.find(|change| path.starts_with(&change.path)) {
            None => Ok(false),
            Some(change) if change.path == *path => {
                Ok(ContentId::at(self.now, path)? == change.left)
            }
            Some(made_around_it) => Ok(self.is_there(path)? == leaves(made_around_it, path)),
        }
    }

    fn is_there(&self, path: &TreePath) -> Result<bool> {
        match self.now.stat(path) {
            Err(error) if error.is_absence() => Ok(false),
            stat => stat.map(|_| true),
        }
    }
}

/// Returns whether a change of a directory left something at a path in it.
fn leaves(change: &OperationChange, path: &TreePath) -> bool {
    change.after == Some(Kind::Directory)
        && (change.is_inside_cut() || change.inside.contains(path))
}
