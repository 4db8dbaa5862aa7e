//! Changes of settings, under a lock, so that no process overwrites another's change.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use super::Project;
use crate::error::CliError;
use crate::project::settings::Settings;
use crate::sys::disk;

/// The lock file of processes that name a fork or tag.
const NAMES: &str = "names.lock";

/// The lock file of processes that change settings, of the workspace or of a fork.
const SETTINGS: &str = "settings.lock";

impl Project {
    /// Locks the names of forks and tags until the value is dropped.
    pub(crate) fn hold_names(&self) -> Result<File, CliError> {
        self.hold(NAMES)
    }

    /// Locks the settings of the workspace and all its forks until the value is dropped.
    ///
    /// If both locks are needed, the names are locked first.
    pub(crate) fn hold_settings(&self) -> Result<File, CliError> {
        self.hold(SETTINGS)
    }

    fn hold(&self, name: &str) -> Result<File, CliError> {
        let path = self.shared()?.join(name);
        disk::wait_to_hold(&path).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => CliError::locked(&path),
            _ => CliError::host("cannot lock", &path, error),
        })
    }

    /// Reads the settings again under the lock, and changes them.
    pub(crate) fn change<T>(
        &mut self,
        change: impl FnOnce(&mut Settings) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let _held = self.hold_settings()?;
        let now = Settings::read(&self.directory)?;
        self.settings = now.ok_or_else(|| CliError::no_store(&self.directory))?;
        let changed = change(&mut self.settings)?;
        self.settings.write_over(&self.directory)?;
        Ok(changed)
    }

    /// Writes the settings of a new fork, with the current exclusions.
    pub(crate) fn write_fork(&self, mut fork: Settings, place: &Path) -> Result<(), CliError> {
        let _held = self.hold_settings()?;
        let now = Settings::read(&self.directory)?;
        fork.exclude = now.ok_or_else(|| CliError::no_store(&self.directory))?.exclude;
        fork.write(place)
    }
}
