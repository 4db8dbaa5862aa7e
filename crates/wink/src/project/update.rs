//! Settings that are changed: by one process after the other, so that nothing that one of them set is lost.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use super::Project;
use crate::error::CliError;
use crate::project::settings::Settings;
use crate::sys::disk;

/// A process that gives a name to a fork holds a lock on this file.
const NAMES: &str = "names.lock";

/// A process that changes settings, of the workspace or of a fork, holds a lock on this one.
const SETTINGS: &str = "settings.lock";

impl Project {
    /// Keeps others, of whatever process, from giving names to forks until the value is dropped.
    pub(crate) fn hold_names(&self) -> Result<File, CliError> {
        self.hold(NAMES)
    }

    /// Keeps others from changing settings, here and wherever the snapshots are shared, until the value is dropped.
    ///
    /// Who holds the names too holds those first.
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

    /// Changes the settings as they are by now.
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

    /// Writes the settings of a new fork, which excludes what is excluded here by now.
    pub(crate) fn write_branch(&self, mut fork: Settings, place: &Path) -> Result<(), CliError> {
        let _held = self.hold_settings()?;
        let now = Settings::read(&self.directory)?;
        fork.exclude = now.ok_or_else(|| CliError::no_store(&self.directory))?.exclude;
        fork.write(place)
    }
}
