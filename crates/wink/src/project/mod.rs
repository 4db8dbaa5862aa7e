//! A workspace on disk: where its history is, its settings, forks, quota and prune log.
//!
//! The history lies outside of the directory it protects.

pub(crate) mod config;
pub(crate) mod content_match;
pub(crate) mod exclusions;
pub(crate) mod forks;
pub(crate) mod git;
mod locate;
pub(crate) mod orphaned;
pub(crate) mod prune_log;
pub(crate) mod quota;
pub(crate) mod repair_metadata;
pub(crate) mod retention;
pub(crate) mod settings;
mod update;

use std::path::{Path, PathBuf};

use wink_fs::{Error, ErrorKind, Store};

pub(crate) use self::forks::{DamagedFork, Forks, fork_key, merge_base, pin_owner, record_merge};
use self::locate::look_at_usual_place;
pub(crate) use self::locate::{
    all_places, config_home, first_place, leave_pointer, user_home, usual_place, working_directory,
};
use crate::error::CliError;
use crate::project::settings::Settings;
use crate::sys::disk;

const STORE: &str = "store";

/// A workspace on disk, with the place of its history.
#[derive(Debug)]
pub(crate) struct Project {
    /// The real path of the workspace.
    pub(crate) root: PathBuf,
    /// The directory with its settings and its store.
    pub(crate) directory: PathBuf,
    pub(crate) settings: Settings,
}

impl Project {
    /// Finds the workspace of a directory; `store` names its history.
    pub(crate) fn find(directory: &Path, store: Option<&Path>) -> Result<Self, CliError> {
        let found = Self::find_any(directory, store)?;
        let is_damaged =
            |root: &&Path| first_place(root).is_ok_and(|it| repair_metadata::has_no_settings(&it));
        found.ok_or_else(|| match directory.ancestors().find(is_damaged) {
            Some(root) => CliError::no_settings(root),
            None => CliError::no_workspace(directory, &orphaned::of(directory)),
        })
    }

    /// Finds the workspace of a directory, if it is in one; fails if its history is damaged or missing, rather than
    /// working without it.
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

    /// Returns the workspace whose root is this directory.
    pub(crate) fn of(root: &Path) -> Result<Option<Self>, CliError> {
        let (usual, settings) = look_at_usual_place(root)?;
        let Some(settings) = settings else { return Ok(None) };
        match settings.kept_in()? {
            None => Ok(Some(Self { root: root.to_owned(), directory: usual, settings })),
            Some(other) => Self::read(&other)?.map(Some).ok_or_else(|| CliError::no_store(&other)),
        }
    }

    /// Reads the settings in a directory; `None` if there are none.
    pub(crate) fn read(directory: &Path) -> Result<Option<Self>, CliError> {
        let Some(settings) = Settings::read(directory)? else { return Ok(None) };
        Ok(Some(Self { root: settings.root()?, directory: directory.to_owned(), settings }))
    }

    /// Opens the store, which a fork shares with its workspace.
    pub(crate) fn open_store(&self) -> Result<Store, CliError> {
        let failed = |error: Error| match error.kind() {
            ErrorKind::NotFound => CliError::no_store(&self.directory),
            _ => error.into(),
        };
        let store = Store::open_ambient(self.store()?).map_err(failed)?;
        let expected = match self.forked_from()? {
            Some(main) => main.settings.store_id,
            None => self.settings.store_id.clone(),
        };
        if expected.is_some_and(|expected| expected != store.id()) {
            return Err(CliError::another_store(&self.shared()?));
        }
        match &self.settings.fork {
            None => Ok(store),
            Some(_) => Ok(store.for_fork(&self.key())?),
        }
    }

    /// Returns the directory of the store.
    pub(crate) fn store(&self) -> Result<PathBuf, CliError> {
        Ok(store_in(&self.shared()?))
    }

    /// Returns the directory of the history; a fork shares that of its workspace.
    pub(crate) fn shared(&self) -> Result<PathBuf, CliError> {
        self.settings.fork.as_ref().map_or(Ok(self.directory.clone()), |fork| fork.of())
    }

    /// Returns the root of the workspace; for a fork, the workspace that it was forked from.
    pub(crate) fn main(&self) -> Result<PathBuf, CliError> {
        Ok(self.forked_from()?.map_or(self.root.clone(), |main| main.root))
    }

    /// Returns the workspace that a fork was forked from.
    pub(crate) fn forked_from(&self) -> Result<Option<Self>, CliError> {
        let Some(fork) = &self.settings.fork else { return Ok(None) };
        let of = fork.of()?;
        Self::read(&of)?.map(Some).ok_or_else(|| CliError::no_store(&of))
    }

    /// Writes a fork's pointer again, if a process died before it did; errors are ignored, because
    /// the fork is found without it. A fork without a directory needs none.
    pub(crate) fn announce(&self) {
        if self.is_kept() || disk::is_gone(&self.root) {
            return;
        }
        if matches!(Self::of(&self.root), Ok(None)) {
            let _ = leave_pointer(&self.root, &self.directory);
        }
    }
}

/// Reads the history in a directory, or the one that a pointer there leads to; `None` if there is none.
pub(crate) fn at_place(place: &Path) -> Result<Option<Project>, CliError> {
    let Some(project) = Project::read(place)? else { return Ok(None) };
    match project.settings.kept_in()? {
        Some(other) => Project::read(&other),
        None => Ok(Some(project)),
    }
}

/// Returns the directory of the store in that of a history.
pub(crate) fn store_in(directory: &Path) -> PathBuf {
    directory.join(STORE)
}
