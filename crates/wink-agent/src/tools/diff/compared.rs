//! The two states that are compared.

use std::sync::Arc;

use wink_fs::{Diff, DiffOptions, ErrorKind, Scope, StateRef, Tree, TreePath, Workspace};

use super::Params;
use crate::edit::rewrite::retried;
use crate::history::changes;
use crate::history::missing_path::{self, Both};
use crate::history::state::{self, State};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;

/// Two states by their names, or by their files if one of them is a fork's.
pub(super) enum Compared {
    Named(State, State),
    Trees([Arc<dyn Tree>; 2]),
}

impl Compared {
    /// Finds what the arguments mean, with the words for both.
    pub(super) fn find(call: &ToolCall<'_>, params: &Params) -> Result<(Self, String), ToolError> {
        match &params.fork {
            Some(name) => Ok((in_fork(call, params, name)?, format!("in fork {name}"))),
            None => between(call, params),
        }
    }

    /// Compares both, and once more, with lines, at the paths that are chosen of those that differ.
    pub(super) fn diff(
        &self,
        files: &Workspace,
        options: &DiffOptions,
        chosen: impl Fn(&Diff) -> Vec<TreePath>,
    ) -> Result<(Diff, Diff), ToolError> {
        match self {
            // A file that changes after the first look is none of that moment, and then both are repeated.
            Self::Named(State::At(from), State::At(to)) => retried(|| {
                let diff = files.diff_with_lines_of(from.clone(), to.clone(), options, &chosen);
                diff.map_err(changes::refusal)
            }),
            _ => {
                let [from, to] = self.trees(files)?;
                let diff = |options: &DiffOptions| {
                    files.diff_trees(&*from, &*to, options).map_err(changes::refusal)
                };
                let all = diff(options)?;
                let lines = match chosen(&all) {
                    paths if paths.is_empty() => Diff::default(),
                    paths => diff(&DiffOptions::default().hunks(true).scope(Scope::paths(paths)))?,
                };
                Ok((all, lines))
            }
        }
    }

    /// Returns the path if only one state has it; fails if neither has.
    pub(super) fn only_in_one(
        &self,
        files: &Workspace,
        path: TreePath,
    ) -> Result<Option<TreePath>, ToolError> {
        // Snapshots do not change: there is no need to wait for a writer.
        if !self.is_of_snapshots() {
            files.heed_exclusions().map_err(changes::refusal)?;
        }
        let both = Both { trees: self.trees(files)?, in_none: "in neither of the two states" };
        let is_in_both = missing_path::is_in_both(files, &path, &both)?;
        Ok((!is_in_both).then_some(path))
    }

    fn is_of_snapshots(&self) -> bool {
        matches!(
            self,
            Self::Named(State::At(StateRef::Snapshot(_)), State::At(StateRef::Snapshot(_)))
        )
    }

    fn trees(&self, files: &Workspace) -> Result<[Arc<dyn Tree>; 2], ToolError> {
        match self {
            Self::Named(from, to) => Ok([from.tree(files)?, to.tree(files)?]),
            Self::Trees(trees) => Ok(trees.clone()),
        }
    }
}

fn between(call: &ToolCall<'_>, params: &Params) -> Result<(Compared, String), ToolError> {
    let from = params.from.as_deref().unwrap_or_default();
    let to = params.to.as_deref().unwrap_or(changes::LIVE);
    let title = format!("from {} to {}", state_label(from), state_label(to));
    Ok((Compared::Named(state::find(call, from)?, state::find(call, to)?), title))
}

fn state_label(state: &str) -> &str {
    if state.trim() == changes::LIVE { "now" } else { state }
}

fn in_fork(call: &ToolCall<'_>, params: &Params, name: &str) -> Result<Compared, ToolError> {
    if params.from.is_some() || params.to.is_some() {
        return Err(ToolError::invalid_argument("Give either `fork`, or `from` and `to`."));
    }
    let fork = call.context().forks.find(name)?;
    let origin = fork.forked_from().ok_or_else(|| {
        ToolError::new(
            ErrorKind::NotFound,
            "The snapshot that this fork began with is unknown; merge the fork instead.",
        )
    })?;
    let before = call.everything()?.tree_at(origin).map_err(changes::refusal)?;
    Ok(Compared::Trees([before, fork.tree()]))
}
