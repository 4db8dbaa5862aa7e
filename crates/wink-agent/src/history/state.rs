//! States by the names that a model gives them: the grammar of every door.

use std::sync::Arc;

use wink_fs::{ErrorKind, Snapshot, SnapshotId, StateName, StateRef, Tree, Workspace};

use crate::history::changes;
use crate::history::forks::Reserved;
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::unknown_name::shown;

/// A state that was named.
pub(crate) enum State {
    /// The files as they are now, or a snapshot.
    At(StateRef),
    /// The files of a fork as they are now, and its name.
    Fork(Workspace, String),
}

/// Finds a state by its name; what is no fork's is a snapshot's, which is looked for when it is needed.
pub(crate) fn find(call: &ToolCall<'_>, text: &str) -> Result<State, ToolError> {
    let (files, name) = (call.everything()?, text.trim());
    let fork = match StateName::parse(name) {
        StateName::Live => return Ok(State::At(StateRef::Live)),
        StateName::Given(name) => fork(call, name)?,
        _ => None,
    };
    let Some(fork) = fork else { return Ok(State::At(StateRef::from(name))) };
    if tagged(files, name)?.is_some_and(|it| !fork.is(it.id)) {
        Err(tag_or_fork(name))
    } else {
        Ok(fork)
    }
}

fn tagged(files: &Workspace, name: &str) -> Result<Option<Snapshot>, ToolError> {
    let mut all = files.snapshots().map_err(changes::refusal)?.into_iter();
    Ok(all.find(|it| it.tag.as_deref() == Some(name)))
}

/// Refuses a name for a new fork that names a state already: a snapshot's tag, or a fork that was made elsewhere.
pub(crate) fn check_fork_name(call: &ToolCall<'_>, name: &str) -> Result<(), ToolError> {
    if let Some(snapshot) = tagged(call.everything()?, name)? {
        let short = snapshot.id.short();
        return Err(taken(format!(
            "`{name}` is the tag of snapshot {short}; choose another name."
        )));
    }
    match call.context().forks.elsewhere(name).map_err(changes::refusal)? {
        None => Ok(()),
        Some(_) => Err(taken(format!(
            "There is a fork `{name}` already, which a person made or an earlier server kept; bring it in with merge, \
             or choose another name."
        ))),
    }
}

/// Refuses a tag that is the name of a fork; no fork gets it as long as the value is there.
pub(crate) fn keep_free<'c>(
    call: &'c ToolCall<'_>,
    tag: &'c str,
) -> Result<Reserved<'c>, ToolError> {
    let forks = &call.context().forks;
    let is_fork = || {
        taken(format!(
            "Nothing was kept: `{}` is the name of a fork; choose another tag.",
            shown(tag)
        ))
    };
    let reserved = forks.keep_free(tag).map_err(|_| is_fork())?;
    match forks.elsewhere(tag).map_err(changes::refusal)? {
        None => Ok(reserved),
        Some(_) => Err(is_fork()),
    }
}

fn taken(message: String) -> ToolError {
    ToolError::new(ErrorKind::AlreadyExists, message)
}

fn fork(call: &ToolCall<'_>, name: &str) -> Result<Option<State>, ToolError> {
    let forks = &call.context().forks;
    if let Some(fork) = forks.get(name) {
        return Ok(Some(State::Fork(fork, name.to_owned())));
    }
    let elsewhere = forks.elsewhere(name).map_err(changes::refusal)?;
    Ok(elsewhere.map(|id| State::At(StateRef::from(id))))
}

fn tag_or_fork(name: &str) -> ToolError {
    let message = format!(
        "`{}` is the tag of a snapshot and the name of a fork; call history and give the snapshot's id, or \
         bring the fork in with merge.",
        shown(name)
    );
    ToolError::new(ErrorKind::InvalidArgument, message)
}

impl State {
    fn is(&self, snapshot: SnapshotId) -> bool {
        matches!(self, Self::At(StateRef::Snapshot(name)) if *name == snapshot.to_string())
    }

    /// Tells whether it is that of a fork, of which nothing is kept yet.
    pub(crate) fn is_fork(&self) -> bool {
        matches!(self, Self::Fork(..))
    }

    /// Returns the files of the state, but for those that are excluded.
    pub(crate) fn tree(&self, files: &Workspace) -> Result<Arc<dyn Tree>, ToolError> {
        match self {
            Self::At(StateRef::Live) => Ok(files.tree_without_excluded()),
            Self::At(at) => files.tree_at(at.clone()).map_err(changes::refusal),
            Self::Fork(fork, _) => Ok(fork.tree_without_excluded()),
        }
    }

    /// Returns the snapshot; of a fork one is taken, and the files as they are now are none.
    pub(crate) fn snapshot(&self, files: &Workspace) -> Result<Snapshot, ToolError> {
        let found = match self {
            Self::At(StateRef::Snapshot(name)) => files.find_snapshot(name),
            Self::At(_) => files.find_snapshot(changes::LIVE),
            Self::Fork(fork, name) => files.snapshot_fork(fork, &format!("fork {name}")),
        };
        found.map_err(changes::refusal)
    }

    /// Returns how the workspace calls the state.
    pub(crate) fn at(self, files: &Workspace) -> Result<StateRef, ToolError> {
        match self {
            Self::At(at) => Ok(at),
            Self::Fork(..) => Ok(StateRef::from(&self.snapshot(files)?)),
        }
    }
}
