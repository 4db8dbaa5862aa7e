//! A directory that was moved goes on with its history.

use std::path::{Path, PathBuf};

use wink_fs::{Exclusions, Workspace};

use crate::cli::context::Context;
use crate::error::Failure;
use crate::project::{self, Home};
use crate::project::{content_match, orphaned};
use crate::sys::disk;

/// Returns the history to go on with: the one that was named, or one that a person agrees to.
pub(super) fn choose(
    context: &Context,
    root: &Path,
    candidates: &[Home],
) -> Result<Option<Home>, Failure> {
    match (&context.store, candidates) {
        (Some(store), _) => Ok(orphaned::at(store).or_else(|| unannounced(store, root))),
        (None, [lost]) if orphaned::may_have_been(root, lost) && Home::of(root)?.is_none() => {
            let was = lost.root.display();
            let question = format!("Go on with the history of {was}, which is gone?");
            Ok(context.agrees(&question)?.then(|| orphaned::at(&lost.directory)).flatten())
        }
        _ => Ok(None),
    }
}

/// Finds the history of a directory that was moved here. Where something else is there by now, what is here
/// must be what that history kept, and a person must agree.
pub(super) fn named(context: &Context, root: &Path, old: &Path) -> Result<Home, Failure> {
    let real = disk::real_path_to_be(old);
    let real = real.map_err(|error| Failure::host("cannot find", old, error))?;
    let home = Home::of(&real)?.ok_or_else(|| Failure::never_protected(old))?;
    if home.root == root {
        return Err(Failure::already_protected(root, &home.directory));
    }
    if disk::is_gone(&home.root) {
        return Ok(home);
    }
    let was = home.root.display();
    if !content_match::is_of(root, &home) {
        return Err(Failure::not_its_files(root, &home));
    }
    context.confirm(&format!("Take its history from {was}, which is no workspace then?"))?;
    Ok(home)
}

/// Reads the history of a directory that nothing leads to from there.
fn unannounced(store: &Path, root: &Path) -> Option<Home> {
    let home = Home::read(store).ok()??;
    (home.root == root && matches!(Home::of(root), Ok(None))).then_some(home)
}

/// Makes a directory the workspace of a history, which stays where it is.
pub(super) fn go_on(
    root: &Path,
    mut lost: Home,
    exclude: &[String],
) -> Result<(PathBuf, Vec<String>, bool), Failure> {
    if lost.directory.starts_with(root) {
        return Err(Failure::store_inside(root, &lost.directory));
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

/// Takes away a history in which nothing was kept yet; another one stays, and is a refusal.
fn make_way(root: &Path) -> Result<(), Failure> {
    let Some(home) = Home::of(root).ok().flatten() else { return Ok(()) };
    let failed = |error| Failure::host("cannot remove", &home.directory, error);
    if home.directory == project::usual_place(root)? && is_unused(&home)? {
        return disk::remove_all(&home.directory).map_err(failed);
    }
    Err(Failure::already_protected(root, &home.directory))
}

fn is_unused(home: &Home) -> Result<bool, Failure> {
    let files = Context::builder(home, &Exclusions::default())?.build();
    Ok(files.snapshots()?.is_empty() && files.operations()?.is_empty())
}
