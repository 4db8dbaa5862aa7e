//! How states are named: one grammar for every command.

use std::sync::Arc;

use wink_fs::archive::{ArchiveLimits, ArchiveTree};
use wink_fs::{
    MemoryBackend, ResolveError, Snapshot, SnapshotId, StateName, StateRef, Tree, Unresolved,
    Workspace,
};

use crate::cli::context::Opened;
use crate::error::CliError;
use crate::project::Project;

/// What an archive's name ends with.
const ARCHIVE: &str = ".fs.zip";

/// A state that was named.
#[derive(Debug)]
pub(crate) enum State {
    Live,
    Snapshot(Box<Snapshot>),
    Archive(Arc<ArchiveTree>),
    /// Before or after an operation of which no snapshot was taken.
    OfOperation(StateRef),
}

impl State {
    /// Returns the files of the state.
    pub(crate) fn tree(&self, files: &Workspace) -> Result<Arc<dyn Tree>, CliError> {
        match self {
            Self::Archive(tree) => Ok(tree.clone()),
            _ => Ok(files.tree_at(self.at("")?)?),
        }
    }

    /// Returns the id of the snapshot, where it is one, or the name of an operation's state.
    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Snapshot(snapshot) => Some(snapshot.id.to_string()),
            Self::OfOperation(state) => Some(state.to_string()),
            _ => None,
        }
    }

    /// Returns how the workspace calls the state that `text` names; an archive is none of its states.
    pub(crate) fn at(&self, text: &str) -> Result<StateRef, CliError> {
        match self {
            Self::Live => Ok(StateRef::Live),
            Self::Snapshot(snapshot) => Ok(StateRef::from(&**snapshot)),
            Self::Archive(_) => Err(CliError::archive_ref(text)),
            Self::OfOperation(state) => Ok(state.clone()),
        }
    }
}

/// Finds a state by its name: the library resolves it, and only the command line knows forks and archives.
pub(crate) fn find(opened: &Opened, text: &str) -> Result<State, CliError> {
    let fork = StateName::given(text).map_or(Ok(None), |name| fork(&opened.project, name))?;
    match opened.files.resolve_with_fork(text, fork.map(|it| it.id)) {
        Ok(None) => Ok(State::Live),
        Ok(Some(snapshot)) => Ok(State::Snapshot(Box::new(snapshot))),
        Err(ResolveError { why: Unresolved::Unknown, .. }) if text.ends_with(ARCHIVE) => {
            archive(opened, text)
        }
        Err(error) => error.state().map(State::OfOperation).ok_or_else(|| error.into()),
    }
}

/// Returns both ends of a range such as `A..B`; `A..` ends with the current files.
pub(crate) fn range(text: &str) -> Option<(&str, &str)> {
    // An archive may be named by a path with `..` in it.
    let is_range = |(from, to): &(&str, &str)| !from.is_empty() && !to.starts_with('/');
    let (from, to) = text.split_once("..").filter(is_range)?;
    Some((from, if to.is_empty() { "@" } else { to }))
}

/// Finds a snapshot by its name.
pub(crate) fn find_snapshot(opened: &Opened, text: &str) -> Result<Snapshot, CliError> {
    match find(opened, text)? {
        State::Snapshot(snapshot) => Ok(*snapshot),
        State::Live => Err(CliError::live_ref()),
        State::Archive(_) => Err(CliError::archive_ref(text)),
        State::OfOperation(state) => Err(CliError::unkept_state(&state)),
    }
}

/// Finds a snapshot by its tag, and by nothing else; `None` where no snapshot has it.
pub(crate) fn tagged(files: &Workspace, tag: &str) -> Result<Option<Snapshot>, CliError> {
    Ok(files.snapshots()?.into_iter().find(|it| it.tag.as_deref() == Some(tag)))
}

/// Refuses a tag that is the name of a fork: states are named by both.
pub(crate) fn check_tag(opened: &Opened, tag: &str) -> Result<(), CliError> {
    match opened.project.find_fork(tag)? {
        Some(fork) => Err(CliError::name_of_fork(tag, &fork)),
        None => Ok(()),
    }
}

/// Returns the snapshot that the files of now grew from; `None` where there is none at all.
pub(crate) fn last(files: &Workspace) -> Result<Option<Snapshot>, CliError> {
    Ok(files.ancestry()?.into_iter().next())
}

/// Returns the forks that are whole with the snapshots that they were at last.
pub(crate) fn fork_heads(opened: &Opened) -> Result<Vec<(String, SnapshotId)>, CliError> {
    let mut heads = Vec::new();
    for project in opened.project.forks()?.whole {
        let Some(fork) = &project.settings.fork else { continue };
        heads.extend(fork_head(&project)?.map(|snapshot| (fork.name.clone(), snapshot.id)));
    }
    Ok(heads)
}

/// Returns the snapshot that a fork was at last, if there is a fork of that name.
pub(crate) fn fork(project: &Project, name: &str) -> Result<Option<Snapshot>, CliError> {
    project.find_fork(name)?.map_or(Ok(None), |project| fork_head(&project))
}

fn fork_head(project: &Project) -> Result<Option<Snapshot>, CliError> {
    let Some(fork) = &project.settings.fork else { return Ok(None) };
    // Its directory may be gone; what it kept is not.
    let kept = Workspace::builder(MemoryBackend::new()).read_only(true);
    let kept = kept.store(project.open_store()?).build();
    let last = match &fork.kept {
        Some(last) => StateRef::from(last.as_str()),
        None => kept.current_snapshot_id()?.map_or(fork.base.as_str().into(), StateRef::Snapshot),
    };
    Ok(Some(kept.find_snapshot(last)?))
}

fn archive(opened: &Opened, text: &str) -> Result<State, CliError> {
    let path = crate::cli::paths::without_dots(&opened.directory.join(text));
    let tree = ArchiveTree::open_ambient(&path, &ArchiveLimits::default());
    Ok(State::Archive(Arc::new(tree.map_err(|error| CliError::import(&path, error))?)))
}
