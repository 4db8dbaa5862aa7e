//! How states are named: one grammar for every command.

use std::sync::Arc;

use wink_fs::archive::{ArchiveLimits, ArchiveTree};
use wink_fs::{At, ErrorKind, MemoryBackend, Snapshot, SnapshotId, StateName, Tree, Workspace};

use crate::cli::context::Opened;
use crate::error::Failure;
use crate::project::Home;

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
    pub(crate) fn tree(&self, files: &Workspace) -> Result<Arc<dyn Tree>, Failure> {
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
    pub(crate) fn at(&self, text: &str) -> Result<At, Failure> {
        match self {
            Self::Live => Ok(At::Live),
            Self::Snapshot(snapshot) => Ok(At::from(&**snapshot)),
            Self::Archive(_) => Err(Failure::archive_ref(text)),
        }
    }
}

/// Finds a state by its name.
pub(crate) fn find(opened: &Opened, text: &str) -> Result<State, Failure> {
    let files = &opened.files;
    let snapshot = match StateName::parse(text) {
        StateName::Live => return Ok(State::Live),
        StateName::Event => return Err(Failure::event_ref(text)),
        StateName::Ancestor(steps) => ancestor(files, text, steps)?,
        StateName::Operation(sequence) => after_operation(files, text, sequence)?,
        StateName::Ago(_) => before(files, text)?,
        _ => return by_name(opened, text),
    };
    Ok(State::Snapshot(Box::new(snapshot)))
}

/// Finds a snapshot by its name.
pub(crate) fn find_snapshot(opened: &Opened, text: &str) -> Result<Snapshot, Failure> {
    match find(opened, text)? {
        State::Snapshot(snapshot) => Ok(*snapshot),
        State::Live => Err(Failure::live_ref()),
        State::Archive(_) => Err(Failure::archive_ref(text)),
    }
}

/// Finds a snapshot by its tag, and by nothing else; `None` where no snapshot has it.
pub(crate) fn tagged(files: &Workspace, tag: &str) -> Result<Option<Snapshot>, Failure> {
    Ok(files.snapshots()?.into_iter().find(|it| it.tag.as_deref() == Some(tag)))
}

/// Refuses a tag that is the name of a fork: states are named by both.
pub(crate) fn check_tag(opened: &Opened, tag: &str) -> Result<(), Failure> {
    match opened.home.find_branch(tag)? {
        Some(fork) => Err(Failure::name_of_branch(tag, &fork)),
        None => Ok(()),
    }
}

/// Returns the snapshot that the files of now grew from; `None` where there is none at all.
pub(crate) fn last(files: &Workspace) -> Result<Option<Snapshot>, Failure> {
    Ok(files.line()?.into_iter().next())
}

fn ancestor(files: &Workspace, text: &str, steps: Option<usize>) -> Result<Snapshot, Failure> {
    let steps = steps.ok_or_else(|| Failure::unknown_ref(text))?;
    let line = files.line()?;
    line.get(steps - 1).cloned().ok_or_else(|| Failure::no_ancestor(text, line.len()))
}

fn after_operation(
    files: &Workspace,
    text: &str,
    sequence: Option<u64>,
) -> Result<Snapshot, Failure> {
    let known = files.operations()?;
    let sequence = sequence.filter(|number| known.iter().any(|it| it.sequence == *number));
    let sequence = sequence.ok_or_else(|| Failure::unknown_operation(text))?;
    files.snapshot_after(sequence)?.ok_or_else(|| Failure::unkept_operation(sequence))
}

/// Finds the newest snapshot that is as old as that.
fn before(files: &Workspace, text: &str) -> Result<Snapshot, Failure> {
    match files.find_snapshot(text) {
        Err(error) if error.kind() == ErrorKind::SnapshotNotFound => {
            Err(Failure::too_young(text, files.snapshots()?.first()))
        }
        found => Ok(found?),
    }
}

/// Finds what has a name: a tag, a branch, an id or the beginning of one, an archive.
fn by_name(opened: &Opened, text: &str) -> Result<State, Failure> {
    let mut all = opened.files.snapshots()?;
    let tagged = all.iter().find(|it| it.tag.as_deref() == Some(text)).cloned();
    let branch = branch(&opened.home, text)?;
    match (tagged, branch) {
        (Some(tagged), Some(branch)) if tagged.id != branch.id => {
            Err(Failure::tag_or_branch(text, &[tagged, branch]))
        }
        (Some(named), _) | (_, Some(named)) => Ok(State::Snapshot(Box::new(named))),
        (None, None) if is_too_short(&all, text) => Err(Failure::short_ref(text)),
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

fn by_prefix(opened: &Opened, mut all: Vec<Snapshot>, text: &str) -> Result<State, Failure> {
    match all.len() {
        0 if text.ends_with(ARCHIVE) => archive(opened, text),
        0 => Err(Failure::unknown_ref(text)),
        1 => Ok(State::Snapshot(Box::new(all.swap_remove(0)))),
        _ => Err(Failure::ambiguous_ref(text, &all)),
    }
}

/// Returns the forks that are whole with the snapshots that they were at last.
pub(crate) fn branch_heads(opened: &Opened) -> Result<Vec<(String, SnapshotId)>, Failure> {
    let mut heads = Vec::new();
    for home in opened.home.branches()?.whole {
        let Some(branch) = &home.settings.branch else { continue };
        heads.extend(branch_head(&home)?.map(|snapshot| (branch.name.clone(), snapshot.id)));
    }
    Ok(heads)
}

/// Returns the snapshot that a fork was at last, if there is a fork of that name.
pub(crate) fn branch(home: &Home, name: &str) -> Result<Option<Snapshot>, Failure> {
    home.find_branch(name)?.map_or(Ok(None), |home| branch_head(&home))
}

fn branch_head(home: &Home) -> Result<Option<Snapshot>, Failure> {
    let Some(branch) = &home.settings.branch else { return Ok(None) };
    // Its directory may be gone; what it kept is not.
    let kept = Workspace::builder(MemoryBackend::new()).read_only(true);
    let kept = kept.store(home.open_store()?).build();
    let last = match &branch.kept {
        Some(last) => last.clone(),
        None => kept.current_snapshot_id()?.map_or(branch.base.clone(), |id| id.to_string()),
    };
    Ok(Some(kept.find_snapshot(&last)?))
}

fn archive(opened: &Opened, text: &str) -> Result<State, Failure> {
    let path = crate::cli::paths::without_dots(&opened.directory.join(text));
    let tree = ArchiveTree::open_ambient(&path, &ArchiveLimits::default());
    Ok(State::Archive(Arc::new(tree.map_err(|error| Failure::import(&path, error))?)))
}
