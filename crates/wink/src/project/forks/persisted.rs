//! Forks shared by servers and commands: forks that agents made are kept when their server ends, so that
//! commands find them, and a server finds the forks of commands by name.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use wink_agent::Forks;
use wink_fs::{Error, ErrorKind, MergeOptions, Merged, Operation, Pin, SnapshotId, Workspace};

use crate::cli::state_ref;
use crate::error::CliError;
use crate::project::settings::{ForkSettings, MergeBase, Settings};
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::output;

/// The history in which forks without a directory are kept.
#[derive(Clone, Debug)]
pub(crate) struct PersistedForks {
    /// The directory of the history.
    pub(crate) directory: PathBuf,
    /// Whether to print notes about them.
    pub(crate) is_talkative: bool,
}

/// A fork that is left when a server ends.
pub(crate) struct Left<'a> {
    pub(crate) fork: &'a Workspace,
    pub(crate) name: &'a str,
    /// Its first snapshot.
    pub(crate) base: SnapshotId,
    /// The snapshot with its files.
    pub(crate) kept: SnapshotId,
}

impl PersistedForks {
    /// Prints a note, unless they are turned off.
    pub(crate) fn tell(&self, note: &str) {
        tracing::info!("{note}");
        if self.is_talkative {
            output::say(note);
        }
    }

    /// Returns the last snapshot of a fork that the user made, or that was kept.
    pub(crate) fn find(&self, name: &str) -> wink_fs::Result<Option<SnapshotId>> {
        let found = self.project().and_then(|project| state_ref::fork(&project, name));
        Ok(found.map_err(|failure| unknown(&failure))?.map(|snapshot| snapshot.id))
    }

    /// Lets tool calls find them by name.
    pub(crate) fn known_to(self, forks: Forks) -> Forks {
        let (found, merged) = (self.clone(), self);
        forks
            .and_elsewhere(move |name| found.find(name))
            .and_merging(move |files, name, options| merged.merge(files, name, options))
    }

    /// Merges a kept fork, as `wink merge` does; `None` if there is none of this name, or the workspace is a fork
    /// itself.
    pub(crate) fn merge(
        &self,
        files: &Workspace,
        name: &str,
        options: &MergeOptions,
    ) -> wink_fs::Result<Option<Merged>> {
        let here = self.project().map_err(|failure| unknown(&failure))?;
        if here.settings.fork.is_some() {
            return Ok(None);
        }
        let Some(project) = here.find_fork(name).map_err(|failure| unknown(&failure))? else {
            return Ok(None);
        };
        let Some(fork) = &project.settings.fork else { return Ok(None) };
        let kept = fork.kept.clone().ok_or_else(|| in_a_directory(name))?;
        let base = project::merge_base(files, fork)?;
        let merged = files.merge_states(&*base, &*kept, options)?;
        if merged.is_to_be_remembered() {
            let saved = merged.saved.map(|id| id.to_string());
            let record = || -> Result<(), CliError> {
                let theirs = files.next_merge_base(&*base, kept.parse()?, &merged)?.to_string();
                project::record_merge(files, project, MergeBase { theirs, saved })
            };
            // The merge is done; if it cannot be recorded, the next merge finds the same changes on both sides.
            if let Err(error) = record() {
                tracing::warn!("a merge is not remembered: {}", error.message());
            }
        }
        Ok(Some(merged))
    }

    fn project(&self) -> Result<Project, CliError> {
        Project::read(&self.directory)?.ok_or_else(|| CliError::no_store(&self.directory))
    }

    /// Keeps a fork under its name, or the next free one; returns the name and the directory of its settings, or `None`
    /// if the workspace is a fork itself.
    pub(crate) fn remember(
        &self,
        files: &Workspace,
        left: &Left<'_>,
    ) -> wink_fs::Result<Option<(String, PathBuf)>> {
        self.try_remember(files, left).map_err(|failure| unsaved(&failure))
    }

    fn try_remember(
        &self,
        files: &Workspace,
        left: &Left<'_>,
    ) -> Result<Option<(String, PathBuf)>, CliError> {
        let project = self.project()?;
        if project.settings.fork.is_some() {
            return Ok(None);
        }
        // Other threads and processes may choose a name at the same time.
        let _held = project.hold_names()?;
        let name = free_name(&project, files, left.name)?;
        let place = project.new_fork_directory(&name)?;
        // Records of a process that died before it had made this fork.
        project.forget_unmade(&place);
        let fork = ForkSettings::new(&name, &left.base.to_string(), &project.directory)?;
        let written = pinned(files, left, &place, fork)
            .and_then(|fork| write(&project, &place, fork))
            .inspect_err(|_| project.forget_unmade(&place));
        written.map(|()| Some((name, place)))
    }

