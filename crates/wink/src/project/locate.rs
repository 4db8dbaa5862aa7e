//! The working directory, the default directories of histories, and pointers to those that are elsewhere.

use std::env;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Project;
use crate::cli::paths;
use crate::error::CliError;
use crate::project::settings::Settings;
use crate::sys::disk;

/// The directory of all histories, below the user's data directory.
const DATA: &str = "wink";

/// How much of a directory's name is part of the name of its history.
const NAME_CHARACTERS: usize = 40;

impl Project {
    /// Removes the pointer to this history from the default place.
    pub(crate) fn forget_pointer(&self) -> Result<(), CliError> {
        // Without a default place there is no pointer.
        if data_home().is_none() {
            return Ok(());
        }
        let (usual, settings) = look_at_usual_place(&self.root)?;
        let kept_in = settings.map(|it| it.kept_in()).transpose()?.flatten();
        if kept_in.as_ref() != Some(&self.directory) {
            return Ok(());
        }
        disk::remove_all(&usual).map_err(|error| CliError::host("cannot remove", &usual, error))
    }
}

/// Returns the directory for the history of a workspace, unless the user names another.
pub(crate) fn usual_place(root: &Path) -> Result<PathBuf, CliError> {
    Ok(look_at_usual_place(root)?.0)
}

/// Returns the default place and the settings in it.
///
/// A history keeps its place when its directory is moved: a new directory at the old path gets the next place,
/// also if a pointer was left behind.
pub(super) fn look_at_usual_place(root: &Path) -> Result<(PathBuf, Option<Settings>), CliError> {
    let first = first_place(root)?;
    let (mut place, mut number) = (first.clone(), 1);
    loop {
        match Settings::read(&place)? {
            Some(settings) if !settings.is_of(root) || leads_astray(&settings, root)? => {
                number += 1;
            }
            settings => return Ok((place, settings)),
        }
        place = first.with_added_extension(number.to_string());
    }
}

/// Returns the first default place for the history of a workspace.
pub(crate) fn first_place(root: &Path) -> Result<PathBuf, CliError> {
    Ok(all_places()?.join(key(root)))
}

/// Returns whether a pointer leads to a history that belongs to another directory by now.
fn leads_astray(settings: &Settings, root: &Path) -> Result<bool, CliError> {
    let Some(directory) = settings.kept_in()? else { return Ok(false) };
    // An unreadable history may be on a disk that is not mounted.
    Ok(matches!(Settings::read(&directory), Ok(Some(kept)) if !kept.is_of(root)))
}

/// Writes a pointer to the history into the default place, unless the history is there itself.
pub(crate) fn leave_pointer(root: &Path, directory: &Path) -> Result<(), CliError> {
    // Without a default place the user names the history with `--store`.
    let Ok(usual) = usual_place(root) else { return Ok(()) };
    if usual == directory {
        return Ok(());
    }
    disk::make_private(&usual).map_err(|error| CliError::host("cannot make", &usual, error))?;
    Settings::pointer(root, directory)?.write_over(&usual)
}

/// Returns the default directory of all histories.
pub(crate) fn all_places() -> Result<PathBuf, CliError> {
    Ok(data_home().ok_or_else(CliError::no_data_home)?.join(DATA))
}

/// Returns the user's home directory.
pub(crate) fn user_home() -> Option<PathBuf> {
    absolute(env::var_os("HOME"))
}

/// Returns the user's configuration directory.
pub(crate) fn config_home() -> Option<PathBuf> {
    absolute(env::var_os("XDG_CONFIG_HOME")).or_else(|| Some(user_home()?.join(".config")))
}

fn data_home() -> Option<PathBuf> {
    absolute(env::var_os("XDG_DATA_HOME")).or_else(|| Some(user_home()?.join(".local/share")))
}

fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Returns a recognisable and unique name for a workspace's history.
fn key(root: &Path) -> String {
    let name = root.file_name().map_or("root".into(), |name| name.to_string_lossy());
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = name.chars().take(NAME_CHARACTERS).map(plain).collect();
    let hash = blake3::hash(root.as_os_str().as_bytes()).to_hex();
    format!("{name}-{}", &hash[..8])
}

/// Returns the real path of the working directory; the error for a missing one says how to get it back.
pub(crate) fn working_directory(named: &Path, store: Option<&Path>) -> Result<PathBuf, CliError> {
    disk::real_path(named).map_err(|error| match error.kind() {
        ErrorKind::NotFound => missing_directory(named, store, error),
        _ => CliError::host("cannot find", named, error),
    })
}

fn missing_directory(named: &Path, store: Option<&Path>, error: io::Error) -> CliError {
    let Some(place) = path_of_missing(named) else {
        return CliError::host("cannot find", named, error);
    };
    let store = store.map(|store| paths::without_dots(&place.join(store)));
    match Project::find_any(&place, store.as_deref()) {
        Ok(Some(project)) if disk::is_gone(&project.root) => CliError::gone(&project),
        // Another directory replaced the one in which the command was started.
        _ if !disk::is_gone(&place) => CliError::replaced(&place),
        _ => CliError::host("cannot find", &place, error),
    }
}

/// Returns the path of a missing directory; for the current one, the shell knows it.
fn path_of_missing(named: &Path) -> Option<PathBuf> {
    let shell = || env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    let here = env::current_dir().ok().or_else(shell)?;
    disk::real_path_to_be(&paths::without_dots(&here.join(named))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_named_after_its_workspace() {
        let key = key(Path::new("/home/me/my project"));
        assert_eq!(
            key.rsplit_once('-').map(|(name, hash)| (name, hash.len())),
            Some(("my_project", 8))
        );
        assert_ne!(key, super::key(Path::new("/home/you/my project")));
        assert!(super::key(Path::new("/")).starts_with("root-"));
    }
}
