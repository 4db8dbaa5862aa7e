//! Where the history of a workspace is kept: outside of it.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use wink_fs::{Error, ErrorKind, Store};

use crate::disk;
use crate::failure::Failure;
use crate::lost;
use crate::settings::Settings;

/// The directory of all histories, in that of a person's data.
const DATA: &str = "wink";

const STORE: &str = "store";
const BRANCHES: &str = "branches";

/// How much of a directory's name is shown in that of its history.
const NAME_CHARACTERS: usize = 40;

/// Holds the place of a workspace's history.
#[derive(Debug)]
pub(crate) struct Home {
    /// The real path of the workspace.
    pub(crate) root: PathBuf,
    /// The directory with its settings and its store.
    pub(crate) directory: PathBuf,
    pub(crate) settings: Settings,
}

impl Home {
    /// Finds the workspace that a directory is, or is in; `store` says where its history is.
    pub(crate) fn find(directory: &Path, store: Option<&Path>) -> Result<Self, Failure> {
        let found = Self::find_any(directory, store)?;
        found.ok_or_else(|| Failure::no_workspace(directory, &lost::of(directory)))
    }

    /// Finds the same, where the directory is in a workspace; one that is damaged or away is no reason to
    /// go on without it.
    pub(crate) fn find_any(
        directory: &Path,
        store: Option<&Path>,
    ) -> Result<Option<Self>, Failure> {
        if let Some(store) = store {
            return Self::read(store)?.map(Some).ok_or_else(|| Failure::no_store(store));
        }
        for root in directory.ancestors() {
            if let Some(home) = Self::of(root)? {
                return Ok(Some(home));
            }
        }
        Ok(None)
    }

    /// Returns the place of the history of a directory that is a workspace.
    pub(crate) fn of(root: &Path) -> Result<Option<Self>, Failure> {
        let (usual, settings) = look_at_usual_place(root)?;
        let Some(settings) = settings else { return Ok(None) };
        match settings.kept_in()? {
            None => Ok(Some(Self { root: root.to_owned(), directory: usual, settings })),
            Some(other) => Self::read(&other)?.map(Some).ok_or_else(|| Failure::no_store(&other)),
        }
    }

    /// Reads the settings in a directory; `None` where there are none.
    pub(crate) fn read(directory: &Path) -> Result<Option<Self>, Failure> {
        let Some(settings) = Settings::read(directory)? else { return Ok(None) };
        Ok(Some(Self { root: settings.root()?, directory: directory.to_owned(), settings }))
    }

    /// Opens the store, which a fork shares with what it is a fork of.
    pub(crate) fn open_store(&self) -> Result<Store, Failure> {
        let failed = |error: Error| match error.kind() {
            ErrorKind::NotFound => Failure::no_store(&self.directory),
            _ => error.into(),
        };
        let store = Store::open_ambient(self.store()?).map_err(failed)?;
        match &self.settings.branch {
            None => Ok(store),
            Some(_) => Ok(store.on_branch(&self.key())?),
        }
    }

    /// Returns the place of the store.
    pub(crate) fn store(&self) -> Result<PathBuf, Failure> {
        Ok(store_in(&self.shared()?))
    }

    /// Returns the directory of what a fork shares with what it is a fork of.
    pub(crate) fn shared(&self) -> Result<PathBuf, Failure> {
        self.settings.branch.as_ref().map_or(Ok(self.directory.clone()), |branch| branch.of())
    }

    /// Returns the name by which a fork is known to the store: that of its directory here, which stays
    /// when the fork gets another name.
    pub(crate) fn key(&self) -> String {
        branch_key(&self.directory)
    }

    /// Returns who keeps the snapshots that a fork needs from being pruned.
    pub(crate) fn pin_owner(&self) -> String {
        format!("fork {}", self.key())
    }

    /// Returns a directory for the settings of a new fork: named after it, and after a number where one
    /// that has another name by now began with this one.
    pub(crate) fn new_branch(&self, name: &str) -> Result<PathBuf, Failure> {
        let mut place = self.directory.join(BRANCHES).join(name);
        let mut number = 1;
        while Settings::read(&place)?.is_some() {
            number += 1;
            place.set_file_name(format!("{name}-{number}"));
        }
        Ok(place)
    }

