//! A workspace on disk: where its history is, its settings, forks, quota and prune log.
//!
//! The history lies outside of the directory it protects.

pub(crate) mod config;
pub(crate) mod content_match;
pub(crate) mod exclusions;
pub(crate) mod forks;
pub(crate) mod git;
mod locate;
pub(crate) mod missing_root;
pub(crate) mod orphaned;
pub(crate) mod prune_log;
pub(crate) mod quota;
pub(crate) mod repair_metadata;
pub(crate) mod retention;
pub(crate) mod settings;
mod update;

use std::path::{Path, PathBuf};

use wink_fs::{Error, ErrorKind, Store};

pub(crate) use self::forks::{DamagedFork, Forks, branch_key, pin_owner};
use self::locate::look_at_usual_place;
pub(crate) use self::locate::{
    all_places, config_home, first_place, leave_pointer, user_home, usual_place,
};
use crate::error::CliError;
use crate::project::settings::Settings;
use crate::sys::disk;

const STORE: &str = "store";

/// Holds the place of a workspace's history.
#[derive(Debug)]
pub(crate) struct Project {
    /// The real path of the workspace.
    pub(crate) root: PathBuf,
    /// The directory with its settings and its store.
    pub(crate) directory: PathBuf,
    pub(crate) settings: Settings,
}

impl Project {
    /// Finds the workspace that a directory is, or is in; `store` says where its history is.
    pub(crate) fn find(directory: &Path, store: Option<&Path>) -> Result<Self, CliError> {
        let found = Self::find_any(directory, store)?;
        let is_damaged =
            |root: &&Path| first_place(root).is_ok_and(|it| repair_metadata::has_no_settings(&it));
        found.ok_or_else(|| match directory.ancestors().find(is_damaged) {
            Some(root) => CliError::no_settings(root),
            None => CliError::no_workspace(directory, &orphaned::of(directory)),
        })
    }

    /// Finds the same, where the directory is in a workspace; one that is damaged or away is no reason to
    /// go on without it.
    pub(crate) fn find_any(
        directory: &Path,
        store: Option<&Path>,
    ) -> Result<Option<Self>, CliError> {
        if let Some(store) = store {
            return Self::read(store)?.map(Some).ok_or_else(|| CliError::no_store(store));
        }
        for root in directory.ancestors() {
            if let Some(project) = Self::of(root)? {
                return Ok(Some(project));
            }
        }
        Ok(None)
    }

    /// Returns the place of the history of a directory that is a workspace.
    pub(crate) fn of(root: &Path) -> Result<Option<Self>, CliError> {
        let (usual, settings) = look_at_usual_place(root)?;
        let Some(settings) = settings else { return Ok(None) };
        match settings.kept_in()? {
            None => Ok(Some(Self { root: root.to_owned(), directory: usual, settings })),
            Some(other) => Self::read(&other)?.map(Some).ok_or_else(|| CliError::no_store(&other)),
        }
    }

    /// Reads the settings in a directory; `None` where there are none.
    pub(crate) fn read(directory: &Path) -> Result<Option<Self>, CliError> {
        let Some(settings) = Settings::read(directory)? else { return Ok(None) };
        Ok(Some(Self { root: settings.root()?, directory: directory.to_owned(), settings }))
    }

    /// Opens the store, which a fork shares with what it is a fork of.
    pub(crate) fn open_store(&self) -> Result<Store, CliError> {
        let failed = |error: Error| match error.kind() {
            ErrorKind::NotFound => CliError::no_store(&self.directory),
            _ => error.into(),
        };
        let store = Store::open_ambient(self.store()?).map_err(failed)?;
        match &self.settings.branch {
            None => Ok(store),
            Some(_) => Ok(store.on_branch(&self.key())?),
        }
    }

    /// Returns the place of the store.
    pub(crate) fn store(&self) -> Result<PathBuf, CliError> {
        Ok(store_in(&self.shared()?))
    }

    /// Returns the directory of what a fork shares with what it is a fork of.
    pub(crate) fn shared(&self) -> Result<PathBuf, CliError> {
        self.settings.branch.as_ref().map_or(Ok(self.directory.clone()), |branch| branch.of())
    }

    /// Returns the root of the workspace that a fork is a fork of, or else of the workspace itself.
    pub(crate) fn main(&self) -> Result<PathBuf, CliError> {
        Ok(self.forked_from()?.map_or(self.root.clone(), |main| main.root))
    }

    /// Returns the workspace that a fork is a fork of.
    pub(crate) fn forked_from(&self) -> Result<Option<Self>, CliError> {
        let Some(branch) = &self.settings.branch else { return Ok(None) };
        let of = branch.of()?;
        Self::read(&of)?.map(Some).ok_or_else(|| CliError::no_store(&of))
    }

    /// Leaves the word of where a fork's history is again, where a process died before it did; where that
    /// cannot be done, the fork is found as before. One that is kept has no directory to be found from.
    pub(crate) fn announce(&self) {
        if self.is_kept() || disk::is_gone(&self.root) {
            return;
        }
        if matches!(Self::of(&self.root), Ok(None)) {
            let _ = leave_pointer(&self.root, &self.directory);
        }
    }
}

/// Returns the place of the store in a directory of a history.
pub(crate) fn store_in(directory: &Path) -> PathBuf {
    directory.join(STORE)
}
