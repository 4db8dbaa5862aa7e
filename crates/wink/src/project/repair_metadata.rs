//! Rebuilds the settings and the format file of a history from the rest of it.

use std::path::{Path, PathBuf};

use wink_fs::{SnapshotStore as _, Store};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::project::content_match;
use crate::project::settings::Settings;
use crate::project::{self, Project, store_in};
use crate::sys::disk;

/// The extension of damaged settings that are kept.
const ASIDE: &str = "damaged";

/// Rebuilds missing or damaged files; returns their names.
pub(crate) fn mend(context: &Context) -> Result<Vec<String>, CliError> {
    let mut mended = Vec::new();
    let known = Project::find_any(&context.directory, context.store.as_deref());
    let place = match &known {
        Ok(Some(project)) => Some((project.root.clone(), project.shared()?)),
        Err(failure) if failure.is_of_another_version() => return known.map(|_| mended),
        _ => without_settings(context)?,
    };
    let Some((root, directory)) = place else { return Ok(mended) };
    let store = store_in(&directory);
    if Store::mend_ambient(&store)? {
        mended.push("store/format".to_owned());
        // A new format file has a new id.
        let id = Store::open_ambient(&store)?.id().to_owned();
        if let Some(mut project) = Project::read(&directory).ok().flatten() {
            project.change(|settings| {
                settings.store_id = Some(id);
                Ok(())
            })?;
        }
    }
    if !matches!(known, Ok(Some(_))) && write_settings(context, root, directory)? {
        mended.push("workspace.json".to_owned());
    }
    Ok(mended)
}

/// Finds the history of a directory whose settings are missing or damaged, with that directory.
fn without_settings(context: &Context) -> Result<Option<(PathBuf, PathBuf)>, CliError> {
    if let Some(store) = &context.store {
        let is_one = has_no_settings(store);
        return Ok(is_one.then(|| (context.directory.clone(), store.clone())));
    }
    for root in context.directory.ancestors() {
        let place = pointed_to(project::first_place(root)?);
        if has_no_settings(&place) {
            return Ok(Some((root.to_owned(), place)));
        }
    }
    Ok(None)
}

/// Follows a pointer to a history elsewhere.
fn pointed_to(place: PathBuf) -> PathBuf {
    let settings = Settings::read(&place).ok().flatten();
    settings.and_then(|it| it.kept_in().ok().flatten()).unwrap_or(place)
}

/// Returns whether a directory has a store, but no settings that any version can read.
pub(crate) fn has_no_settings(directory: &Path) -> bool {
    let is_missing = match Settings::read(directory) {
        Ok(settings) => settings.is_none(),
        Err(failure) => !failure.is_of_another_version(),
    };
    is_missing && !disk::is_gone(&store_in(directory))
}

/// Writes new settings if the history belongs to the directory; returns whether it does.
fn write_settings(context: &Context, root: PathBuf, directory: PathBuf) -> Result<bool, CliError> {
    let mut project = Project { settings: Settings::new(&root, Vec::new())?, root, directory };
    let is_named_so = project::first_place(&project.root).is_ok_and(|it| it == project.directory);
    if !is_named_so && !content_match::is_of(&project.root, &project) {
        return Ok(false);
    }
    let store = project.open_store()?;
    let id = store.id().to_owned();
    let last = store.list()?.into_iter().rfind(|it| it.fork.is_none());
    project.settings =
        Settings::new(&project.root, last.map(|it| it.excluded).unwrap_or_default())?;
    project.settings.store_id = Some(id);
    let _held = project.hold_settings()?;
    let place = Settings::place(&project.directory);
    let failed = |error| CliError::host("cannot write the settings", &place, error);
    if let Some(damaged) = disk::read(&place).map_err(failed)? {
        disk::replace(&place.with_added_extension(ASIDE), &damaged).map_err(failed)?;
    }
    project.settings.write_over(&project.directory)?;
    context.say("note: retention is the default now; set it again with `wink config`");
    Ok(true)
}
