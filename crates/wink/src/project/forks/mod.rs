//! The forks of a workspace.

pub(crate) mod incomplete;
pub(crate) mod persisted;

use std::path::{Path, PathBuf};

use wink_fs::{Pin, SnapshotStore as _, Workspace};

use super::Project;
use crate::error::CliError;
use crate::project::settings::{ForkSettings, MergeBase, Settings};
use crate::sys::disk;

const DIRECTORY: &str = "branches";

/// The forks of a workspace.
#[derive(Debug, Default)]
pub(crate) struct Forks {
    pub(crate) whole: Vec<Project>,
    /// Forks with unreadable settings.
    pub(crate) damaged: Vec<DamagedFork>,
}

/// A fork whose settings cannot be read, so that its name is unknown.
#[derive(Debug)]
pub(crate) struct DamagedFork {
    /// The name with which it was made.
    pub(crate) key: String,
    pub(crate) why: CliError,
}

impl DamagedFork {
    /// Returns the note, if any snapshot was pruned.
    pub(crate) fn warning(&self) -> String {
        format!("warning: the fork made as {} is damaged: {}", self.key, self.why.message())
    }
}

impl Project {
    /// Returns the name by which the store knows a fork: that of its settings directory, which stays
    /// when the fork is renamed.
    pub(crate) fn key(&self) -> String {
        fork_key(&self.directory)
    }

    /// Returns the owner of the pins of a fork.
    pub(crate) fn pin_owner(&self) -> String {
        pin_owner(&self.key())
    }

    /// Returns a directory for the settings of a new fork: its name, with a number if a fork that
    /// was renamed later has it.
    pub(crate) fn new_fork_directory(&self, name: &str) -> Result<PathBuf, CliError> {
        let mut place = self.directory.join(DIRECTORY).join(name);
        let mut number = 1;
        while Settings::read(&place)?.is_some() {
            number += 1;
            place.set_file_name(format!("{name}-{number}"));
        }
        Ok(place)
    }

    /// Returns whether it is a fork that is kept as a snapshot, without a directory.
    pub(crate) fn is_kept(&self) -> bool {
        self.settings.fork.as_ref().is_some_and(|fork| fork.kept.is_some())
    }

    /// Deletes the records of a fork that could not be made.
    pub(crate) fn forget_unmade(&self, place: &Path) {
        // Another process may have made a fork of this name meanwhile.
        let (Ok(store), Ok(None)) = (self.open_store(), Settings::read(place)) else { return };
        let key = fork_key(place);
        let _ = store.forget_fork(&key);
        let pins = store.pins().unwrap_or_default().into_iter();
        pins.filter(|pin| pin.owner == pin_owner(&key)).for_each(|pin| {
            let _ = store.unpin(&pin.snapshot, &pin.owner);
        });
    }

    /// Finds a fork by name; in a fork, one of the same workspace. Other damaged forks do not
    /// matter; a damaged fork is found by the name of its settings directory.
    pub(crate) fn find_fork(&self, name: &str) -> Result<Option<Self>, CliError> {
        let mut found = Ok(None);
        for place in places_in(&self.shared()?.join(DIRECTORY))? {
            match Self::read(&place) {
                Ok(Some(project)) if project.fork_name() == Some(name) => {
                    return Ok(Some(project));
                }
                Err(failure) if fork_key(&place) == name => found = Err(failure),
                _ => {}
            }
        }
        found
    }

    /// Returns the forks of the workspace, sorted by name; in a fork, those of the same workspace.
    pub(crate) fn forks(&self) -> Result<Forks, CliError> {
        let mut forks = Forks::default();
        for place in places_in(&self.shared()?.join(DIRECTORY))? {
            match Self::read(&place) {
                Ok(project) => forks.whole.extend(project),
                Err(why) => forks.damaged.push(DamagedFork { key: fork_key(&place), why }),
            }
        }
        forks.whole.sort_by(|one, other| one.fork_name().cmp(&other.fork_name()));
        Ok(forks)
    }

    /// Excludes a pattern in the workspace and all its forks; returns whether it is new anywhere,
    /// and which forks are damaged.
    pub(crate) fn exclude_everywhere(
        &self,
        pattern: &str,
    ) -> Result<(bool, Vec<DamagedFork>), CliError> {
        let _held = self.hold_settings()?;
        let (main, forks) = (Self::read(&self.shared()?)?, self.forks()?);
        let mut is_new = false;
        for mut project in main.into_iter().chain(forks.whole) {
            if !project.settings.exclude.iter().any(|known| known == pattern) {
                project.settings.exclude.push(pattern.to_owned());
                project.settings.write_over(&project.directory)?;
                is_new = true;
            }
        }
        Ok((is_new, forks.damaged))
    }

    fn fork_name(&self) -> Option<&str> {
        self.settings.fork.as_ref().map(|fork| &*fork.name)
    }
}

/// Returns the directories that may have settings of forks.
fn places_in(directory: &Path) -> Result<Vec<PathBuf>, CliError> {
    let names = disk::names(directory);
    let names = names.map_err(|error| CliError::host("cannot list", directory, error))?;
    Ok(names.iter().map(|name| directory.join(name)).collect())
}

/// Returns the owner of the pins of the fork with this key.
pub(crate) fn pin_owner(key: &str) -> String {
    format!("fork {key}")
}

/// Returns the name by which the store knows the fork with this settings directory.
pub(crate) fn fork_key(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the merge base of a fork: its last merged state that was not undone, or its first snapshot.
pub(crate) fn merge_base(files: &Workspace, fork: &ForkSettings) -> wink_fs::Result<String> {
    let merges = fork.merges().map(|point| {
        let saved = point.saved.as_ref().and_then(|id| id.parse().ok());
        (saved, &point.theirs)
    });
    Ok(files.last_in_effect(merges)?.unwrap_or(&fork.base).clone())
}

/// Records a merged state as the new merge base.
pub(crate) fn record_merge(
    files: &Workspace,
    mut project: Project,
    point: MergeBase,
) -> Result<(), CliError> {
    let store = files.snapshot_store()?;
    let owner = project.pin_owner();
    if let Ok(id) = point.theirs.parse() {
        store.pin(&Pin::new(id, owner.clone()))?;
    }
    let forgotten =
        project.change(|settings| Ok(settings.fork.as_mut().map(|fork| fork.merged(point))))?;
    for id in forgotten.into_iter().flatten().filter_map(|it| it.theirs.parse().ok()) {
        store.unpin(&id, &owner)?;
    }
    Ok(())
}
