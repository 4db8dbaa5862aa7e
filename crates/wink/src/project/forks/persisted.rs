//! Forks between a server and the commands: those that an agent made are kept as forks that the commands know
//! when the server ends, and those that the commands know have names there.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use wink_agent::Forks;
use wink_fs::{Error, ErrorKind, MergeOptions, Merged, Operation, Pin, SnapshotId, Workspace};

use crate::cli::state_ref;
use crate::error::CliError;
use crate::project::forks::merge_base;
use crate::project::settings::{Branch, MergeBase, Settings};
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::output;

/// Where forks are kept whose files are in no directory.
#[derive(Clone, Debug)]
pub(crate) struct PersistedForks {
    /// The directory of the history.
    pub(crate) directory: PathBuf,
    /// Whether a person wants to be told of them.
    pub(crate) is_talkative: bool,
}

/// A fork that a server leaves.
pub(crate) struct Left<'a> {
    pub(crate) fork: &'a Workspace,
    pub(crate) name: &'a str,
    /// The snapshot that it began with.
    pub(crate) base: SnapshotId,
    /// The snapshot that it is kept as.
    pub(crate) kept: SnapshotId,
}

impl PersistedForks {
    /// Tells a person, who may not want to be told.
    pub(crate) fn tell(&self, note: &str) {
        tracing::info!("{note}");
        if self.is_talkative {
            output::say(note);
        }
    }

    /// Returns the snapshot that has the files of a fork which a person made, or that was kept.
    pub(crate) fn find(&self, name: &str) -> wink_fs::Result<Option<SnapshotId>> {
        let found = self.project().and_then(|project| state_ref::branch(&project, name));
        Ok(found.map_err(|failure| unknown(&failure))?.map(|snapshot| snapshot.id))
    }

    /// Makes them known to calls.
    pub(crate) fn known_to(self, forks: Forks) -> Forks {
        let (found, merged) = (self.clone(), self);
        forks
            .and_elsewhere(move |name| found.find(name))
            .and_merging(move |files, name, options| merged.merge(files, name, options))
    }

    /// Brings in a fork that was kept, as `wink merge` does; `None` where none has that name, or in a workspace
    /// that is a fork itself and has none of its own.
    pub(crate) fn merge(
        &self,
        files: &Workspace,
        name: &str,
        options: &MergeOptions,
    ) -> wink_fs::Result<Option<Merged>> {
        let here = self.project().map_err(|failure| unknown(&failure))?;
        if here.settings.branch.is_some() {
            return Ok(None);
        }
        let Some(project) = here.find_branch(name).map_err(|failure| unknown(&failure))? else {
            return Ok(None);
        };
        let Some(branch) = &project.settings.branch else { return Ok(None) };
        let kept = branch.kept.clone().ok_or_else(|| in_a_directory(name))?;
        let merged = files.merge_states(&*merge_base::base(files, branch)?, &*kept, options)?;
        if merged.is_to_be_remembered() {
            let saved = merged.saved.map(|id| id.to_string());
            remember_merge(files, project, MergeBase { theirs: kept, saved });
        }
        Ok(Some(merged))
    }

    fn project(&self) -> Result<Project, CliError> {
        Project::read(&self.directory)?.ok_or_else(|| CliError::no_store(&self.directory))
    }

    /// Keeps a fork under its name, or the next one that is free, and returns that; `None` in a workspace that
    /// is a fork itself and has none of its own.
    pub(crate) fn remember(
        &self,
        files: &Workspace,
        left: &Left<'_>,
    ) -> Result<Option<String>, CliError> {
        let project = self.project()?;
        if project.settings.branch.is_some() {
            return Ok(None);
        }
        // Others, of this server and of others, look for a name too.
        let _held = project.hold_names()?;
        let name = free_name(&project, files, left.name)?;
        let place = project.new_branch(&name)?;
        // What a process kept for this one that died before it was made.
        project.forget_unmade(&place);
        let branch = Branch::new(&name, &left.base.to_string(), &project.directory)?;
        let written = pinned(files, left, &place, branch)
            .and_then(|branch| write(&project, &place, branch))
            .inspect_err(|_| project.forget_unmade(&place));
        written.map(|()| Some(name))
    }
}

/// Says nothing of where they are: it is a model that asks.
fn unknown(failure: &CliError) -> Error {
    tracing::warn!("which forks there are is not known: {}", failure.message());
    Error::new(Operation::OpenStore, ErrorKind::Unavailable).with_detail(
        "the forks of this workspace cannot be read; ask the person who runs the server",
    )
}

