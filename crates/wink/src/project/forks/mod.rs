//! The forks of a workspace.

pub(crate) mod incomplete;
pub(crate) mod merge_base;
pub(crate) mod persisted;

use std::path::{Path, PathBuf};

use wink_fs::SnapshotStore as _;

use super::Project;
use crate::error::CliError;
use crate::project::settings::Settings;
use crate::sys::disk;

const BRANCHES: &str = "branches";

/// The forks of a workspace.
#[derive(Debug, Default)]
pub(crate) struct Forks {
    pub(crate) whole: Vec<Project>,
    /// Those whose settings cannot be read.
    pub(crate) damaged: Vec<DamagedFork>,
}

/// A fork whose settings cannot be read, so that its name is unknown.
#[derive(Debug)]
pub(crate) struct DamagedFork {
    /// The name that it was made with.
    pub(crate) key: String,
    pub(crate) why: CliError,
}

impl DamagedFork {
    /// Says it to a person.
    pub(crate) fn warning(&self) -> String {
        format!("warning: the fork made as {} is damaged: {}", self.key, self.why.message())
    }
}

impl Project {
    /// Returns the name by which a fork is known to the store: that of its directory here, which stays
    /// when the fork gets another name.
    pub(crate) fn key(&self) -> String {
        branch_key(&self.directory)
    }

    /// Returns who keeps the snapshots that a fork needs from being pruned.
    pub(crate) fn pin_owner(&self) -> String {
        pin_owner(&self.key())
    }

    /// Returns a directory for the settings of a new fork: named after it, and after a number where one
    /// that has another name by now began with this one.
    pub(crate) fn new_branch(&self, name: &str) -> Result<PathBuf, CliError> {
        let mut place = self.directory.join(BRANCHES).join(name);
        let mut number = 1;
        while Settings::read(&place)?.is_some() {
            number += 1;
            place.set_file_name(format!("{name}-{number}"));
        }
        Ok(place)
    }

    /// Tells whether it is a fork that was kept as a snapshot and has no directory.
    pub(crate) fn is_kept(&self) -> bool {
        self.settings.branch.as_ref().is_some_and(|branch| branch.kept.is_some())
    }

    /// Takes away what was kept for a fork that could not be made in a directory.
    pub(crate) fn forget_unmade(&self, place: &Path) {
        // Another process may have made a fork of this name meanwhile.
        let (Ok(store), Ok(None)) = (self.open_store(), Settings::read(place)) else { return };
        let key = branch_key(place);
        let _ = store.forget_branch(&key);
        let pins = store.pins().unwrap_or_default().into_iter();
        pins.filter(|pin| pin.owner == pin_owner(&key)).for_each(|pin| {
            let _ = store.unpin(&pin.snapshot, &pin.owner);
        });
    }

    /// Finds a fork of the workspace, or, of a fork, of what it is a fork of; others that are damaged do not
    /// matter. One that is damaged itself has the name of its directory.
    pub(crate) fn find_branch(&self, name: &str) -> Result<Option<Self>, CliError> {
        let mut found = Ok(None);
        for place in places_in(&self.shared()?.join(BRANCHES))? {
            match Self::read(&place) {
                Ok(Some(project)) if project.branch_name() == Some(name) => {
                    return Ok(Some(project));
                }
                Err(failure) if branch_key(&place) == name => found = Err(failure),
                _ => {}
            }
        }
        found
    }

    /// Returns the forks of the workspace, or, of a fork, those of what it is a fork of, by name.
    pub(crate) fn branches(&self) -> Result<Forks, CliError> {
        let mut branches = Forks::default();
        for place in places_in(&self.shared()?.join(BRANCHES))? {
            match Self::read(&place) {
                Ok(project) => branches.whole.extend(project),
                Err(why) => branches.damaged.push(DamagedFork { key: branch_key(&place), why }),
            }
        }
        branches.whole.sort_by(|one, other| one.branch_name().cmp(&other.branch_name()));
        Ok(branches)
    }

    /// Excludes a pattern from now on, here and wherever the snapshots are shared; tells whether it was
    /// not everywhere before, and which forks are damaged.
    pub(crate) fn exclude_everywhere(
        &self,
        pattern: &str,
    ) -> Result<(bool, Vec<DamagedFork>), CliError> {
        let _held = self.hold_settings()?;
        let (main, branches) = (Self::read(&self.shared()?)?, self.branches()?);
        let mut is_new = false;
        for mut project in main.into_iter().chain(branches.whole) {
            if !project.settings.exclude.iter().any(|known| known == pattern) {
                project.settings.exclude.push(pattern.to_owned());
                project.settings.write_over(&project.directory)?;
                is_new = true;
            }
        }
        Ok((is_new, branches.damaged))
    }

    fn branch_name(&self) -> Option<&str> {
        self.settings.branch.as_ref().map(|branch| &*branch.name)
    }
}

/// Returns the directories in which there may be settings of forks.
fn places_in(directory: &Path) -> Result<Vec<PathBuf>, CliError> {
    let names = disk::names(directory);
    let names = names.map_err(|error| CliError::host("cannot list", directory, error))?;
    Ok(names.iter().map(|name| directory.join(name)).collect())
}

/// Returns who keeps the snapshots that a fork of that key needs from being pruned.
pub(crate) fn pin_owner(key: &str) -> String {
    format!("fork {key}")
}

/// Returns the name by which the fork with its settings in a directory is known to the store.
pub(crate) fn branch_key(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
