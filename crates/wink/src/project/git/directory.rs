//! The exclusion of `.git`.
//!
//! A restore that removes it, because it did not exist when the snapshot was taken, would lose the user's
//! whole repository. So it is excluded as long as the last snapshot does not contain it, unless the user wants
//! it captured.

use wink_fs::{Exclusions, MemoryBackend, StateRef, TreePath, Workspace};

use crate::error::CliError;
use crate::project::Project;
use crate::sys::disk;

/// The pattern that excludes it.
pub(crate) const GIT: &str = "/.git";

/// Returns the exclusions of a workspace.
pub(crate) fn excluded(project: &Project) -> Result<Exclusions, CliError> {
    if disk::is_gone(&project.root.join(".git")) {
        Ok(Exclusions::parse(project.settings.exclude.clone())?)
    } else {
        excluded_for_long(project)
    }
}

/// Returns the exclusions for a server: `.git` may be created while it runs.
pub(crate) fn excluded_for_long(project: &Project) -> Result<Exclusions, CliError> {
    let mut patterns = project.settings.exclude.clone();
    let excluded = Exclusions::parse(patterns.clone())?;
    let git = TreePath::parse(".git")?;
    if project.settings.captures_git() || excluded.matches(&git) || is_kept(project, &git) {
        return Ok(excluded);
    }
    patterns.insert(0, GIT.to_owned());
    Ok(Exclusions::parse(patterns)?)
}

/// Returns whether patterns exclude `.git`.
pub(crate) fn is_excluded_by(patterns: &[String]) -> Result<bool, CliError> {
    Ok(Exclusions::parse(patterns.to_vec())?.matches(&TreePath::parse(".git")?))
}

/// Returns whether a pattern means only `.git`.
pub(crate) fn is_named(pattern: &str) -> bool {
    pattern.trim_matches('/') == ".git"
}

/// Returns whether the last snapshot contains `.git`.
fn is_kept(project: &Project, git: &TreePath) -> bool {
    let Ok(store) = project.open_store() else { return false };
    let kept = Workspace::builder(MemoryBackend::new()).read_only(true).store(store).build();
    let last = kept.current_snapshot_id().ok().flatten().map(StateRef::Snapshot);
    let tree = last.and_then(|last| kept.tree_at(last).ok());
    tree.is_some_and(|tree| tree.stat(git).is_ok())
}
