//! Forks between a server and the commands: those that an agent made are kept as forks that the commands know
//! when the server ends, and those that the commands know have names there.

use std::path::{Path, PathBuf};

use wink_fs::{Error, ErrorKind, Operation, Pin, Snapshot, SnapshotId, Workspace};

use crate::disk;
use crate::failure::Failure;
use crate::home::Home;
use crate::settings::{Branch, Settings};
use crate::{refs, screen};

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

    /// Returns the snapshot that has the files of a fork which a person made, or that was kept.
    pub(crate) fn find(&self, name: &str) -> wink_fs::Result<Option<SnapshotId>> {
        let found = self.home().and_then(|home| refs::branch(&home, name));
        Ok(found.map_err(|failure| unknown(&failure))?.map(|snapshot| snapshot.id))
    }

    fn home(&self) -> Result<Home, Failure> {
        Home::read(&self.directory)?.ok_or_else(|| Failure::no_store(&self.directory))
    }

    /// Keeps a fork under its name, or the next one that is free, and returns that; `None` in a workspace that
    /// is a fork itself and has none of its own.
    pub(crate) fn remember(
        &self,
        files: &Workspace,
        name: &str,
        ends: &Ends<'_>,
    ) -> Result<Option<String>, Failure> {
        let home = self.home()?;
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

/// Says nothing of where they are: it is a model that asks.
fn unknown(failure: &Failure) -> Error {
    tracing::warn!("which forks there are is not known: {}", failure.message());
    Error::new(Operation::OpenStore, ErrorKind::Unavailable)
        .with_detail("the forks of this workspace cannot be read; ask whoever runs the server")
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
