//! Keeping states of a workspace, and looking at them.

use std::sync::Arc;

use super::History;
use super::state_ref::StateRef;
use crate::diff::{Diff, DiffOptions, diff_of};
use crate::error::{Operation, Result};
use crate::filesystem::capture::NotCaptured;
use crate::filesystem::event::Event;
use crate::path::TreePath;
use crate::search::{self, GrepOptions, StatesResult};
use crate::snapshot::{NewSnapshot, Snapshot, SnapshotId, SnapshotOrigin, SnapshotStore};
use crate::tree::Tree;
use crate::tree::scope::Scope;
use crate::workspace::Workspace;

/// Says what is known of a snapshot when it is asked for.
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

impl Workspace {
    /// Keeps the files as they are now, under a name that no other snapshot has.
    pub fn snapshot(&self, tag: &str) -> Result<Snapshot> {
        self.snapshot_with(&SnapshotOptions::default().tag(tag))
    }

    /// Keeps the files as they are now.
    pub fn snapshot_with(&self, options: &SnapshotOptions) -> Result<Snapshot> {
        let history = self.history(Operation::Snapshot)?;
        self.take(history, &history.asked_for(options))
    }

    /// Does the same, and returns also the snapshots that are gone to make room for it.
    ///
    /// ```
    /// use wink_fs::{Retention, SnapshotOptions, Workspace};
    ///
    /// let files = Workspace::builder(wink_fs::MemoryBackend::new());
    /// let files = files.retention(Retention::default().max_count(2)).build();
    /// let (first, gone) = files.snapshot_making_room(&SnapshotOptions::default())?;
    /// assert!(gone.is_empty());
    /// files.snapshot_with(&SnapshotOptions::default())?;
    /// let (_, gone) = files.snapshot_making_room(&SnapshotOptions::default())?;
    /// assert_eq!(gone, [first.id]);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn snapshot_making_room(
        &self,
        options: &SnapshotOptions,
    ) -> Result<(Snapshot, Vec<SnapshotId>)> {
        let history = self.history(Operation::Snapshot)?;
        self.take_making_room(history, &history.asked_for(options))
    }

    /// Keeps the files as they are now, unless the snapshot that was taken or restored last holds the very
    /// same: who keeps them unasked pushes no other snapshot out for nothing.
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

    /// Says that a snapshot is the last one now.
    fn took(&self, history: &History, snapshot: &Snapshot) -> Result<()> {
        history.set_head(snapshot.id)?;
        self.0.observers.tell(&Event::SnapshotTaken { id: snapshot.id });
        Ok(())
    }

    /// Returns the snapshots, oldest first.
    pub fn snapshots(&self) -> Result<Vec<Snapshot>> {
        self.history(Operation::List)?.snapshots.list()
    }

    /// Finds a snapshot by its tag, its id, the beginning of its id, or another
    /// [name of a state](crate::StateName).
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let (one, two) = (files.snapshot("one")?, files.snapshot("two")?);
    /// for (name, expected) in [("one", &one), (&*one.id.short(), &one), ("@-", &two), ("@-2", &one)] {
    ///     assert_eq!(files.find_snapshot(name)?.id, expected.id);
    /// }
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn find_snapshot(&self, name: &str) -> Result<Snapshot> {
        self.history(Operation::Restore)?.find(name)
    }

    /// Returns the snapshots that the files of now grew from, the last one first.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let (one, two) = (files.snapshot("one")?, files.snapshot("two")?);
    /// assert_eq!(files.line()?, [two, one]);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn line(&self) -> Result<Vec<Snapshot>> {
        self.history(Operation::List)?.line()
    }

    /// Gives a snapshot a tag that no other one has, or takes its tag away.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let taken = files.snapshot_with(&Default::default())?;
    /// files.tag(&taken.id.to_string(), Some("before-refactor"))?;
    /// assert_eq!(files.find_snapshot("before-refactor")?.id, taken.id);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn tag(&self, name: &str, tag: Option<&str>) -> Result<Snapshot> {
        let history = self.history(Operation::Snapshot)?;
        history.snapshots.set_tag(&history.find(name)?.id, tag)
    }

    /// Returns the snapshot that was taken or restored last.
    pub fn current_snapshot_id(&self) -> Result<Option<SnapshotId>> {
        self.history(Operation::Snapshot)?.head()
    }

    /// Returns the same without reading the disk, for a caller that asks often.
    ///
    /// What other processes take and restore is known from the next snapshot on that this one takes, or
    /// asks for.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// assert_eq!(files.known_snapshot_id(), None);
    /// let taken = files.snapshot("first")?;
    /// assert_eq!(files.known_snapshot_id(), Some(taken.id));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn known_snapshot_id(&self) -> Option<SnapshotId> {
        self.0.history.as_ref().and_then(History::known_head)
    }

    /// Returns what keeps the snapshots, to verify them for example.
    pub fn snapshot_store(&self) -> Result<Arc<dyn SnapshotStore>> {
        Ok(self.history(Operation::Snapshot)?.snapshots.clone())
    }

    /// Returns the files of a snapshot, or those of now at each look.
    pub fn tree_at(&self, at: impl Into<StateRef>) -> Result<Arc<dyn Tree>> {
        match at.into() {
            StateRef::Live => Ok(self.tree()),
            StateRef::Snapshot(name) => {
                let history = self.history(Operation::Restore)?;
                history.snapshots.load(&history.find(&name)?.id)
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

    /// Compares two states in a given way.
    pub fn diff_with(
        &self,
        base: impl Into<StateRef>,
        target: impl Into<StateRef>,
        options: &DiffOptions,
    ) -> Result<Diff> {
        Ok(self.diff_with_lines_of(base, target, options, |_| Vec::new())?.0)
    }

    /// Compares two states in a given way, and once more, with lines, at some paths that are chosen of those
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
        let (base, _, before) = self.look(history, base.into())?;
        let (target, files, after) = self.look(history, target.into())?;
        let compare = |options: DiffOptions| {
            let scope = options.scope.clone().excluding(history.excluded.known());
            diff_of(&*base, &*target, files, &options.scope(scope))
                .map_err(|error| error.during(Operation::Diff))
        };
        let not_captured = if after.is_empty() { before } else { after };
        let all = Diff { not_captured, ..compare(options.clone())? };
        let lines = match chosen(&all) {
            paths if paths.is_empty() => Diff::default(),
            paths => compare(DiffOptions::default().hunks(true).scope(Scope::paths(paths)))?,
        };
        Ok((all, lines))
    }

    /// Returns a state with the number of its files and links.
    pub(crate) fn state(&self, history: &History, at: StateRef) -> Result<(Arc<dyn Tree>, u64)> {
        let (tree, files, _) = self.look(history, at)?;
        Ok((tree, files))
    }

    /// Returns the same, with what of the files of now is not in it.
    fn look(
        &self,
        history: &History,
        at: StateRef,
    ) -> Result<(Arc<dyn Tree>, u64, Vec<NotCaptured>)> {
        match at {
            StateRef::Live => {
                let mut writer = self.turn()?;
                history.excluded.ask()?;
                let capture = self.backend(&mut writer).capture(&history.excluded.known())?;
                Ok((capture.tree, capture.totals.files, capture.not_captured))
            }
            StateRef::Snapshot(name) => {
                let snapshot = history.find(&name)?;
                Ok((history.snapshots.load(&snapshot.id)?, snapshot.file_count, Vec::new()))
            }
        }
    }
}
