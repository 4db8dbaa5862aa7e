//! How states are named: one grammar for every command.

use std::sync::Arc;

use wink_fs::archive::{ArchiveLimits, ArchiveTree};
use wink_fs::{
    ErrorKind, MemoryBackend, Snapshot, SnapshotId, StateName, StateRef, Tree, Workspace,
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
}

impl State {
    /// Returns the files of the state.
    pub(crate) fn tree(&self, files: &Workspace) -> Result<Arc<dyn Tree>, CliError> {
        match self {
            Self::Archive(tree) => Ok(tree.clone()),
            _ => Ok(files.tree_at(self.at("")?)?),
        }
    }

    /// Returns the id of the snapshot, where it is one.
    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Snapshot(snapshot) => Some(snapshot.id.to_string()),
            _ => None,
        }
    }

    /// Returns how the workspace calls the state that `text` names; an archive is none of its states.
    pub(crate) fn at(&self, text: &str) -> Result<StateRef, CliError> {
        match self {
            Self::Live => Ok(StateRef::Live),
            Self::Snapshot(snapshot) => Ok(StateRef::from(&**snapshot)),
            Self::Archive(_) => Err(CliError::archive_ref(text)),
        }
    }
}

/// Finds a state by its name.
pub(crate) fn find(opened: &Opened, text: &str) -> Result<State, CliError> {
    let files = &opened.files;
    let snapshot = match StateName::parse(text) {
        StateName::Live => return Ok(State::Live),
        StateName::Event => return Err(CliError::event_ref(text)),
        StateName::Ancestor(steps) => ancestor(files, text, steps)?,
        StateName::Operation(sequence) => after_operation(files, text, sequence)?,
        StateName::Ago(_) => before(files, text)?,
        _ => return by_name(opened, text),
    };
    Ok(State::Snapshot(Box::new(snapshot)))
}

/// Finds a snapshot by its name.
pub(crate) fn find_snapshot(opened: &Opened, text: &str) -> Result<Snapshot, CliError> {
    match find(opened, text)? {
        State::Snapshot(snapshot) => Ok(*snapshot),
        State::Live => Err(CliError::live_ref()),
        State::Archive(_) => Err(CliError::archive_ref(text)),
    }
}

/// Finds a snapshot by its tag, and by nothing else; `None` where no snapshot has it.
pub(crate) fn tagged(files: &Workspace, tag: &str) -> Result<Option<Snapshot>, CliError> {
    Ok(files.snapshots()?.into_iter().find(|it| it.tag.as_deref() == Some(tag)))
}

/// Refuses a tag that is the name of a fork: states are named by both.
pub(crate) fn check_tag(opened: &Opened, tag: &str) -> Result<(), CliError> {
    match opened.project.find_branch(tag)? {
        Some(fork) => Err(CliError::name_of_branch(tag, &fork)),
        None => Ok(()),
    }
}

/// Returns the snapshot that the files of now grew from; `None` where there is none at all.
pub(crate) fn last(files: &Workspace) -> Result<Option<Snapshot>, CliError> {
    Ok(files.line()?.into_iter().next())
}

fn ancestor(files: &Workspace, text: &str, steps: Option<usize>) -> Result<Snapshot, CliError> {
    let steps = steps.ok_or_else(|| CliError::unknown_ref(text))?;
    let line = files.line()?;
    line.get(steps - 1).cloned().ok_or_else(|| CliError::no_ancestor(text, line.len()))
}

fn after_operation(
    files: &Workspace,
    text: &str,
    sequence: Option<u64>,
) -> Result<Snapshot, CliError> {
    let known = files.operations()?;
    let sequence = sequence.filter(|number| known.iter().any(|it| it.sequence == *number));
    let sequence = sequence.ok_or_else(|| CliError::unknown_operation(text))?;
    files.snapshot_after(sequence)?.ok_or_else(|| CliError::unkept_operation(sequence))
}

/// Finds the newest snapshot that is as old as that.
fn before(files: &Workspace, text: &str) -> Result<Snapshot, CliError> {
    match files.find_snapshot(text) {
        Err(error) if error.kind() == ErrorKind::SnapshotNotFound => {
            Err(CliError::too_young(text, files.snapshots()?.first()))
        }
        found => Ok(found?),
    }
}

/// Finds what has a name: a tag, a branch, an id or the beginning of one, an archive.
fn by_name(opened: &Opened, text: &str) -> Result<State, CliError> {
    let mut all = opened.files.snapshots()?;
    let tagged = all.iter().find(|it| it.tag.as_deref() == Some(text)).cloned();
    let branch = branch(&opened.project, text)?;
    match (tagged, branch) {
        (Some(tagged), Some(branch)) if tagged.id != branch.id => {
            Err(CliError::tag_or_branch(text, &[tagged, branch]))
        }
        (Some(named), _) | (_, Some(named)) => Ok(State::Snapshot(Box::new(named))),
        (None, None) if is_too_short(&all, text) => Err(CliError::short_ref(text)),
        (None, None) => {
            all.retain(|snapshot| snapshot.id.matches_prefix(text));
            by_prefix(opened, all, text)
        }
    }
}

/// Tells whether an id begins with that, which is not enough of it to name a snapshot.
fn is_too_short(all: &[Snapshot], text: &str) -> bool {
    let start = text.to_ascii_lowercase();
    (1..SnapshotId::MIN_PREFIX).contains(&text.len())
        && all.iter().any(|it| it.id.short().starts_with(&start))
}

fn by_prefix(opened: &Opened, mut all: Vec<Snapshot>, text: &str) -> Result<State, CliError> {
    match all.len() {
        0 if text.ends_with(ARCHIVE) => archive(opened, text),
        0 => Err(CliError::unknown_ref(text)),
        1 => Ok(State::Snapshot(Box::new(all.swap_remove(0)))),
        _ => Err(CliError::ambiguous_ref(text, &all)),
    }
}

/// Returns the forks that are whole with the snapshots that they were at last.
pub(crate) fn branch_heads(opened: &Opened) -> Result<Vec<(String, SnapshotId)>, CliError> {
    let mut heads = Vec::new();
    for project in opened.project.branches()?.whole {
        let Some(branch) = &project.settings.branch else { continue };
        heads.extend(branch_head(&project)?.map(|snapshot| (branch.name.clone(), snapshot.id)));
    }
    Ok(heads)
}

/// Returns the snapshot that a fork was at last, if there is a fork of that name.
pub(crate) fn branch(project: &Project, name: &str) -> Result<Option<Snapshot>, CliError> {
    project.find_branch(name)?.map_or(Ok(None), |project| branch_head(&project))
}

fn branch_head(project: &Project) -> Result<Option<Snapshot>, CliError> {
    let Some(branch) = &project.settings.branch else { return Ok(None) };
    // Its directory may be gone; what it kept is not.
    let kept = Workspace::builder(MemoryBackend::new()).read_only(true);
    let kept = kept.store(project.open_store()?).build();
    let last = match &branch.kept {
        Some(last) => last.clone(),
        None => kept.current_snapshot_id()?.map_or(branch.base.clone(), |id| id.to_string()),
    };
    Ok(Some(kept.find_snapshot(&last)?))
}

fn archive(opened: &Opened, text: &str) -> Result<State, CliError> {
    let path = crate::cli::paths::without_dots(&opened.directory.join(text));
    let tree = ArchiveTree::open_ambient(&path, &ArchiveLimits::default());
    Ok(State::Archive(Arc::new(tree.map_err(|error| CliError::import(&path, error))?)))
}