    /// Records a newer snapshot with the files of a fork; returns `false` if a command deleted the fork meanwhile.
    pub(crate) fn update(
        &self,
        files: &Workspace,
        place: &Path,
        kept: SnapshotId,
    ) -> wink_fs::Result<bool> {
        let failed = |failure: CliError| unsaved(&failure);
        let Some(mut project) = Project::read(place).map_err(failed)? else { return Ok(false) };
        let store = files.snapshot_store()?;
        let owner = project.pin_owner();
        // Before it is recorded: a snapshot that a fork needs is never without its pin.
        store.pin(&Pin::new(kept, owner.clone()))?;
        let changed = project.change(|settings| {
            let fork = settings.fork.as_mut();
            Ok(fork.and_then(|fork| fork.kept.replace(kept.to_string())))
        });
        if let Some(before) = changed.map_err(failed)?.and_then(|id| id.parse().ok()) {
            store.unpin(&before, &owner)?;
        }
        Ok(true)
    }

    /// Records the last state of a fork that was merged.
    pub(crate) fn record_merge(
        &self,
        files: &Workspace,
        place: &Path,
        fork: &Workspace,
        name: &str,
    ) -> wink_fs::Result<()> {
        let message = format!("fork {name}, as it was when it was merged last");
        let Some(merge) = files.keep_last_merge(fork, &message)? else { return Ok(()) };
        let failed = |failure: CliError| unsaved(&failure);
        let Some(project) = Project::read(place).map_err(failed)? else { return Ok(()) };
        let saved = merge.saved.map(|id| id.to_string());
        let point = MergeBase { theirs: merge.theirs.to_string(), saved };
        project::record_merge(files, project, point).map_err(failed)
    }

    /// Deletes the records of a fork without unmerged work, its settings last: if the process dies before, commands
    /// still find the fork.
    pub(crate) fn forget(&self, files: &Workspace, place: &Path) -> wink_fs::Result<()> {
        let failed = |failure: CliError| unsaved(&failure);
        let Some(fork) = Project::read(place).map_err(failed)? else { return Ok(()) };
        let store = files.snapshot_store()?;
        for id in fork.settings.fork.iter().flat_map(ForkSettings::needed) {
            if let Ok(id) = id.parse() {
                store.unpin(&id, &fork.pin_owner())?;
            }
        }
        let here = self.project().map_err(failed)?;
        here.open_store().map_err(failed)?.forget_fork(&fork.key())?;
        let _held = here.hold_settings().map_err(failed)?;
        let removed = disk::remove_all(place);
        removed.map_err(|error| unsaved(&CliError::host("cannot delete", place, error)))
    }
}

/// The message for the model names no directory.
fn unknown(failure: &CliError) -> Error {
    tracing::warn!("which forks there are is not known: {}", failure.message());
    Error::new(Operation::OpenStore, ErrorKind::Unavailable)
        .with_detail("cannot read the forks of this workspace; ask the person who runs the server")
}

/// The message for the model names no directory.
fn unsaved(failure: &CliError) -> Error {
    tracing::warn!("a fork is not recorded: {}", failure.message());
    Error::new(Operation::Snapshot, ErrorKind::Unavailable)
        .with_detail("cannot write the records of the fork; ask the person who runs the server")
}

/// Fails for a fork in a directory, which the server cannot reach.
fn in_a_directory(name: &str) -> Error {
    Error::new(Operation::Merge, ErrorKind::Unsupported).with_detail(format!(
        "the user made the fork `{name}` in its own directory: ask for `wink merge {name}`, or compare its last \
         snapshot with diff and `to`"
    ))
}

/// Returns the name, with a number if a fork or a tag has it.
fn free_name(project: &Project, files: &Workspace, name: &str) -> Result<String, CliError> {
    let forks = project.forks()?;
    let names = forks.whole.into_iter().filter_map(|it| it.settings.fork).map(|it| it.name);
    let damaged = forks.damaged.into_iter().map(|it| it.key);
    let tags = files.snapshots()?.into_iter().filter_map(|it| it.tag);
    let taken: HashSet<_> = names.chain(damaged).chain(tags).collect();
    let (mut free, mut number) = (name.to_owned(), 1);
    while taken.contains(&free) {
        number += 1;
        free = format!("{name}-{number}");
    }
    Ok(free)
}

