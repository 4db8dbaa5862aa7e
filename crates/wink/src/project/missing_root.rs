//! A directory that was named, or started in, and is not there.

use std::env;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::cli::paths;
use crate::error::CliError;
use crate::project::Project;
use crate::sys::disk;

/// Returns the real path of a directory to work in; of one that is not there, says what is known of it.
pub(crate) fn real_path(named: &Path, store: Option<&Path>) -> Result<PathBuf, CliError> {
    disk::real_path(named).map_err(|error| match error.kind() {
        ErrorKind::NotFound => not_there(named, store, error),
        _ => CliError::host("cannot find", named, error),
    })
}

fn not_there(named: &Path, store: Option<&Path>, error: io::Error) -> CliError {
    let Some(place) = place(named) else { return CliError::host("cannot find", named, error) };
    let store = store.map(|store| paths::without_dots(&place.join(store)));
    match Project::find_any(&place, store.as_deref()) {
        Ok(Some(project)) if disk::is_gone(&project.root) => CliError::gone(&project),
        // Another directory has the path of the one that this was started in.
        _ if !disk::is_gone(&place) => CliError::replaced(&place),
        _ => CliError::host("cannot find", &place, error),
    }
}

/// Returns where a directory was; the one that this was started in is known to the shell, where it is gone.
fn place(named: &Path) -> Option<PathBuf> {
    let shell = || env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    let here = env::current_dir().ok().or_else(shell)?;
    disk::real_path_to_be(&paths::without_dots(&here.join(named))).ok()
}
