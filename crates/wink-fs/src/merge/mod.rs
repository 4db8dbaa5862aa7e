//! Three states made one: what was changed on one side is brought into the other.

mod change;
mod file;
mod lines;
mod patch;
mod rename;
mod three_way;

use std::fmt;

use crate::oplog::OperationChange;
use crate::path::TreePath;
use crate::snapshot::SnapshotId;

pub(crate) use self::three_way::{Sides, three_way};

/// Says how a merge or a revert is done.
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
    /// What is done where both sides changed the same.
    pub on_conflict: OnConflict,
    /// Whether it is only said what would be done.
    pub dry_run: bool,
}

impl MergeOptions {
    /// Sets what is done where both sides changed the same.
    #[must_use]
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> Self {
        self.on_conflict = on_conflict;
        self
    }

    /// Sets whether it is only said what would be done.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

/// Says what is done where both sides changed the same.
///
/// ```
/// assert_eq!(wink_fs::OnConflict::default(), wink_fs::OnConflict::Stop);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum OnConflict {
    /// Nothing at all is written, and the conflicts are named.
    #[default]
    Stop,
    /// The workspace's own lines and files stay; everything else is merged.
    Ours,
    /// The other side's lines and files win; everything else is merged.
    Theirs,
    /// Lines of both sides are written between markers; files that have no lines stay as they are.
    Markers,
}

/// Says what a merge or a revert did, or would do.
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
    /// Whether the files were changed; not if there were conflicts and the caller did not say how to resolve them.
    pub applied: bool,
    /// What was changed, or would be, in the order of paths.
    pub changes: Vec<OperationChange>,
    /// What both sides changed, each in another way, in the order of paths.
    pub conflicts: Vec<MergeConflict>,
    /// The snapshot that holds what was there before; none where nothing was changed.
    pub saved: Option<SnapshotId>,
}

impl Merged {
    /// Tells whether the next merge begins here: something was brought in, or conflicts were decided.
    ///
    /// ```
    /// assert!(!wink_fs::Merged::default().is_to_be_remembered());
    /// ```
    pub fn is_to_be_remembered(&self) -> bool {
        self.applied && (self.saved.is_some() || !self.conflicts.is_empty())
    }
}

/// Names the state of a fork that was merged last, kept for when the fork is gone.
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
    /// The snapshot that has the files of the fork.
    pub theirs: SnapshotId,
    /// The snapshot of what was there before, by which [`last_in_effect`](crate::Workspace::last_in_effect)
    /// tells whether it was taken back; none where merges of the fork changed nothing.
    pub saved: Option<SnapshotId>,
}

/// Names an entry that both sides changed, each in another way.
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
    /// Where it is.
    pub path: TreePath,
    /// What the matter is.
    pub kind: ConflictKind,
}

/// Says why two changes cannot be made one.
///
/// ```
/// assert_eq!(wink_fs::ConflictKind::Binary.to_string(), "both changed it, and it is no text");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConflictKind {
    /// Both changed the same lines.
    Lines,
    /// Both changed a file that is no text, or is too large to be merged by lines.
    Binary,
    /// Both made it, with other permissions.
    Mode,
    /// The workspace deleted what the other side changed.
    DeletedByUs,
    /// The other side deleted what the workspace changed.
    DeletedByThem,
    /// It is now a file on one side and a directory or a link on the other, or two different links.
    Kind,
    /// Both moved it, to different places.
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
