//! Errors about states named by operation, age, fork or archive.

use wink_fs::{ErrorKind, ResolveError, Snapshot, SnapshotId, StateRef, Unresolved};

use super::{CliError, NO_REF, sanitized};
use crate::project::Project;
use crate::ui::format;

/// A name that resolves to no state.
impl From<ResolveError> for CliError {
    fn from(error: ResolveError) -> Self {
        let text = &error.name;
        match error.why {
            Unresolved::Ambiguous(all) => Self::ambiguous_ref(text, &all),
            Unresolved::TagAndFork(both) => Self::tag_and_fork(text, &*both),
            Unresolved::TooShort => Self::short_ref(text),
            Unresolved::TooYoung { oldest } => Self::too_young(text, oldest.as_deref()),
            Unresolved::NoAncestor { ancestors } => Self::no_ancestor(text, ancestors),
            Unresolved::UnknownOperation(_) => Self::unknown_operation(text),
            Unresolved::NoSnapshotAfter(sequence) => Self::no_snapshot("after", sequence),
            Unresolved::NoSnapshotBefore(sequence) => Self::no_snapshot("before", sequence),
            Unresolved::Event => Self::event_ref(text),
            Unresolved::Failed(error) => error.into(),
            _ => Self::unknown_ref(text),
        }
    }
}

impl CliError {
    /// A name of both a tag and a fork, with different snapshots.
    fn tag_and_fork(text: &str, all: &[Snapshot]) -> Self {
        let mut failure = Self::ambiguous_ref(text, all);
        failure.0.message = format!("`{}` is both a tag and a fork", sanitized(text));
        failure.hint("name the snapshot by its id")
    }

    /// A name for a fork that is the tag of a snapshot.
    pub(crate) fn name_of_tag(name: &str, snapshot: &Snapshot) -> Self {
        let (name, short) = (sanitized(name), snapshot.id.short());
        Self::of(ErrorKind::AlreadyExists, format!("`{name}` is the tag of snapshot {short}"))
            .because("tags and forks share one namespace, so the name would be ambiguous")
            .hint(format!("choose another name, or delete the tag: wink tag {name} --delete"))
    }

    /// A tag that is the name of a fork.
    pub(crate) fn name_of_fork(name: &str, fork: &Project) -> Self {
        let name = sanitized(name);
        let message = if fork.is_kept() {
            format!("`{name}` is a fork that an agent made")
        } else {
            format!("`{name}` is the fork in `{}`", fork.root.display())
        };
        Self::of(ErrorKind::AlreadyExists, message)
            .because("tags and forks share one namespace, so the name would be ambiguous")
            .hint(format!("choose another tag, or rename the fork: wink fork rename {name} NEW"))
    }

    /// A prefix of an id that is too short.
    pub(crate) fn short_ref(text: &str) -> Self {
        let message = format!("`{}` is too short for the id of a snapshot", sanitized(text));
        Self::new("ref_too_short", NO_REF, message).hint(format!(
            "type at least {} of its characters, or a tag; `wink log` lists the snapshots",
            SnapshotId::MIN_PREFIX
        ))
    }

    /// An unknown operation.
    pub(crate) fn unknown_operation(text: &str) -> Self {
        let message = format!("operation `{}` is unknown, or no longer kept", sanitized(text));
        Self::new("ref_unknown", NO_REF, message).hint("`wink op log` lists the operations")
    }

    /// A state of an operation of which no snapshot was taken.
    fn no_snapshot(when: &str, sequence: u64) -> Self {
        let message = format!("no snapshot was taken {when} operation {sequence}");
        Self::new("ref_unknown", NO_REF, message)
            .hint(format!(
                "`wink op show {sequence}` shows what it changed, and `wink undo op:{sequence}` undoes it"
            ))
    }

    /// A state that can be looked at, where a snapshot is needed.
    pub(crate) fn unkept_state(state: &StateRef) -> Self {
        match state {
            StateRef::BeforeOperation(number) => Self::no_snapshot("before", *number),
            StateRef::AfterOperation(number) => Self::no_snapshot("after", *number),
            other => Self::unknown_ref(&other.to_string()),
        }
    }

    /// An operation that cannot be undone.
    pub(crate) fn operation_not_to_undo(sequence: u64) -> Self {
        let message =
            format!("operation {sequence} is already undone, was skipped, or is no longer kept");
        Self::new("ref_unknown", NO_REF, message).hint("`wink op log` lists the operations")
    }

    /// An age that is older than all snapshots.
    pub(crate) fn too_young(text: &str, oldest: Option<&Snapshot>) -> Self {
        let message = match oldest {
            Some(oldest) => {
                let at = format::local(oldest.created_at);
                format!(
                    "no snapshot is from `{}` or earlier: the oldest is from {at}",
                    sanitized(text)
                )
            }
            None => "there is no snapshot yet".to_owned(),
        };
        Self::new("ref_unknown", NO_REF, message).hint("`wink log` lists the snapshots")
    }

    /// An event of a session, which the workspace does not know.
    pub(crate) fn event_ref(text: &str) -> Self {
        let message = format!("`{}` is an event, and events are not kept yet", sanitized(text));
        Self::new("ref_unknown", NO_REF, message).hint("`wink op log` lists the operations")
    }

    /// An archive instead of a state of the workspace.
    pub(crate) fn archive_ref(text: &str) -> Self {
        let message = format!("`{}` is an archive, not a snapshot", sanitized(text));
        Self::of(ErrorKind::InvalidArgument, message).hint("`wink import` imports its files")
    }
}
