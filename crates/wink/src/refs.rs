//! How states are named: one grammar for every command.

use wink_fs::{At, Snapshot, SnapshotId, Workspace};

use crate::failure::Failure;

/// The files as they are now.
const LIVE: &str = "@";

/// A state that was named.
#[derive(Debug)]
pub(crate) enum State {
    Live,
    Snapshot(Box<Snapshot>),
}

impl From<&State> for At {
    fn from(state: &State) -> Self {
        match state {
            State::Live => At::Live,
            State::Snapshot(snapshot) => At::from(&**snapshot),
        }
    }
}

/// Finds a state by its name.
pub(crate) fn find(files: &Workspace, text: &str) -> Result<State, Failure> {
    if text == LIVE {
        return Ok(State::Live);
    }
    find_snapshot(files, text).map(Box::new).map(State::Snapshot)
}

/// Finds a snapshot by its name.
pub(crate) fn find_snapshot(files: &Workspace, text: &str) -> Result<Snapshot, Failure> {
    if text == LIVE {
        return Err(Failure::live_ref());
    }
    let all = files.snapshots()?;
    match text.strip_prefix("@-") {
        Some(steps) => ancestor(files, all, text, steps),
        None => by_name(all, text),
    }
}

/// Returns the snapshot that the files of now grew from; `None` where there is none at all.
pub(crate) fn last(files: &Workspace) -> Result<Option<Snapshot>, Failure> {
    let all = files.snapshots()?;
    Ok(last_of(files.current_snapshot_id()?, &all).cloned())
}

/// Falls back to the newest one, because the one that was restored last may be gone.
fn last_of(current: Option<SnapshotId>, all: &[Snapshot]) -> Option<&Snapshot> {
    by_id(all, current).or_else(|| all.last())
}

fn by_id(all: &[Snapshot], id: Option<SnapshotId>) -> Option<&Snapshot> {
    all.iter().find(|snapshot| Some(snapshot.id) == id)
}

fn ancestor(
    files: &Workspace,
    all: Vec<Snapshot>,
    text: &str,
    steps: &str,
) -> Result<Snapshot, Failure> {
    let steps: usize = match steps {
        "" => 1,
        digits => match digits.parse() {
            Ok(steps) if steps > 0 && !digits.starts_with('+') => steps,
            _ => return Err(Failure::unknown_ref(text)),
        },
    };
    let first = last_of(files.current_snapshot_id()?, &all);
    let mut line = std::iter::successors(first, |snapshot| by_id(&all, snapshot.parent));
    let found = line.by_ref().take(all.len()).nth(steps - 1).cloned();
    found.ok_or_else(|| {
        let line = std::iter::successors(first, |snapshot| by_id(&all, snapshot.parent));
        Failure::no_ancestor(text, line.take(all.len()).count())
    })
}

fn by_name(mut all: Vec<Snapshot>, text: &str) -> Result<Snapshot, Failure> {
    if let Some(at) = all.iter().position(|it| it.tag.as_deref() == Some(text)) {
        return Ok(all.swap_remove(at));
    }
    all.retain(|snapshot| snapshot.id.matches_prefix(text));
    match all.len() {
        0 => Err(Failure::unknown_ref(text)),
        1 => Ok(all.swap_remove(0)),
        _ => Err(Failure::ambiguous_ref(text, &all)),
    }
}
