//! Three-way merge: applies the changes of one side to the other.

mod change;
mod file;
mod lines;
mod patch;
mod three_way;

use std::fmt;

use crate::oplog::OperationChange;
use crate::path::TreePath;
use crate::snapshot::SnapshotId;

pub(crate) use self::three_way::{Sides, three_way};

/// Options of a merge or a revert.
///
/// ```
/// use wink_fs::{MergeOptions, OnConflict};
///
/// let options = MergeOptions::default().on_conflict(OnConflict::Markers);
/// assert!(!options.dry_run);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct MergeOptions {
    /// What to do about conflicts.
    pub on_conflict: OnConflict,
    /// Whether nothing is changed, and only the result is returned.
    pub dry_run: bool,
}

impl MergeOptions {
    /// Sets what to do about conflicts.
    #[must_use]
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> Self {
        self.on_conflict = on_conflict;
        self
    }

    /// Sets whether nothing is changed.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

/// What to do about conflicts.
///
/// ```
/// assert_eq!(wink_fs::OnConflict::default(), wink_fs::OnConflict::Stop);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum OnConflict {
    /// Writes nothing, and returns the conflicts.
    #[default]
    Stop,
    /// Keeps the workspace's lines and files; merges everything else.
    Ours,
    /// Takes the other side's lines and files; merges everything else.
    Theirs,
    /// Writes the lines of both sides between markers. What cannot be marked, such as a binary file, stays as it is
    /// and is left to merge.
    Markers,
}

/// The result of a merge or a revert.
///
/// ```
/// use wink_fs::Workspace;
///
/// let files = Workspace::memory();
/// files.write("poem.txt", "one\ntwo\nthree\n")?;
/// let start = files.snapshot("start")?;
/// let attempt = files.fork(&start)?;
/// attempt.write("poem.txt", "one\ntwo\nTHREE\n")?;
/// files.write("poem.txt", "ONE\ntwo\nthree\n")?;
///
/// let merged = files.merge(&attempt)?;
/// assert!(merged.applied && merged.conflicts.is_empty());
/// assert_eq!(files.read("poem.txt")?.content, "ONE\ntwo\nTHREE\n");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Merged {
    /// Whether the merge was done, at least in part; not if it stopped at conflicts, or resolved none of them and
    /// had nothing else to change.
    pub applied: bool,
    /// What was changed, or would be, sorted by path.
    pub changes: Vec<OperationChange>,
    /// The conflicts, sorted by path.
    pub conflicts: Vec<MergeConflict>,
    /// The safety snapshot, if anything was changed.
    pub saved: Option<SnapshotId>,
}

impl Merged {
    /// Returns the conflicts that are left to resolve.
    ///
    /// ```
    /// use wink_fs::{MergeOptions, OnConflict, Workspace};
    ///
    /// let files = Workspace::memory();
    /// files.write_bytes("a.png", vec![0, 1])?;
    /// let fork = files.fork(&files.snapshot("start")?)?;
    /// fork.write_bytes("a.png", vec![0, 2])?;
    /// files.write_bytes("a.png", vec![0, 3])?;
    /// let markers = MergeOptions::default().on_conflict(OnConflict::Markers);
    /// let merged = files.merge_with(&fork, &markers)?;
    /// assert_eq!(merged.unresolved().count(), 1);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn unresolved(&self) -> impl Iterator<Item = &MergeConflict> {
        self.conflicts.iter().filter(|conflict| !conflict.is_resolved)
    }

    /// Returns whether this is the base of the next merge: something was merged, or conflicts were resolved.
    ///
    /// ```
    /// assert!(!wink_fs::Merged::default().is_to_be_remembered());
    /// ```
    pub fn is_to_be_remembered(&self) -> bool {
        self.applied && (self.saved.is_some() || !self.conflicts.is_empty())
    }
}

/// The last merged state of a fork, kept even if the fork is deleted.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// let attempt = files.fork(&files.snapshot("start")?)?;
/// attempt.write("a.txt", "tried")?;
/// let merged = files.merge(&attempt)?;
/// let kept = files.keep_last_merge(&attempt, "merged")?.unwrap();
/// assert_eq!(kept.saved, merged.saved);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct KeptMerge {
    /// The snapshot of the fork's files.
    pub theirs: SnapshotId,
    /// The safety snapshot, by which [`last_in_effect`](crate::Workspace::last_in_effect) tells whether the merge was
    /// undone; `None` if merges of the fork changed nothing.
    pub saved: Option<SnapshotId>,
}

/// An entry that both sides changed differently.
///
/// ```
/// use wink_fs::{ConflictKind, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "one\n")?;
/// let fork = files.fork(&files.snapshot("start")?)?;
/// fork.write("a.txt", "two\n")?;
/// files.delete("a.txt")?;
/// let merged = files.merge(&fork)?;
/// assert_eq!(merged.conflicts[0].kind, ConflictKind::DeletedByUs);
/// assert!(!merged.applied && !files.exists("a.txt"));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MergeConflict {
    /// Its path.
    pub path: TreePath,
    /// The kind of conflict.
    pub kind: ConflictKind,
    /// Whether it was resolved in the way that [`OnConflict`] asks for, or would be.
    pub is_resolved: bool,
}

/// The kind of a conflict.
///
/// ```
/// assert_eq!(wink_fs::ConflictKind::Binary.to_string(), "both changed it, and it is no text");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConflictKind {
    /// Both changed the same lines.
    Lines,
    /// Both changed a file that is binary, or too large to be merged by lines.
    Binary,
    /// Both created it, with different modes.
    Mode,
    /// The workspace deleted what the other side changed.
    DeletedByUs,
    /// The other side deleted what the workspace changed.
    DeletedByThem,
    /// It is a file on one side and a directory or link on the other, or they are different links.
    Kind,
    /// Both moved it, to different paths.
    Moved,
}

impl fmt::Display for ConflictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lines => "both changed the same lines",
            Self::Binary => "both changed it, and it is no text",
            Self::Mode => "both made it, with other permissions",
            Self::DeletedByUs => "deleted here, changed there",
            Self::DeletedByThem => "changed here, deleted there",
            Self::Kind => "it became something else on each side",
            Self::Moved => "both moved it, to different places",
        })
    }
}