/// Pins the snapshots that a merge of the fork needs, and records them.
fn pinned(
    files: &Workspace,
    left: &Left<'_>,
    place: &Path,
    fork: ForkSettings,
) -> Result<ForkSettings, CliError> {
    let owner = project::pin_owner(&project::fork_key(place));
    let pin = |id| files.snapshot_store()?.pin(&Pin::new(id, owner.clone()));
    [left.base, left.kept].into_iter().try_for_each(pin)?;
    let mut fork = fork.kept_as(left.kept.to_string());
    let message = format!("fork {}, as it was when it was merged last", left.name);
    if let Some(merge) = files.keep_last_merge(left.fork, &message)? {
        pin(merge.theirs)?;
        let saved = merge.saved.map(|id| id.to_string());
        fork.merged(MergeBase { theirs: merge.theirs.to_string(), saved });
    }
    Ok(fork)
}

/// Writes the settings of a fork, by which it is found; its root is the settings directory, because it has
/// no other.
fn write(project: &Project, place: &Path, fork: ForkSettings) -> Result<(), CliError> {
    let settings = Settings::of_fork(place, project.settings.exclude.clone(), fork)?;
    disk::make_private(place).map_err(|error| CliError::host("cannot write", place, error))?;
    project.write_fork(settings, place)
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use tempfile::TempDir;
    use wink_fs::{MemoryBackend, SnapshotStore as _, Store};

    use super::*;

    /// Returns a workspace whose history is in a new directory.
    fn workspace() -> (TempDir, Workspace, PersistedForks) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::create_ambient(project::store_in(directory.path())).expect("a store");
        let settings = Settings::new(Path::new("/project"), Vec::new()).expect("settings");
        settings.write(directory.path()).expect("written");
        let kept = PersistedForks { directory: directory.path().to_owned(), is_talkative: false };
        (directory, Workspace::builder(MemoryBackend::new()).store(store).build(), kept)
    }

    /// Once, a fork was found before its snapshots were pinned.
    #[test]
    fn a_fork_whose_snapshots_cannot_be_pinned_is_not_found() {
        let (_directory, files, kept) = workspace();
        let end = files.snapshot("end").expect("a snapshot");
        let fork = files.fork(&end).expect("a fork");
        let unknown = Workspace::memory().snapshot("elsewhere").expect("a snapshot").id;
        let left = Left { fork: &fork, name: "idea", base: end.id, kept: unknown };
        assert!(kept.remember(&files, &left).is_err());
        let project = kept.project().expect("a project");
        assert!(project.forks().expect("forks").whole.is_empty());
        let pins = project.open_store().and_then(|it| Ok(it.pins()?)).expect("pins");
        assert!(pins.iter().all(|it| it.owner != "fork idea"), "{pins:?}");
    }

    /// Once, a name of both a fork and a tag was ambiguous everywhere.
    #[test]
    fn a_kept_fork_has_no_name_that_a_tag_has() {
        let (_directory, files, kept) = workspace();
        let end = files.snapshot("idea").expect("a snapshot");
        let fork = files.fork(&end).expect("a fork");
        let left = Left { fork: &fork, name: "idea", base: end.id, kept: end.id };
        let name = kept.remember(&files, &left).expect("kept").map(|(name, _)| name);
        assert_eq!(name.as_deref(), Some("idea-2"));
    }

    /// Once, two servers that ended at the same time could choose the same name.
    #[test]
    fn a_name_is_chosen_when_none_is_given() {
        let (_directory, files, kept) = workspace();
        let end = files.snapshot("end").expect("a snapshot");
        let fork = files.fork(&end).expect("a fork");
        let project = kept.project().expect("a project");
        let held = project.hold_names().expect("held, as by another process");
        let left = Left { fork: &fork, name: "idea", base: end.id, kept: end.id };
        let name = thread::scope(|scope| {
            let second = scope.spawn(|| kept.remember(&files, &left).expect("kept"));
            thread::sleep(Duration::from_millis(200));
            assert!(!second.is_finished(), "it waits");
            let place = project.new_fork_directory("first").expect("a place");
            let fork = ForkSettings::new("idea", &end.id.to_string(), &project.directory);
            write(&project, &place, fork.expect("a fork")).expect("written");
            drop(held);
            second.join().expect("ends")
        });
        let name = name.map(|(name, _)| name);
        assert_eq!(name.as_deref(), Some("idea-2"), "the other one has its name under another key");
    }

    /// Once, of several threads that chose a name at the same time only one succeeded.
    #[test]
    fn forks_that_are_kept_at_the_same_time_have_names_of_their_own() {
        let (_directory, files, kept) = workspace();
        let end = files.snapshot("end").expect("a snapshot");
        let fork = files.fork(&end).expect("a fork");
        thread::scope(|scope| {
            for name in ["idea", "idea-2"].repeat(8) {
                let left = Left { fork: &fork, name, base: end.id, kept: end.id };
                let (kept, files) = (&kept, &files);
                scope.spawn(move || kept.remember(files, &left).expect("kept"));
            }
        });
        assert_eq!(kept.project().and_then(|it| it.forks()).expect("forks").whole.len(), 16);
    }
}
