//! Bringing changes in, and taking them out, beside those that were made since.

use std::sync::Arc;

use crate::error::{Operation, Result};
use crate::merge::{MergeOptions, Merged, OnConflict, Sides, three_way};
use crate::snapshot::SnapshotId;
use crate::tree::Tree;
use crate::tree::scope::Scope;
use crate::workspace::restore::replacement::{Going, Restore};
use crate::workspace::{StateRef, Workspace};

impl Workspace {
    /// Brings in what was changed in a fork since it was made, or since it was last brought in here.
    ///
    /// Files that only one side changed are taken as they are; those that both changed are merged by
    /// lines. Where both changed the same, nothing at all is written and the conflicts are named. What
    /// was there before is kept in a snapshot, and [`undo`](Self::undo) takes the merge back.
    pub fn merge(&self, fork: &Self) -> Result<Merged> {
        self.merge_with(fork, &MergeOptions::default())
    }

    /// Brings in what was changed in a fork, in a given way.
    pub fn merge_with(&self, fork: &Self, options: &MergeOptions) -> Result<Merged> {
        let origin = fork.origin(Operation::Merge)?;
        let base = origin.base_for(self)?;
        let theirs = self.state_of(fork)?;
        let merged = self.bring_in(Operation::Merge, &*base, &*theirs, options)?;
        if merged.is_to_be_remembered() {
            origin.merged(self, &*theirs, merged.saved)?;
        }
        Ok(merged)
    }

