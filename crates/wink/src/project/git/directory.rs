//! The directory that git keeps its own history in.
//!
//! A restore that takes it away, because it was not there when the snapshot was taken, loses a person's
//! whole repository. So it is excluded for as long as the last snapshot does not hold it, unless a person wants
//! it captured.

use wink_fs::{Exclusions, MemoryBackend, StateRef, TreePath, Workspace};

use crate::error::CliError;
use crate::project::Project;
use crate::sys::disk;

/// What excludes it.
pub(crate) const GIT: &str = "/.git";

/// Returns what is excluded from a workspace.
pub(crate) fn excluded(project: &Project) -> Result<Exclusions, CliError> {
    if disk::is_gone(&project.root.join(".git")) {
        Ok(Exclusions::parse(project.settings.exclude.clone())?)
    } else {
        excluded_for_long(project)
    }
}

/// Returns what is excluded for as long as a server runs, in which the directory may be made.
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

/// Tells whether patterns exclude it.
pub(crate) fn is_excluded_by(patterns: &[String]) -> Result<bool, CliError> {
    Ok(Exclusions::parse(patterns.to_vec())?.matches(&TreePath::parse(".git")?))
}

/// Tells whether a pattern means it and nothing else.
pub(crate) fn is_named(pattern: &str) -> bool {
    pattern.trim_matches('/') == ".git"
}

/// Tells whether the last snapshot holds it.
fn is_kept(project: &Project, git: &TreePath) -> bool {
    let Ok(store) = project.open_store() else { return false };
    let kept = Workspace::builder(MemoryBackend::new()).read_only(true).store(store).build();
    let last =
        kept.current_snapshot_id().ok().flatten().map(|id| StateRef::Snapshot(id.to_string()));
    let tree = last.and_then(|last| kept.tree_at(last).ok());
    tree.is_some_and(|tree| tree.stat(git).is_ok())
}
