//! Keeping states of a workspace, and looking at them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::History;
use super::state_ref::{State, StateRef};
use crate::diff::{Diff, DiffOptions, diff_of};
use crate::error::{Operation, Result};
use crate::filesystem::capture::NotCaptured;
use crate::filesystem::event::Event;
use crate::path::TreePath;
use crate::search::{self, GrepOptions, StatesResult};
use crate::snapshot::{NewSnapshot, Skipped, Snapshot, SnapshotId, SnapshotOrigin, SnapshotStore};
use crate::tree::compare::count_files;
use crate::tree::scope::{Exclusions, Scope};
use crate::tree::{Kind, Tree};
use crate::workspace::Workspace;

/// Options of a new snapshot.
///
/// ```
/// use wink_fs::{SnapshotOptions, Workspace};
///
/// let options = SnapshotOptions::default().message("before the refactoring");
/// let taken = Workspace::memory().snapshot_with(&options)?;
/// assert_eq!(taken.message.as_deref(), Some("before the refactoring"));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SnapshotOptions {
    /// A name for it, which no other snapshot has.
    pub tag: Option<String>,
    /// What a person says about it.
    pub message: Option<String>,
    /// Who asks for it.
    pub asked_by: SnapshotOrigin,
}

impl SnapshotOptions {
    /// Sets its name.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Sets what a person says about it.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets who asks for it.
    #[must_use]
    pub fn asked_by(mut self, asked_by: SnapshotOrigin) -> Self {
        self.asked_by = asked_by;
        self
    }
}

/// The result of [`Workspace::take_snapshot`].
///
/// ```
/// use wink_fs::{MemoryBackend, SnapshotOptions, Store, Workspace};
///
/// let files = Workspace::builder(MemoryBackend::new()).store(Store::temporary()?).build();
/// files.write("a.txt", "hello")?;
/// assert!(files.take_snapshot(&SnapshotOptions::default())?.stored_bytes > Some(0));
/// assert_eq!(files.take_snapshot(&SnapshotOptions::default())?.stored_bytes, Some(0));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TakenSnapshot {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The snapshots that were deleted to make room for it.
    pub pruned: Vec<SnapshotId>,
    /// The size of what no other snapshot had, if the strategy knows it.
    pub stored_bytes: Option<u64>,
}

impl Workspace {
    /// Takes a snapshot with a tag that no other snapshot has.
    pub fn snapshot(&self, tag: &str) -> Result<Snapshot> {
        self.snapshot_with(&SnapshotOptions::default().tag(tag))
    }

    /// Takes a snapshot with options.
    pub fn snapshot_with(&self, options: &SnapshotOptions) -> Result<Snapshot> {
        let history = self.history(Operation::Snapshot)?;
        self.take(history, &history.asked_for(options))
    }

