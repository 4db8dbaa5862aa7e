//! Operations, as values.

use std::time::SystemTime;

use super::content_id::ContentId;
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::tree::{FileMode, Kind};

/// What kind of operation it was.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write("a.txt", "hello")?;
/// files.undo()?;
/// let causes: Vec<_> = files.operations()?.into_iter().map(|it| it.cause).collect();
/// assert_eq!(causes, [wink_fs::OperationCause::Call, wink_fs::OperationCause::Undo { of: 1 }]);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the numbers of operations and ids of snapshots")]
pub enum OperationCause {
    /// A call that writes.
    Call,
    /// Files were replaced by those of a snapshot or an archive; `saved` is the safety snapshot.
    Replacement { saved: SnapshotId },
    /// An interrupted call was rolled back.
    Recovery,
    /// An operation was undone.
    Undo { of: u64 },
    /// An operation that was undone was redone.
    Redo { of: u64 },
}

impl OperationCause {
    /// Returns the safety snapshot of a replacement.
    pub(crate) fn saved(&self) -> Option<SnapshotId> {
        match self {
            Self::Replacement { saved } => Some(*saved),
            _ => None,
        }
    }

    /// Returns the operation that it undid or redid.
    pub(crate) fn step_of(&self) -> Option<u64> {
        match self {
            Self::Undo { of } | Self::Redo { of } => Some(*of),
            _ => None,
        }
    }

    /// Returns whether it is an undo or a redo.
    pub(crate) fn is_step(&self) -> bool {
        self.step_of().is_some()
    }
}

/// One operation: what a call changed.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write("src/a.rs", "fn a() {}")?;
/// let operations = files.operations()?;
/// assert_eq!((operations[0].sequence, operations[0].name.as_str()), (1, "write"));
/// assert_eq!(operations[0].changes[0].path.to_string(), "src");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OperationRecord {
    /// Its number. Numbers give the order; clocks do not.
    pub sequence: u64,
    /// The time it was done.
    pub at: SystemTime,
    /// What was called.
    pub name: String,
    /// What kind of operation it was.
    pub cause: OperationCause,
    /// The actor, if the program named one; see [`WorkspaceBuilder::actor`](crate::WorkspaceBuilder::actor).
    pub by: Option<String>,
    /// The id of the tool call that it was part of, if there was one; see
    /// [`Workspace::for_call`](crate::Workspace::for_call).
    pub call: Option<String>,
    /// Its changes, sorted by path.
    pub changes: Vec<OperationChange>,
    /// The paths that it left alone, because another program had changed them.
    pub left_alone: Vec<TreePath>,
    /// The directories of which it changed only the mode, sorted by path.
    pub(crate) modes: Vec<DirectoryModeChange>,
    /// The safety snapshot, if it undid or redid a replacement.
    pub(crate) saved: Option<SnapshotId>,
}

impl OperationRecord {
    /// How many operations are kept, not counting undos and redos.
    pub const MOST_KEPT: usize = 200;

    /// Returns whether it changed anything.
    pub(crate) fn has_changes(&self) -> bool {
        !self.changes.is_empty() || !self.modes.is_empty()
    }

    /// Returns the safety snapshot of a replacement, or of its undo or redo.
    pub(crate) fn saved(&self) -> Option<SnapshotId> {
        self.saved.or_else(|| self.cause.saved())
    }
}

/// A directory that was there before and after an operation, with another mode.
///
/// It is not one of the [changes](OperationChange), because undoing such a change restores everything in the directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DirectoryModeChange {
    pub(crate) path: TreePath,
    pub(crate) was: FileMode,
    pub(crate) is: FileMode,
}

/// An entry that an operation created, changed or removed; a new directory stands for everything in it.
///
/// ```
/// use wink_fs::{Kind, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "hello")?;
/// let change = files.operations()?[0].changes[0].clone();
/// assert_eq!((change.before, change.after), (None, Some(Kind::File)));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OperationChange {
    /// The changed path.
    pub path: TreePath,
    /// What was there before.
    pub before: Option<Kind>,
    /// What is there after it.
    pub after: Option<Kind>,
    /// The files and links below a new directory, sorted by path; at most the first 1,000.
    pub inside: Vec<TreePath>,
    /// The content id that the operation left there.
    pub(crate) left: Option<ContentId>,
    /// The hash of the file before, if the call knew it without reading.
    pub(crate) replaced: Option<ContentHash>,
}

impl OperationChange {
    /// How many files below a new directory are recorded at most.
    pub(crate) const MOST_INSIDE: usize = 1000;

    /// Returns whether the new directory may contain more than what is listed.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.mkdir("empty")?;
    /// assert!(!files.operations()?[0].changes[0].is_inside_cut());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn is_inside_cut(&self) -> bool {
        self.inside.len() >= Self::MOST_INSIDE
    }
}