/// Refuses a fork whose files are those of a directory, to which no door leads from here.
fn in_a_directory(name: &str) -> Error {
    Error::new(Operation::Merge, ErrorKind::Unsupported).with_detail(format!(
        "a person made the fork `{name}`, in a directory of its own: ask for `wink merge {name}`, or look at its \
         last snapshot with diff and `to`"
    ))
}

/// What was brought in is here already: where that is not remembered, the next merge finds it the same on both
/// sides.
fn remember_merge(files: &Workspace, project: Project, point: MergeBase) {
    if let Err(failure) = merge_base::remember(files, project, point) {
        tracing::warn!("a merge is not remembered: {}", failure.message());
    }
}

/// Returns the name, with a number where a fork or a snapshot has it already.
fn free_name(project: &Project, files: &Workspace, name: &str) -> Result<String, CliError> {
    let branches = project.branches()?;
    let names = branches.whole.into_iter().filter_map(|it| it.settings.branch).map(|it| it.name);
    let damaged = branches.damaged.into_iter().map(|it| it.key);
    let tags = files.snapshots()?.into_iter().filter_map(|it| it.tag);
    let taken: HashSet<_> = names.chain(damaged).chain(tags).collect();
    let (mut free, mut number) = (name.to_owned(), 1);
    while taken.contains(&free) {
        number += 1;
        free = format!("{name}-{number}");
    }
    Ok(free)
}

/// Keeps from being pruned what a merge of a fork needs, and says what that is.
fn pinned(
    files: &Workspace,
    left: &Left<'_>,
    place: &Path,
    branch: Branch,
) -> Result<Branch, CliError> {
    let owner = project::pin_owner(&project::branch_key(place));
    let pin = |id| files.snapshot_store()?.pin(&Pin::new(id, owner.clone()));
    [left.base, left.kept].into_iter().try_for_each(pin)?;
    let mut branch = branch.kept_as(left.kept.to_string());
    let message = format!("fork {}, as it was when it was merged last", left.name);
    if let Some(merge) = files.keep_last_merge(left.fork, &message)? {
        pin(merge.theirs)?;
        let saved = merge.saved.map(|id| id.to_string());
        branch.merged(MergeBase { theirs: merge.theirs.to_string(), saved });
    }
    Ok(branch)
}

/// Writes the settings of a fork, by which it is found; it stands in the place of the directory that it does
/// not have.
fn write(project: &Project, place: &Path, branch: Branch) -> Result<(), CliError> {
    let settings = Settings::of_branch(place, project.settings.exclude.clone(), branch)?;
    disk::make_private(place).map_err(|error| CliError::host("cannot write", place, error))?;
    project.write_branch(settings, place)
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

    /// Once, it was found before what it needs was safe.
    #[test]
    fn a_fork_whose_snapshots_cannot_be_pinned_is_not_found() {
        let (_directory, files, kept) = workspace();
        let end = files.snapshot("end").expect("a snapshot");
        let fork = files.fork(&end).expect("a fork");
        let unknown = Workspace::memory().snapshot("elsewhere").expect("a snapshot").id;
        let left = Left { fork: &fork, name: "idea", base: end.id, kept: unknown };
        assert!(kept.remember(&files, &left).is_err());
        let project = kept.project().expect("a project");
        assert!(project.branches().expect("forks").whole.is_empty());
        let pins = project.open_store().and_then(|it| Ok(it.pins()?)).expect("pins");
        assert!(pins.iter().all(|it| it.owner != "fork idea"), "{pins:?}");
    }

    /// Once, what named both was refused wherever a state is named.
    #[test]
    fn a_kept_fork_has_no_name_that_a_tag_has() {
        let (_directory, files, kept) = workspace();
        let end = files.snapshot("idea").expect("a snapshot");
        let fork = files.fork(&end).expect("a fork");
        let left = Left { fork: &fork, name: "idea", base: end.id, kept: end.id };
        assert_eq!(kept.remember(&files, &left).ok().flatten().as_deref(), Some("idea-2"));
    }

    /// Once, two servers that ended at the same time could both find it free.
    #[test]
    fn a_name_is_looked_for_when_nobody_else_gives_one() {
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
            let place = project.new_branch("first").expect("a place");
            let branch = Branch::new("idea", &end.id.to_string(), &project.directory);
            write(&project, &place, branch.expect("a branch")).expect("written");
            drop(held);
            second.join().expect("ends")
        });
        assert_eq!(name.as_deref(), Some("idea-2"), "the other one has its name under another key");
    }

    /// Once, those that looked for a name at the same time found the same one, and only one of them got it.
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
        assert_eq!(kept.project().and_then(|it| it.branches()).expect("forks").whole.len(), 16);
    }
}
