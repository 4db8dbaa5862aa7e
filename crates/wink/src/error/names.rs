//! Failures to find a state by operation, age, fork or archive.

use wink_fs::{ErrorKind, Snapshot, SnapshotId};

use super::{CliError, NO_REF, shown};
use crate::project::Project;
use crate::ui::format;

impl CliError {
    /// A name is that of a snapshot and that of a fork which was at another one last.
    pub(crate) fn tag_or_branch(text: &str, all: &[Snapshot]) -> Self {
        let mut failure = Self::ambiguous_ref(text, all);
        failure.0.message = format!("`{}` is a tag and a fork", shown(text));
        failure.hint("name the snapshot by its id")
    }

    /// A name for a fork that is the tag of a snapshot.
    pub(crate) fn name_of_tag(name: &str, snapshot: &Snapshot) -> Self {
        let (name, short) = (shown(name), snapshot.id.short());
        Self::of(ErrorKind::AlreadyExists, format!("`{name}` is the tag of snapshot {short}"))
            .because("a state is named by a tag or a fork, and the name would be ambiguous")
            .hint(format!("give another name, or take the tag away: wink tag {name} --delete"))
    }

    /// A tag that is the name of a fork.
    pub(crate) fn name_of_branch(name: &str, fork: &Project) -> Self {
        let name = shown(name);
        let message = if fork.is_kept() {
            format!("`{name}` is a fork that an agent left")
        } else {
            format!("`{name}` is the fork in `{}`", fork.root.display())
        };
        Self::of(ErrorKind::AlreadyExists, message)
            .because("a state is named by a tag or a fork, and the name would be ambiguous")
            .hint(format!("give another tag, or rename the fork: wink branch rename {name} NEW"))
    }

    /// An id of which too little was typed to be sure of it.
    pub(crate) fn short_ref(text: &str) -> Self {
        let message = format!("`{}` is too short for the id of a snapshot", shown(text));
        Self::new("ref_too_short", NO_REF, message).hint(format!(
            "type at least {} of its characters, or a tag; `wink log` lists the snapshots",
            SnapshotId::MIN_PREFIX
        ))
    }

    /// An operation that is not written down, or not any more.
    pub(crate) fn unknown_operation(text: &str) -> Self {
        let message = format!("`{}` is no operation that is kept", shown(text));
        Self::new("ref_unknown", NO_REF, message).hint("`wink op log` lists those that are")
    }

    /// An operation after which no snapshot of the files was kept.
    pub(crate) fn unkept_operation(sequence: u64) -> Self {
        let message = format!("no snapshot holds the files as operation {sequence} left them");
        Self::new("ref_unknown", NO_REF, message)
            .hint(format!(
                "`wink op show {sequence}` shows what it changed, and `wink undo op:{sequence}` takes it back"
            ))
    }

    /// An operation that cannot be taken back, or not again.
    pub(crate) fn operation_not_to_undo(sequence: u64) -> Self {
        let message =
            format!("operation {sequence} is taken back already, passed over, or not kept");
        Self::new("ref_unknown", NO_REF, message).hint("`wink op log` lists what was done")
    }

    /// No snapshot is so old.
    pub(crate) fn too_young(text: &str, oldest: Option<&Snapshot>) -> Self {
        let message = match oldest {
            Some(oldest) => {
                let at = format::local(oldest.created_at);
                format!("no snapshot is from `{}` or earlier: the oldest is from {at}", shown(text))
            }
            None => "there is no snapshot yet".to_owned(),
        };
        Self::new("ref_unknown", NO_REF, message).hint("`wink log` lists the snapshots")
    }

    /// What happened in a session is not known to the workspace.
    pub(crate) fn event_ref(text: &str) -> Self {
        let message = format!("`{}` cannot be found: events are not kept yet", shown(text));
        Self::new("ref_unknown", NO_REF, message).hint("`wink op log` lists what was done")
    }

    /// An archive where only a state of the workspace will do.
    pub(crate) fn archive_ref(text: &str) -> Self {
        let message = format!("`{}` is an archive, and a snapshot is needed", shown(text));
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("`wink import` makes the files those of it")
    }
}
