//! An operation, as a value.

use std::time::SystemTime;

use super::left::Left;
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::tree::Kind;

/// Says what an operation was.
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
    /// Everything became what a snapshot or an archive holds; what was there is in another snapshot.
    Replacement { saved: SnapshotId },
    /// What a call had changed whose process died was taken back.
    Recovery,
    /// An operation was taken back.
    Undo { of: u64 },
    /// An operation that was taken back was done again.
    Redo { of: u64 },
}

impl OperationCause {
    /// Returns the snapshot of what was replaced, where everything was.
    pub(crate) fn saved(&self) -> Option<SnapshotId> {
        match self {
            Self::Replacement { saved } => Some(*saved),
            _ => None,
        }
    }

    /// Returns the operation that it took back, or did again.
    pub(crate) fn step_of(&self) -> Option<u64> {
        match self {
            Self::Undo { of } | Self::Redo { of } => Some(*of),
            _ => None,
        }
    }

    /// Tells whether it took another operation back, or did it again.
    pub(crate) fn is_step(&self) -> bool {
        self.step_of().is_some()
    }
}

/// Describes one operation: what a call changed.
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
    /// Its place in the order, which no clock decides.
    pub sequence: u64,
    /// When it was done, by the clock of that time.
    pub at: SystemTime,
    /// What was called.
    pub name: String,
    /// What it was.
    pub cause: OperationCause,
    /// Who did it, where the program said so; see [`WorkspaceBuilder::actor`](crate::WorkspaceBuilder::actor).
    pub by: Option<String>,
    /// What it changed, in the order of paths.
    pub changes: Vec<OperationChange>,
    /// The paths that it was to change and left alone, because another program had changed them.
    pub left_alone: Vec<TreePath>,
    /// The snapshot of what was there before it, where it took back, or did again, what replaced everything.
    pub(crate) saved: Option<SnapshotId>,
}

impl OperationRecord {
    /// How many operations are kept before the oldest goes; to take one back, or do it again, is none of them.
    pub const MOST_KEPT: usize = 200;

    /// Returns the snapshot of what was there before, where files were replaced as a whole.
    pub(crate) fn saved(&self) -> Option<SnapshotId> {
        self.saved.or_else(|| self.cause.saved())
    }
}

/// Names an entry that an operation made, changed or removed; a new directory stands for all in it.
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
    /// Where it is.
    pub path: TreePath,
    /// What was there before.
    pub before: Option<Kind>,
    /// What is there after it.
    pub after: Option<Kind>,
    /// The files and links below a directory that it made, in the order of paths; at most the first 1,000.
    pub inside: Vec<TreePath>,
    /// Tells exactly what the operation left there.
    pub(crate) left: Option<Left>,
    /// The content of the file that was there before, where the call knew it without reading.
    pub(crate) replaced: Option<ContentHash>,
}

impl OperationChange {
    /// How many files below a directory that was made are written down at most.
    pub(crate) const MOST_INSIDE: usize = 1000;

    /// Tells whether there may be more in the directory that it made than what is listed.
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