    /// Finds a fork among others by its name.
    pub(crate) fn named(branches: Vec<Self>, name: &str) -> Option<Self> {
        branches.into_iter().find(|home| home.branch_name() == Some(name))
    }

    /// Returns the forks of the workspace, or, of a fork, those of what it is a fork of.
    pub(crate) fn all_branches(&self) -> Result<Vec<Self>, Failure> {
        let Some(branch) = &self.settings.branch else { return self.branches() };
        Self::read(&branch.of()?)?.map_or(Ok(Vec::new()), |main| main.branches())
    }

    /// Excludes a pattern from now on, here and wherever the snapshots are shared; tells whether it was
    /// not everywhere before.
    pub(crate) fn exclude_everywhere(&self, pattern: &str) -> Result<bool, Failure> {
        let main = Self::read(&self.shared()?)?;
        let mut is_new = false;
        for mut home in main.into_iter().chain(self.all_branches()?) {
            if !home.settings.exclude.iter().any(|known| known == pattern) {
                home.settings.exclude.push(pattern.to_owned());
                home.settings.write_over(&home.directory)?;
                is_new = true;
            }
        }
        Ok(is_new)
    }

    /// Takes away the word of where the history is that was left in the usual place.
    pub(crate) fn forget_pointer(&self) -> Result<(), Failure> {
        // Without a usual place no word was left.
        if data_home().is_none() {
            return Ok(());
        }
        let (usual, settings) = look_at_usual_place(&self.root)?;
        let kept_in = settings.map(|it| it.kept_in()).transpose()?.flatten();
        if kept_in.as_ref() != Some(&self.directory) {
            return Ok(());
        }
        disk::remove_all(&usual).map_err(|error| Failure::host("cannot remove", &usual, error))
    }

    /// Returns the forks there are, by name.
    pub(crate) fn branches(&self) -> Result<Vec<Self>, Failure> {
        let directory = self.directory.join(BRANCHES);
        let names = disk::names(&directory);
        let names = names.map_err(|error| Failure::host("cannot list", &directory, error))?;
        let read = names.iter().map(|name| Self::read(&directory.join(name)));
        let read = read.collect::<Result<Vec<_>, _>>()?;
        let mut branches: Vec<_> = read.into_iter().flatten().collect();
        branches.sort_by(|one, other| one.branch_name().cmp(&other.branch_name()));
        Ok(branches)
    }

    fn branch_name(&self) -> Option<&str> {
        self.settings.branch.as_ref().map(|branch| &*branch.name)
    }
}

/// Returns the name by which the fork with its settings in a directory is known to the store.
pub(crate) fn branch_key(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the place of the store in a directory of a history.
pub(crate) fn store_in(directory: &Path) -> PathBuf {
    directory.join(STORE)
}

/// Returns the directory for the history of a workspace where nobody names another.
pub(crate) fn usual_place(root: &Path) -> Result<PathBuf, Failure> {
    Ok(look_at_usual_place(root)?.0)
}

/// The same, with the settings that are there.
///
/// A history stays where it is when its directory is moved: what is at the old path then has the next place,
/// also where a word was left behind that leads to it.
fn look_at_usual_place(root: &Path) -> Result<(PathBuf, Option<Settings>), Failure> {
    let first = all_places()?.join(key(root));
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

/// Tells whether settings lead to a history that is of another directory by now.
fn leads_astray(settings: &Settings, root: &Path) -> Result<bool, Failure> {
    let Some(directory) = settings.kept_in()? else { return Ok(false) };
    // One that cannot be read may be away only for a while.
    Ok(matches!(Settings::read(&directory), Ok(Some(kept)) if !kept.is_of(root)))
}

/// Leaves word in the usual place of where the history of a directory is, unless it is there itself.
pub(crate) fn leave_pointer(root: &Path, directory: &Path) -> Result<(), Failure> {
    // Without a usual place the history is found by naming it each time.
    let Ok(usual) = usual_place(root) else { return Ok(()) };
    if usual == directory {
        return Ok(());
    }
    disk::make_private(&usual).map_err(|error| Failure::host("cannot make", &usual, error))?;
    Settings::pointer(root, directory)?.write_over(&usual)
}

/// Returns the directory of all histories that nobody put elsewhere.
pub(crate) fn all_places() -> Result<PathBuf, Failure> {
    Ok(data_home().ok_or_else(Failure::no_data_home)?.join(DATA))
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
