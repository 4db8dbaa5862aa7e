//! Continues the history of a moved directory.

use std::path::{Path, PathBuf};

use wink_fs::{Exclusions, HostOptions, Workspace};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::project::{self, Project};
use crate::project::{content_match, orphaned};
use crate::sys::disk;

/// Returns the history to continue: the named one, or one that the user agrees to.
pub(super) fn choose(
    context: &Context,
    root: &Path,
    candidates: &[Project],
) -> Result<Option<Project>, CliError> {
    match (&context.store, candidates) {
        (Some(store), _) => Ok(orphaned::at(store).or_else(|| unannounced(store, root))),
        (None, [lost]) if orphaned::may_have_been(root, lost) && Project::of(root)?.is_none() => {
            let was = lost.root.display();
            let question = format!("Continue the history of {was}, which is missing?");
            Ok(context.agrees(&question)?.then(|| orphaned::at(&lost.directory)).flatten())
        }
        _ => Ok(None),
    }
}

/// Finds the history of a directory that was moved here. If another directory is there now, the files here
/// must match that history, and the user must agree.
pub(super) fn named(context: &Context, root: &Path, old: &Path) -> Result<Project, CliError> {
    let real = disk::real_path_to_be(old);
    let real = real.map_err(|error| CliError::host("cannot find", old, error))?;
    let project = Project::of(&real)?.ok_or_else(|| CliError::never_protected(old))?;
    if project.root == root {
        return Err(CliError::already_protected(root, &project.directory));
    }
    if disk::is_gone(&project.root) {
        return Ok(project);
    }
    let was = project.root.display();
    if !content_match::is_of(root, &project) {
        return Err(CliError::not_its_files(root, &project));
    }
    context.confirm(&format!(
        "Move the history of {was} here, so that it is no longer a workspace?"
    ))?;
    Ok(project)
}

/// Reads the history of a directory without a pointer to it.
fn unannounced(store: &Path, root: &Path) -> Option<Project> {
    let project = Project::read(store).ok()??;
    (project.root == root && matches!(Project::of(root), Ok(None))).then_some(project)
}

/// Makes a directory the workspace of a history, which keeps its place.
pub(super) fn go_on(
    root: &Path,
    mut lost: Project,
    exclude: &[String],
) -> Result<(PathBuf, Vec<String>, bool), CliError> {
    if lost.directory.starts_with(root) {
        return Err(CliError::store_inside(root, &lost.directory));
    }
    Workspace::host(root)?;
    Exclusions::parse(exclude)?;
    make_way(root)?;
    if lost.root != root {
        lost.forget_pointer()?;
    }
    lost.change(|settings| {
        let known = settings.exclude.clone();
        settings.exclude.extend(exclude.iter().filter(|it| !known.contains(it)).cloned());
        settings.move_to(root)
    })?;
    project::leave_pointer(root, &lost.directory)?;
    Ok((lost.directory, lost.settings.exclude, false))
}

/// Removes an empty history; fails if it is not empty.
fn make_way(root: &Path) -> Result<(), CliError> {
    let Some(project) = Project::of(root).ok().flatten() else { return Ok(()) };
    let failed = |error| CliError::host("cannot remove", &project.directory, error);
    if project.directory == project::usual_place(root)? && is_unused(&project)? {
        return disk::remove_all(&project.directory).map_err(failed);
    }
    Err(CliError::already_protected(root, &project.directory))
}

fn is_unused(project: &Project) -> Result<bool, CliError> {
    let files = Context::builder(project, &Exclusions::default(), HostOptions::default())?.build();
    Ok(files.snapshots()?.is_empty() && files.operations()?.is_empty())
}
