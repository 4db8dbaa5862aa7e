//! Forks that an agent made in a server, kept as forks that the commands know when the server ends.

use std::path::{Path, PathBuf};

use wink_fs::{Pin, Snapshot, SnapshotId, Workspace};

use crate::disk;
use crate::failure::Failure;
use crate::home::Home;
use crate::screen;
use crate::settings::{Branch, Settings};

/// Where forks are kept whose files are in no directory.
#[derive(Clone, Debug)]
pub(crate) struct KeptForks {
    /// The directory of the history.
    pub(crate) directory: PathBuf,
    /// Whether a person wants to be told of them.
    pub(crate) is_talkative: bool,
}

/// The snapshots of a fork.
pub(crate) struct Ends<'a> {
    pub(crate) base: SnapshotId,
    pub(crate) kept: &'a Snapshot,
}

impl KeptForks {
    /// Tells a person, who may not want to be told.
    pub(crate) fn tell(&self, note: &str) {
        tracing::info!("{note}");
        if self.is_talkative {
            screen::say(note);
        }
    }

    /// Keeps a fork under its name, or the next one that is free, and returns that; `None` in a workspace that
    /// is a fork itself and has none of its own.
    pub(crate) fn remember(
        &self,
        files: &Workspace,
        name: &str,
        ends: &Ends<'_>,
    ) -> Result<Option<String>, Failure> {
        let home = Home::read(&self.directory)?;
        let home = home.ok_or_else(|| Failure::no_store(&self.directory))?;
        if home.settings.branch.is_some() {
            return Ok(None);
        }
        let name = free_name(&home, name)?;
        let place = home.new_branch(&name)?;
        write(&home, &place, &name, ends)?;
        let fork = Home::read(&place)?.ok_or_else(|| Failure::no_branch(&name))?;
        for id in [ends.base, ends.kept.id] {
            files.snapshot_store()?.pin(&Pin::new(id, fork.pin_owner()))?;
        }
        Ok(Some(name))
    }
}

/// Returns the name, with a number where a fork has it already.
fn free_name(home: &Home, name: &str) -> Result<String, Failure> {
    let (mut free, mut number) = (name.to_owned(), 1);
    while Home::named(home.branches()?, &free).is_some() {
        number += 1;
        free = format!("{name}-{number}");
    }
    Ok(free)
}

/// Writes the settings of a fork; it stands in the place of the directory that it does not have.
fn write(home: &Home, place: &Path, name: &str, ends: &Ends<'_>) -> Result<(), Failure> {
    let (base, kept) = (ends.base.to_string(), ends.kept.id.to_string());
    let branch = Branch::new(name, &base, &home.directory)?.kept_as(kept);
    let settings = Settings::of_branch(place, home.settings.exclude.clone(), branch)?;
    disk::make_private(place).map_err(|error| Failure::host("cannot write", place, error))?;
    settings.write(place)
}
