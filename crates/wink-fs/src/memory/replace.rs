//! Making the files those of another tree: a new state, put in the place of the old one.

use std::sync::Arc;
use std::time::SystemTime;

use super::build::Builder;
use super::node::{Directory, Link, Node, Times};
use super::state::State;
use crate::error::{Operation, Result};
use crate::filesystem::Replaced;
use crate::filesystem::checks;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::path::TreePath;
use crate::tree::Kind;
use crate::tree::compare::Difference;
use crate::tree::descend::descend;
use crate::tree::scope::{Exclusions, Scope};

/// Returns the state that a plan makes of another, and what that changes.
pub(super) fn replaced(
    before: &State,
    plan: &ReplacePlan<'_>,
    now: SystemTime,
) -> Result<(State, Replaced)> {
    let ReplacePlan { target, scope, differences, .. } = plan;
    let removed = differences.iter().filter(|difference| difference.after.is_none()).count() as u64;
    let (after, written) = match State::of(*target).filter(|_| scope.is_everything()) {
        Some(own) => (own.clone(), own.count_files(differences)?),
        None => {
            let excluded = scope.excluded();
            let builder = Builder { target: *target, shared: None, excluded, now };
            rebuilt(before, plan, now, &|path, kind| builder.node(path, kind))?
        }
    };
    let unchanged = after.files_in(scope) - written;
    Ok((after, Replaced { written, removed, unchanged }))
}

/// Refuses what would be refused, without a look at any content.
pub(super) fn check(before: &State, plan: &ReplacePlan<'_>, now: SystemTime) -> Result<()> {
    if State::of(plan.target).is_some() && plan.scope.is_everything() {
        return Ok(());
    }
    let stand_in = |_: &TreePath, kind: Kind| {
        Ok(match kind {
            Kind::Directory => Node::Directory(Arc::new(Directory::new(now))),
            _ => Node::Link(Arc::new(Link { target: Box::default(), times: Times::new(now) })),
        })
    };
    rebuilt(before, plan, now, &stand_in)?;
    plan.check_kinds()
}

/// Applies a plan to a state; returns it with how many files and links are new in it.
fn rebuilt(
    before: &State,
    plan: &ReplacePlan<'_>,
    now: SystemTime,
    make: &dyn Fn(&TreePath, Kind) -> Result<Node>,
) -> Result<(State, u64)> {
    let (mut state, mut written) = (before.clone(), 0);
    for Difference { path, after, .. } in &plan.differences {
        let node = after.map(|kind| make(path, kind)).transpose()?;
        if let Some(node) = &node {
            make_parents(&mut state, path, now)?;
            written += node.totals().files;
        }
        state.set(path, node, now);
    }
    keep_excluded(before, &mut state, plan.scope.excluded(), now)?;
    Ok((state, written))
}

/// Puts back what is excluded and went together with a directory above it.
fn keep_excluded(
    before: &State,
    after: &mut State,
    excluded: &Exclusions,
    now: SystemTime,
) -> Result<()> {
    for (path, node) in before.entries_matching(excluded)? {
        if after.find(Operation::Replace, &path).is_err() {
            make_parents(after, &path, now).map_err(|_| checks::in_the_way(&path))?;
            after.set(&path, Some(node), now);
        }
    }
    Ok(())
}

/// Makes the directories above a path that is to be there although they were not meant themselves.
fn make_parents(state: &mut State, path: &TreePath, now: SystemTime) -> Result<()> {
    for parent in path.ancestors() {
        if state.find_place(Operation::Replace, &parent)?.is_none() {
            state.set(&parent, Some(Node::Directory(Arc::new(Directory::new(now)))), now);
        }
    }
    // The nearest one may be something else than a directory.
    state.find_place(Operation::Replace, path).map(drop)
}

impl State {
    /// Counts the files and links in a scope.
    fn files_in(&self, scope: &Scope) -> u64 {
        let count = |path| self.find(Operation::Replace, path).map_or(0, |it| it.totals().files);
        match scope.starts() {
            [] => self.totals().files,
            starts => starts.iter().map(count).sum(),
        }
    }

    /// Returns the topmost entries that are excluded.
    fn entries_matching(&self, excluded: &Exclusions) -> Result<Vec<(TreePath, Node)>> {
        let mut found = Vec::new();
        if !excluded.is_empty() {
            collect(self.root(), &TreePath::root(), excluded, &mut found)?;
        }
        Ok(found)
    }

    /// Counts the files and links of this state that differences bring.
    fn count_files(&self, differences: &[Difference]) -> Result<u64> {
        let brought = differences.iter().filter(|difference| difference.after.is_some());
        brought.map(|it| Ok(self.find(Operation::Replace, &it.path)?.totals().files)).sum()
    }
}

fn collect(
    directory: &Directory,
    path: &TreePath,
    excluded: &Exclusions,
    found: &mut Vec<(TreePath, Node)>,
) -> Result<()> {
    for (name, node) in &directory.children {
        let path = path.join(name)?;
        if excluded.matches_entry(&path) {
            found.push((path, node.clone()));
        } else if let Node::Directory(below) = node {
            descend(|| collect(below, &path, excluded, found))?;
        }
    }
    Ok(())
}
