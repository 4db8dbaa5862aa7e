//! What is excluded while a server runs: asked of the settings again, where they are others.

use std::path::Path;
use std::sync::Mutex;

use wink_fs::{Error, ErrorKind, Exclusions, Operation, Result, WorkspaceBuilder};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::project::Project;
use crate::project::git::directory;
use crate::project::settings::Settings;
use crate::sys::disk::{self, Stamp};
use crate::sys::lock::lock;

/// Begins the workspace of a server, which heeds what a person excludes while it runs.
pub(crate) fn heeding(project: &Project) -> std::result::Result<WorkspaceBuilder, CliError> {
    let directory = project.directory.clone();
    // First: what is changed after this look is seen by the next one.
    let seen = Mutex::new(stamp(&directory));
    let project = Project::read(&directory)?.ok_or_else(|| CliError::no_store(&directory))?;
    let builder = Context::builder(&project, &directory::excluded_for_long(&project)?)?;
    Ok(builder.exclude_by(move || changed(&directory, &mut lock(&seen))))
}

/// Returns what is excluded, where the settings are others than those that were seen.
fn changed(directory: &Path, seen: &mut Option<Stamp>) -> Result<Option<Exclusions>> {
    let now = stamp(directory);
    if now.is_some() && *seen == now {
        return Ok(None);
    }
    let project =
        Project::read(directory).and_then(|it| it.ok_or_else(|| CliError::no_store(directory)));
    let excluded =
        project.and_then(|project| directory::excluded_for_long(&project)).map_err(unknown)?;
    *seen = now;
    Ok(Some(excluded))
}

fn stamp(directory: &Path) -> Option<Stamp> {
    disk::stamp(&Settings::place(directory)).ok()
}

/// Refuses to guess; the model is not told where the settings are.
fn unknown(failure: CliError) -> Error {
    tracing::warn!("what is excluded is not known: {}", failure.message());
    Error::new(Operation::Snapshot, ErrorKind::Unavailable).with_detail(
        "what is excluded from the history cannot be read; ask the person who runs the server",
    )
}