    /// Returns the last of some merges, oldest first, that is still in effect.
    ///
    /// Each comes with the snapshot that was saved before it. One without, which changed nothing, is in effect
    /// for as long as the one before it.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let start = files.snapshot("start")?;
    /// files.write("a.txt", "one")?;
    /// let saved = files.restore(&start)?.saved;
    /// assert_eq!(files.last_in_effect([(saved, 1), (None, 2)])?, Some(2));
    /// files.undo()?;
    /// assert_eq!(files.last_in_effect([(saved, 1), (None, 2)])?, None);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn last_in_effect<T>(
        &self,
        merges: impl IntoIterator<Item = (Option<SnapshotId>, T)>,
    ) -> Result<Option<T>> {
        let (mut last, mut is_in_effect) = (None, true);
        for (saved, merge) in merges {
            is_in_effect = saved.map_or(Ok(is_in_effect), |saved| self.is_in_effect(saved))?;
            if is_in_effect {
                last = Some(merge);
            }
        }
        Ok(last)
    }

    /// Says what a merge of another workspace would do that grew from a state that is kept here.
    ///
    /// ```
    /// use wink_fs::MergeOptions;
    ///
    /// let files = wink_fs::Workspace::memory();
    /// let start = files.snapshot("start")?;
    /// let other = files.fork(&start)?;
    /// other.write("a.txt", "1")?;
    /// let merged = files.rehearse_merge(&start, &other, &MergeOptions::default())?;
    /// assert_eq!((merged.changes.len(), files.exists("a.txt")), (1, false));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn rehearse_merge(
        &self,
        base: impl Into<StateRef>,
        other: &Self,
        options: &MergeOptions,
    ) -> Result<Merged> {
        let (base, _) = self.state(self.history(Operation::Merge)?, base.into())?;
        let theirs = self.state_of(other)?;
        self.bring_in(Operation::Merge, &*base, &*theirs, &options.clone().dry_run(true))
    }

    /// Returns the files of another workspace as they are now, but for what is excluded here.
    pub(crate) fn state_of(&self, other: &Self) -> Result<Arc<dyn Tree>> {
        let excluded = self.history(Operation::Merge)?.excluded.known();
        Ok(other.backend(&mut *other.turn()?).capture(&excluded)?.tree)
    }

    /// Brings in what changed from one state that is kept to another, as from the beginning of a branch
    /// to its end.
    ///
    /// ```
    /// use wink_fs::MergeOptions;
    ///
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "1")?;
    /// let start = files.snapshot("start")?;
    /// files.write("a.txt", "2")?;
    /// let end = files.snapshot("end")?;
    /// files.restore(&start)?;
    /// files.write("b.txt", "")?;
    ///
    /// files.merge_states(&start, &end, &MergeOptions::default())?;
    /// assert_eq!(files.read("a.txt")?.content, "2");
    /// assert!(files.is_file("b.txt"));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn merge_states(
        &self,
        base: impl Into<StateRef>,
        theirs: impl Into<StateRef>,
        options: &MergeOptions,
    ) -> Result<Merged> {
        self.bring_in_states(Operation::Merge, base.into(), theirs.into(), options)
    }

    /// Takes out what changed from one state to another, and leaves what was done before and since.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one\ntwo\nthree\n")?;
    /// let before = files.snapshot("before")?;
    /// files.write("a.txt", "ONE\ntwo\nthree\n")?;
    /// let after = files.snapshot("after")?;
    /// files.write("a.txt", "ONE\ntwo\nTHREE\n")?;
    ///
    /// assert!(files.revert(&before, &after)?.applied);
    /// assert_eq!(files.read("a.txt")?.content, "one\ntwo\nTHREE\n");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn revert(&self, from: impl Into<StateRef>, to: impl Into<StateRef>) -> Result<Merged> {
        self.revert_with(from, to, &MergeOptions::default())
    }

    /// Takes out what changed from one state to another, in a given way.
    pub fn revert_with(
        &self,
        from: impl Into<StateRef>,
        to: impl Into<StateRef>,
        options: &MergeOptions,
    ) -> Result<Merged> {
        // To go back over the step is to go forward from its end to its beginning.
        self.bring_in_states(Operation::Revert, to.into(), from.into(), options)
    }

    /// Says what taking out would do that which changed from one tree to another, as in forks; nothing is kept
    /// for it.
    ///
    /// ```
    /// use wink_fs::MergeOptions;
    ///
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "1")?;
    /// let attempt = files.fork(wink_fs::StateRef::Live)?;
    /// attempt.write("a.txt", "2")?;
    /// let (from, to) = (attempt.tree(), files.tree());
    /// let reverted = files.rehearse_revert(&*from, &*to, &MergeOptions::default())?;
    /// assert_eq!((reverted.changes.len(), &*files.read("a.txt")?.content), (1, "1"));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn rehearse_revert(
        &self,
        from: &dyn Tree,
        to: &dyn Tree,
        options: &MergeOptions,
    ) -> Result<Merged> {
        self.bring_in(Operation::Revert, to, from, &options.clone().dry_run(true))
    }

    fn bring_in_states(
        &self,
        operation: Operation,
        base: StateRef,
        theirs: StateRef,
        options: &MergeOptions,
    ) -> Result<Merged> {
        let history = self.history(operation)?;
        let (base, _) = self.state(history, base)?;
        let (theirs, _) = self.state(history, theirs)?;
        self.bring_in(operation, &*base, &*theirs, options)
    }

    /// Makes the step from one state to another also here.
    fn bring_in(
        &self,
        operation: Operation,
        base: &dyn Tree,
        theirs: &dyn Tree,
        options: &MergeOptions,
    ) -> Result<Merged> {
        let history = self.history(operation)?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let excluded = history.excluded.known();
        let backend = self.backend(&mut writer);
        let before = backend.capture(&excluded)?;
        let everything = Scope::everything().excluding(excluded.clone());
        let ours = before.tree.clone();
        let sides = Sides { base, ours: &*ours, theirs };
        let (patch, conflicts) = three_way(sides, &everything, options.on_conflict)
            .map_err(|error| error.during(operation))?;
        let scope = patch.scope().excluding(excluded);
        let mut merged = Merged { conflicts, ..Merged::default() };
        if patch.is_empty() {
            let is_stopped = options.on_conflict == OnConflict::Stop;
            merged.applied = !options.dry_run && (merged.conflicts.is_empty() || !is_stopped);
            return Ok(merged);
        }
        let restore = Restore { history, target: &patch, scope: &scope };
        let is_stopped = options.on_conflict == OnConflict::Stop && !merged.conflicts.is_empty();
        if options.dry_run || is_stopped {
            let changes = restore.changes(backend, before);
            merged.changes = changes.map_err(|error| error.during(operation))?;
            return Ok(merged);
        }
        let done = restore.replace_captured(backend, before, &Going::to(&operation.to_string()));
        let done = done.map_err(|error| error.during(operation))?;
        merged.applied = true;
        (merged.changes, merged.saved) = (done.changes, done.saved.map(|saved| saved.id));
        Ok(merged)
    }
}
