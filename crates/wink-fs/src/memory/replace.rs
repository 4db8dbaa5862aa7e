//! Replaces all files: a new state takes the place of the old one.

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
use crate::tree::compare::Difference;
use crate::tree::descend;
use crate::tree::scope::{Exclusions, Scope};
use crate::tree::{FileMode, Kind};

/// Applies a plan; returns the new state and what changed.
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

/// Fails if the plan would be refused, without reading content.
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

/// Applies a plan to a state; returns it with the number of new files and links.
fn rebuilt(
    before: &State,
    plan: &ReplacePlan<'_>,
    now: SystemTime,
    make: &dyn Fn(&TreePath, Kind) -> Result<Node>,
) -> Result<(State, u64)> {
    let mut state = before.clone();
    let mut written = 0;
    for difference in &plan.differences {
        let Difference { path, after, .. } = difference;
        if let Some(mode) = difference.directory_mode() {
            state.set_directory_mode(path, mode)?;
            continue;
        }
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

/// Puts back excluded entries that were removed with a directory above them.
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

/// Makes the missing parents of a path.
fn make_parents(state: &mut State, path: &TreePath, now: SystemTime) -> Result<()> {
    for parent in path.ancestors() {
        if state.find_place(Operation::Replace, &parent)?.is_none() {
            state.set(&parent, Some(Node::Directory(Arc::new(Directory::new(now)))), now);
        }
    }
    // The nearest existing parent may not be a directory.
    state.find_place(Operation::Replace, path).map(drop)
}

impl State {
    fn set_directory_mode(&mut self, path: &TreePath, mode: FileMode) -> Result<()> {
        if let Node::Directory(directory) = self.find(Operation::Replace, path)? {
            let directory = Directory::clone(&directory).with_mode(mode);
            self.update(path, Node::Directory(Arc::new(directory)));
        }
        Ok(())
    }

    /// Counts the files and links in a scope.
    fn files_in(&self, scope: &Scope) -> u64 {
        let count = |path| self.find(Operation::Replace, path).map_or(0, |it| it.totals().files);
        match scope.starts() {
            [] => self.totals().files,
            starts => starts.iter().map(count).sum(),
        }
    }

    /// Returns the topmost excluded entries.
    fn entries_matching(&self, excluded: &Exclusions) -> Result<Vec<(TreePath, Node)>> {
        let mut found = Vec::new();
        if !excluded.is_empty() {
            collect(self.root(), &TreePath::root(), excluded, &mut found)?;
        }
        Ok(found)
    }

    /// Counts the files and links that differences add.
    fn count_files(&self, differences: &[Difference]) -> Result<u64> {
        let is_brought = |it: &&Difference| it.after.is_some() && it.directory_mode().is_none();
        let brought = differences.iter().filter(is_brought);
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
