//! States by name, in the grammar that all interfaces share.

use std::sync::Arc;

use wink_fs::{
    Error, ErrorKind, ResolveError, Snapshot, StateName, StateRef, Tree, Unresolved, Workspace,
};

use crate::history::changes;
use crate::history::forks::Reserved;
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::unknown_name::shorten_name;

/// A state that was named.
pub(crate) enum State {
    /// The current files, or a snapshot.
    At(StateRef),
    /// The current files of a fork, and its name.
    Fork(Workspace, String),
}

/// Finds a state by its name.
pub(crate) fn find(call: &ToolCall<'_>, text: &str) -> Result<State, ToolError> {
    let files = call.everything()?;
    let forks = &call.context().forks;
    let name = text.trim();
    // The current files need no history.
    if name == changes::LIVE {
        return Ok(State::At(StateRef::Live));
    }
    let given = StateName::given(name);
    if let Some(fork) = given.and_then(|name| forks.get(name)) {
        return match tagged(files, name)? {
            Some(_) => Err(tag_and_fork(name)),
            None => Ok(State::Fork(fork, name.to_owned())),
        };
    }
    let elsewhere = given.map_or(Ok(None), |name| forks.elsewhere(name));
    let fork = elsewhere.map_err(changes::refusal)?;
    match files.resolve_with_fork(name, fork) {
        Ok(snapshot) => Ok(State::At(snapshot.map_or(StateRef::Live, |it| it.id.into()))),
        // It can be read and compared all the same.
        Err(error) => match error.state() {
            Some(state) => Ok(State::At(state)),
            None => Err(unresolved(error)),
        },
    }
}

/// Words why a name resolves to no state.
fn unresolved(error: ResolveError) -> ToolError {
    let name = shorten_name(&error.name);
    let message = match &error.why {
        Unresolved::Failed(_) | Unresolved::UnknownOperation(Some(_)) => {
            return changes::refusal(error.into());
        }
        Unresolved::TagAndFork(_) => return tag_and_fork(&error.name),
        Unresolved::Ambiguous(_) => {
            format!("Several snapshots have ids that begin with `{name}`; give more of the id.")
        }
        Unresolved::TooShort => {
            format!("`{name}` is too short for the id of a snapshot; give more of the id.")
        }
        Unresolved::NoSnapshotAfter(sequence) => return no_snapshot("as", *sequence),
        Unresolved::NoSnapshotBefore(sequence) => return no_snapshot("before", *sequence),
        _ => format!("There is no snapshot `{name}`; call history to see which there are."),
    };
    ToolError::from(Error::from(error)).reworded(message)
}

/// Refuses a state that was only put together where a snapshot is needed.
fn no_snapshot(side: &str, operation: u64) -> ToolError {
    let state = if side == "before" {
        format!("before operation {operation}")
    } else {
        format!("as operation {operation} left them")
    };
    ToolError::new(
        ErrorKind::SnapshotNotFound,
        format!(
            "No snapshot holds the files {state}; compare with it, or call history to see which snapshots there are."
        ),
    )
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
            "There already is a fork `{name}`, which a person created or an earlier server kept; merge it, or choose \
             another name."
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
            "No snapshot was taken: `{}` is the name of a fork; choose another tag.",
            shorten_name(tag)
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

fn tag_and_fork(name: &str) -> ToolError {
    let message = format!(
        "`{}` is the tag of a snapshot and the name of a fork; call history and pass the snapshot's id, or \
         merge the fork.",
        shorten_name(name)
    );
    ToolError::new(ErrorKind::InvalidArgument, message)
}

impl State {
    /// Returns whether it is that of a fork, of which nothing is kept yet.
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

    /// Returns the snapshot; of a fork one is taken, and the current files are an error.
    pub(crate) fn snapshot(&self, files: &Workspace) -> Result<Snapshot, ToolError> {
        let found = match self {
            Self::At(StateRef::AfterOperation(number)) => return Err(no_snapshot("as", *number)),
            Self::At(StateRef::BeforeOperation(number)) => {
                return Err(no_snapshot("before", *number));
            }
            Self::At(at) => files.find_snapshot(at.clone()),
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
