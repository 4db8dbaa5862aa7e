//! Where histories are usually kept, and the word that is left there of those that are elsewhere.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Project;
use crate::error::CliError;
use crate::project::settings::Settings;
use crate::sys::disk;

/// The directory of all histories, in that of a person's data.
const DATA: &str = "wink";

/// How much of a directory's name is shown in that of its history.
const NAME_CHARACTERS: usize = 40;

impl Project {
    /// Takes away the word of where the history is that was left in the usual place.
    pub(crate) fn forget_pointer(&self) -> Result<(), CliError> {
        // Without a usual place no word was left.
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

/// The same, with the settings that are there.
///
/// A history stays where it is when its directory is moved: what is at the old path then has the next place,
/// also where a word was left behind that leads to it.
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

/// Returns the first of the places where the history of a workspace can be.
pub(crate) fn first_place(root: &Path) -> Result<PathBuf, CliError> {
    Ok(all_places()?.join(key(root)))
}

/// Tells whether settings lead to a history that is of another directory by now.
fn leads_astray(settings: &Settings, root: &Path) -> Result<bool, CliError> {
    let Some(directory) = settings.kept_in()? else { return Ok(false) };
    // One that cannot be read may be away only for a while.
    Ok(matches!(Settings::read(&directory), Ok(Some(kept)) if !kept.is_of(root)))
}

/// Leaves word in the usual place of where the history of a directory is, unless it is there itself.
pub(crate) fn leave_pointer(root: &Path, directory: &Path) -> Result<(), CliError> {
    // Without a usual place the history is found by naming it each time.
    let Ok(usual) = usual_place(root) else { return Ok(()) };
    if usual == directory {
        return Ok(());
    }
    disk::make_private(&usual).map_err(|error| CliError::host("cannot make", &usual, error))?;
    Settings::pointer(root, directory)?.write_over(&usual)
}

/// Returns the directory of all histories that the user did not put elsewhere.
pub(crate) fn all_places() -> Result<PathBuf, CliError> {
    Ok(data_home().ok_or_else(CliError::no_data_home)?.join(DATA))
}

/// Returns the directory of the person who runs this.
pub(crate) fn user_home() -> Option<PathBuf> {
    absolute(env::var_os("HOME"))
}

/// Returns the directory of what the person who runs this has set.
pub(crate) fn config_home() -> Option<PathBuf> {
    absolute(env::var_os("XDG_CONFIG_HOME")).or_else(|| Some(user_home()?.join(".config")))
}

fn data_home() -> Option<PathBuf> {
    absolute(env::var_os("XDG_DATA_HOME")).or_else(|| Some(user_home()?.join(".local/share")))
}

fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Returns a name for a workspace's history that people recognise and no other workspace has.
fn key(root: &Path) -> String {
    let name = root.file_name().map_or("root".into(), |name| name.to_string_lossy());
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = name.chars().take(NAME_CHARACTERS).map(plain).collect();
    let hash = blake3::hash(root.as_os_str().as_bytes()).to_hex();
    format!("{name}-{}", &hash[..8])
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