    /// Takes a snapshot, and says also what that stored and which snapshots it pushed out.
    ///
    /// ```
    /// use wink_fs::{Retention, SnapshotOptions, Workspace};
    ///
    /// let files = Workspace::builder(wink_fs::MemoryBackend::new());
    /// let files = files.retention(Retention::default().max_count(2)).build();
    /// let first = files.take_snapshot(&SnapshotOptions::default())?;
    /// assert!(first.pruned.is_empty());
    /// files.snapshot_with(&SnapshotOptions::default())?;
    /// let third = files.take_snapshot(&SnapshotOptions::default())?;
    /// assert_eq!(third.pruned, [first.snapshot.id]);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn take_snapshot(&self, options: &SnapshotOptions) -> Result<TakenSnapshot> {
        let history = self.history(Operation::Snapshot)?;
        let (snapshot, pruned) = self.take_making_room(history, &history.asked_for(options))?;
        let stored_bytes = history.snapshots.stored_bytes(&snapshot);
        Ok(TakenSnapshot { snapshot, pruned, stored_bytes })
    }

    /// Takes a snapshot unless the files equal the current snapshot, so that automatic snapshots do not push
    /// out others.
    ///
    /// ```
    /// use wink_fs::{SnapshotOptions, Workspace};
    ///
    /// let (files, options) = (Workspace::memory(), SnapshotOptions::default());
    /// assert!(files.snapshot_if_changed(&options)?.is_some());
    /// assert!(files.snapshot_if_changed(&options)?.is_none());
    /// files.write("a.txt", "new")?;
    /// assert!(files.snapshot_if_changed(&options)?.is_some());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn snapshot_if_changed(&self, options: &SnapshotOptions) -> Result<Option<Snapshot>> {
        let history = self.history(Operation::Snapshot)?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let new = history.asked_for(options);
        let taken = history.snapshot_of_new(self.backend(&mut writer), &new)?;
        taken.iter().try_for_each(|taken| self.took(history, taken))?;
        Ok(taken)
    }

    /// Takes a snapshot, which is the last one then.
    pub(crate) fn take(&self, history: &History, new: &NewSnapshot) -> Result<Snapshot> {
        Ok(self.take_making_room(history, new)?.0)
    }

    fn take_making_room(
        &self,
        history: &History,
        new: &NewSnapshot,
    ) -> Result<(Snapshot, Vec<SnapshotId>)> {
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let taken = history.snapshot(self.backend(&mut writer), new)?;
        self.took(history, &taken.0)?;
        Ok(taken)
    }

    /// Makes a snapshot the current one.
    fn took(&self, history: &History, snapshot: &Snapshot) -> Result<()> {
        history.set_head(snapshot.id)?;
        self.0.observers.tell(&Event::SnapshotTaken { id: snapshot.id });
        Ok(())
    }

    /// Returns the snapshots, oldest first.
    pub fn snapshots(&self) -> Result<Vec<Snapshot>> {
        self.history(Operation::List)?.snapshots.list()
    }

    /// Gives a snapshot a tag that no other one has, or takes its tag away.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let taken = files.snapshot_with(&Default::default())?;
    /// files.tag(&taken, Some("before-refactor"))?;
    /// assert_eq!(files.find_snapshot("before-refactor")?.id, taken.id);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn tag(&self, at: impl Into<StateRef>, tag: Option<&str>) -> Result<Snapshot> {
        let history = self.history(Operation::Snapshot)?;
        history.snapshots.set_tag(&history.find_snapshot(&at.into())?.id, tag)
    }

    /// Returns the snapshot that was taken or restored last.
    pub fn current_snapshot_id(&self) -> Result<Option<SnapshotId>> {
        self.history(Operation::Snapshot)?.head()
    }

    /// Returns the state that the files are in: the snapshot that was taken or restored last, or the operation that was
    /// done since; `None` without either, or without a history.
    ///
    /// This does not read the disk: what other processes did is known from the next change or snapshot of this one on.
    ///
    /// ```
    /// use wink_fs::{StateRef, Workspace};
    ///
    /// let files = Workspace::memory();
    /// assert_eq!(files.known_state(), None);
    /// let taken = files.snapshot("first")?;
    /// assert_eq!(files.known_state(), Some(StateRef::Snapshot(taken.id)));
    /// files.write("a.txt", "hello")?;
    /// assert_eq!(files.known_state().unwrap().to_string(), "op:1");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn known_state(&self) -> Option<StateRef> {
        self.0.history.as_ref().and_then(History::known_state)
    }

    /// Returns what keeps the snapshots, to verify them for example.
    pub fn snapshot_store(&self) -> Result<Arc<dyn SnapshotStore>> {
        Ok(self.history(Operation::Snapshot)?.snapshots.clone())
    }

    /// Returns the files of a snapshot, or those of now at each look.
    ///
    /// Those before or after an operation of which no snapshot was taken are put together from what the later operations
    /// displaced, and from the current files at all other paths.
    ///
    /// ```
    /// use wink_fs::{TreePath, Workspace};
    ///
    /// let files = Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// files.write("a.txt", "three")?;
    /// let size = |state| Ok::<_, wink_fs::Error>(files.tree_at(state)?.stat(&TreePath::parse("a.txt")?)?.size_bytes);
    /// assert_eq!((size("op:2-")?, size("op:2")?), (3, 5));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn tree_at(&self, at: impl Into<StateRef>) -> Result<Arc<dyn Tree>> {
        let at = at.into();
        // A workspace without a history has its current files.
        if at == StateRef::Live {
            return Ok(self.tree());
        }
        let history = self.history(Operation::Restore)?;
        match history.find_state(&at)? {
            State::Live => Ok(self.tree()),
            State::Snapshot(snapshot) => history.snapshots.load(&snapshot.id),
            State::OfOperation { number, side } => {
                history.of_operation(number, side, self.tree_without_excluded())
            }
        }
    }

    /// Finds the lines of some snapshots that match a regular expression, with the first and the last that
    /// has each; only what differs from one snapshot to the next is searched.
    ///
    /// Without paths it is all files; see [`search`].
    pub fn grep_snapshots(
        &self,
        pattern: &str,
        snapshots: &[Snapshot],
        paths: &[TreePath],
        options: &GrepOptions,
    ) -> Result<StatesResult> {
        let history = self.history(Operation::Grep)?;
        let scope = match paths {
            [] => Scope::everything(),
            paths => Scope::paths(paths.iter().cloned()),
        };
        let states = snapshots.iter().map(|it| history.snapshots.load(&it.id));
        search::grep_states(states, pattern, &scope, options, &self.0.properties.limits)
    }

    /// Compares two states.
    pub fn diff(&self, base: impl Into<StateRef>, target: impl Into<StateRef>) -> Result<Diff> {
        self.diff_with(base, target, &DiffOptions::default())
    }

    /// Compares two states with options.
    pub fn diff_with(
        &self,
        base: impl Into<StateRef>,
        target: impl Into<StateRef>,
        options: &DiffOptions,
    ) -> Result<Diff> {
        Ok(self.diff_with_lines_of(base, target, options, |_| Vec::new())?.0)
    }

    /// Compares two states with options, and once more, with lines, at some paths that are chosen of those
    /// that differ: both times they are the states of the same moment.
    ///
    /// ```
    /// use wink_fs::{StateRef, DiffOptions, Workspace};
    ///
    /// let files = Workspace::memory();
    /// files.snapshot("start")?;
    /// files.write("a.txt", "one\n")?;
    /// let of_first = |diff: &wink_fs::Diff| vec![diff.added[0].path.clone()];
    /// let (all, lines) =
    ///     files.diff_with_lines_of("start", StateRef::Live, &DiffOptions::default(), of_first)?;
    /// assert!(all.added[0].hunks.is_none() && lines.added[0].hunks.is_some());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn diff_with_lines_of(
        &self,
        base: impl Into<StateRef>,
        target: impl Into<StateRef>,
        options: &DiffOptions,
        chosen: impl FnOnce(&Diff) -> Vec<TreePath>,
    ) -> Result<(Diff, Diff)> {
        let history = self.history(Operation::Diff)?;
        let base = self.look(history, base.into())?;
        let target = self.look(history, target.into())?;
        // A state says nothing of what it lacks: that would look deleted, or new.
        let missing: BTreeSet<Skipped> = base.missing.into_iter().chain(target.missing).collect();
        let paths = missing.iter().filter_map(|it| TreePath::parse(&it.path).ok());
        let patterns: Vec<_> = paths.map(|path| Exclusions::pattern_of(&path)).collect();
        let excluded = history.excluded.in_turn().and(&patterns)?;
        let (before, after) = (base.not_captured, target.not_captured);
        let (base, target, files) = (base.tree, target.tree, target.files);
        let compare = |options: DiffOptions| {
            let scope = options.scope.clone().excluding(excluded.clone());
            diff_of(&*base, &*target, files, &options.scope(scope))
                .map_err(|error| error.during(Operation::Diff))
        };
        let not_captured = if after.is_empty() { before } else { after };
        let missing = missing.into_iter().collect();
        let all = Diff { not_captured, missing, ..compare(options.clone())? };
        let lines = match chosen(&all) {
            paths if paths.is_empty() => Diff::default(),
            paths => compare(DiffOptions::default().hunks(true).scope(Scope::paths(paths)))?,
        };
        Ok((all, lines))
    }

    /// Returns a state with the number of its files and links.
    pub(crate) fn state(&self, history: &History, at: StateRef) -> Result<(Arc<dyn Tree>, u64)> {
        let state = self.look(history, at)?;
        Ok((state.tree, state.files))
    }

    fn look(&self, history: &History, at: StateRef) -> Result<StateFiles> {
        match history.find_state(&at)? {
            State::Live => {
                let mut writer = self.turn()?;
                history.excluded.ask()?;
                let capture = history.capture(self.backend(&mut writer))?;
                let not_captured = capture.not_captured;
                let missing = not_captured.iter().filter(|it| it.is_missing);
                Ok(StateFiles {
                    tree: capture.tree,
                    files: capture.totals.files,
                    missing: missing.map(Skipped::from).collect(),
                    not_captured,
                })
            }
            State::Snapshot(snapshot) => Ok(StateFiles {
                tree: history.snapshots.load(&snapshot.id)?,
                files: snapshot.file_count,
                not_captured: Vec::new(),
                missing: snapshot.missing().cloned().collect(),
            }),
            State::OfOperation { number, side } => {
                let tree = history.of_operation(number, side, self.tree_without_excluded())?;
                let files = count_files(&*tree, &TreePath::root(), Some(Kind::Directory))?;
                Ok(StateFiles { tree, files, not_captured: Vec::new(), missing: Vec::new() })
            }
        }
    }
}

/// The files of a state.
struct StateFiles {
    tree: Arc<dyn Tree>,
    /// How many files and links there are.
    files: u64,
    /// What of the current files is not captured.
    not_captured: Vec<NotCaptured>,
    /// What it should hold and does not.
    missing: Vec<Skipped>,
}
