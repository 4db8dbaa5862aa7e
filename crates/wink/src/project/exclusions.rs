//! Exclusions of a running server, read again when the settings change.

use std::path::Path;
use std::sync::Mutex;

use wink_fs::{Error, ErrorKind, Exclusions, HostOptions, Operation, Result, WorkspaceBuilder};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::project::Project;
use crate::project::git::directory;
use crate::project::settings::Settings;
use crate::sys::disk::{self, Stamp};
use crate::sys::lock::lock;

/// Returns a builder for the workspace of a server, which follows changes of the exclusions.
pub(crate) fn heeding(
    project: &Project,
    options: HostOptions,
) -> std::result::Result<WorkspaceBuilder, CliError> {
    let directory = project.directory.clone();
    // Before the settings are read, so that a later change is noticed.
    let seen = Mutex::new(stamp(&directory));
    let project = Project::read(&directory)?.ok_or_else(|| CliError::no_store(&directory))?;
    let builder = Context::builder(&project, &directory::excluded_for_long(&project)?, options)?;
    Ok(builder.exclude_by(move || changed(&directory, &mut lock(&seen))))
}

/// Returns the exclusions, if the settings have changed.
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

/// Fails closed; the message for the model does not name the settings file.
fn unknown(failure: CliError) -> Error {
    tracing::warn!("what is excluded is not known: {}", failure.message());
    Error::new(Operation::Snapshot, ErrorKind::Unavailable).with_detail(
        "cannot read the exclusions of the history; ask the person who runs the server",
    )
}
