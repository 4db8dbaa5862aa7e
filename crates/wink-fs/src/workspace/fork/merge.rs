//! Bringing changes in, and taking them out, beside those that were made since.

use std::sync::Arc;

use crate::Backend;
use crate::error::{Operation, Result};
use crate::filesystem::replace_plan::ReplacePlan;
use crate::memory::MemoryBackend;
use crate::merge::{MergeOptions, Merged, OnConflict, Sides, three_way};
use crate::snapshot::SnapshotId;
use crate::tree::Tree;
use crate::tree::scope::{Exclusions, Scope};
use crate::workspace::history::History;
use crate::workspace::restore::replacement::{Going, Restore};
use crate::workspace::{StateRef, Workspace};

impl Workspace {
    /// Merges the changes of a fork since it was made, or since it was last merged here.
    ///
    /// Files that only one side changed are taken as they are; those that both changed are merged by
    /// lines. If both changed the same lines, nothing is written and the conflicts are returned. A
    /// safety snapshot is taken first, and [`undo`](Self::undo) undoes the merge.
    pub fn merge(&self, fork: &Self) -> Result<Merged> {
        self.merge_with(fork, &MergeOptions::default())
    }

    /// Merges a fork with options.
    pub fn merge_with(&self, fork: &Self, options: &MergeOptions) -> Result<Merged> {
        let origin = fork.origin(Operation::Merge)?;
        let base = origin.base_for(self)?;
        let theirs = self.state_of(fork)?;
        let merged = self.bring_in(Operation::Merge, &*base, &*theirs, &[], options)?;
        if merged.is_to_be_remembered() {
            origin.merged(self, &*next_base(&*base, &theirs, &merged)?, merged.saved)?;
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

    /// Dry run of a merge with another workspace that started from `base`.
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
        let (base, unknown) = self.kept_state(Operation::Merge, base.into())?;
        let theirs = self.state_of(other)?;
        let options = options.clone().dry_run(true);
        self.bring_in(Operation::Merge, &*base, &*theirs, &unknown, &options)
    }

    /// Returns the files of another workspace as they are now, but for what is excluded here.
    pub(crate) fn state_of(&self, other: &Self) -> Result<Arc<dyn Tree>> {
        let excluded = self.history(Operation::Merge)?.excluded.known();
        Ok(other.backend(&mut *other.turn()?).capture(&excluded)?.tree)
    }

    /// Merges the changes from one state to another, as from the beginning of a fork to its end.
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

    /// Reverts the changes from one state to another, and keeps everything before and after.
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

    /// Reverts the changes from one state to another, with options.
    pub fn revert_with(
        &self,
        from: impl Into<StateRef>,
        to: impl Into<StateRef>,
        options: &MergeOptions,
    ) -> Result<Merged> {
        // To go back over the step is to go forward from its end to its beginning.
        self.bring_in_states(Operation::Revert, to.into(), from.into(), options)
    }

    /// Dry run of [`revert_with`](Self::revert_with) between two trees, as of forks.
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
        self.bring_in(Operation::Revert, to, from, &[], &options.clone().dry_run(true))
    }

    /// Returns the base of the next merge of a state that was merged: the state itself or, if conflicts are
    /// left to resolve, a new snapshot of it that has their paths as they were in the base of this merge.
    ///
    /// ```
    /// use wink_fs::{MergeOptions, OnConflict, StateRef};
    ///
    /// let files = wink_fs::Workspace::memory();
    /// files.write_bytes("a.png", vec![0, 1])?;
    /// let start = files.snapshot("start")?;
    /// files.write_bytes("a.png", vec![0, 2])?;
    /// files.write("b.txt", "b")?;
    /// let theirs = files.snapshot("theirs")?.id;
    /// files.restore(&start)?;
    /// files.write_bytes("a.png", vec![0, 3])?;
    ///
    /// let markers = MergeOptions::default().on_conflict(OnConflict::Markers);
    /// let merged = files.merge_states(&start, theirs, &markers)?;
    /// let base = files.next_merge_base(&start, theirs, &merged)?;
    /// let next = files.diff(base, theirs)?;
    /// assert_eq!(next.modified[0].path.to_string(), "a.png");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn next_merge_base(
        &self,
        base: impl Into<StateRef>,
        theirs: SnapshotId,
        merged: &Merged,
    ) -> Result<SnapshotId> {
        if merged.unresolved().next().is_none() {
            return Ok(theirs);
        }
        let history = self.history(Operation::Merge)?;
        let (base, _) = self.state(history, base.into())?;
        let (tree, _) = self.state(history, theirs.into())?;
        let tree = next_base(&*base, &tree, merged)?;
        self.keep_tree(&tree, Some(theirs), "merged, except for conflicts")
    }

    fn bring_in_states(
        &self,
        operation: Operation,
        base: StateRef,
        theirs: StateRef,
        options: &MergeOptions,
    ) -> Result<Merged> {
        let (base, mut unknown) = self.kept_state(operation, base)?;
        let (theirs, unknown_there) = self.kept_state(operation, theirs)?;
        unknown.extend(unknown_there);
        self.bring_in(operation, &*base, &*theirs, &unknown, options)
    }

    /// Returns the files of a state, and the patterns of what it does not hold although it may have been there: that it
    /// lacks such a file must not delete it.
    fn kept_state(
        &self,
        operation: Operation,
        at: StateRef,
    ) -> Result<(Arc<dyn Tree>, Vec<String>)> {
        let history = self.history(operation)?;
        let unknown = history.find(&at)?.map(|snapshot| snapshot.excluded).unwrap_or_default();
        Ok((self.state(history, at)?.0, unknown))
    }

    /// Makes the step from one state to another also here.
    fn bring_in(
        &self,
        operation: Operation,
        base: &dyn Tree,
        theirs: &dyn Tree,
        unknown: &[String],
        options: &MergeOptions,
    ) -> Result<Merged> {
        let history = self.history(operation)?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let backend = self.backend(&mut writer);
        let live = backend.live();
        let step = Step { operation, base, theirs, unknown, options };
        history.leaving_out(&*live, || step.bring_in(history, backend))
    }
}

/// A step from one state to another, which is to be made somewhere else.
struct Step<'a> {
    operation: Operation,
    base: &'a dyn Tree,
    theirs: &'a dyn Tree,
    unknown: &'a [String],
    options: &'a MergeOptions,
}

impl Step<'_> {
    fn bring_in(&self, history: &History, backend: &mut dyn Backend) -> Result<Merged> {
        let Step { operation, base, theirs, unknown, options } = *self;
        let before = history.capture(backend)?;
        history.check_left_out(base, theirs).map_err(|error| error.during(operation))?;
        let excluded = history.excluded.in_turn().and(unknown)?;
        let everything = Scope::everything().excluding(excluded.clone());
        let ours = before.tree.clone();
        let sides = Sides { base, ours: &*ours, theirs };
        let (patch, conflicts) = three_way(sides, &everything, options.on_conflict)
            .map_err(|error| error.during(operation))?;
        let scope = patch.scope().excluding(excluded);
        let mut merged = Merged { conflicts, ..Merged::default() };
        if patch.is_empty() {
            merged.applied = !options.dry_run
                && (merged.conflicts.is_empty()
                    || merged.conflicts.iter().any(|it| it.is_resolved));
            return Ok(merged);
        }
        let restore = Restore { history, target: &patch, scope: &scope };
        let plan = ReplacePlan::new(before, &patch, &scope);
        let plan = plan.map_err(|error| error.during(operation))?;
        let is_stopped = options.on_conflict == OnConflict::Stop && !merged.conflicts.is_empty();
        if options.dry_run || is_stopped {
            let checked = backend.check_replace(&plan).and_then(|()| restore.describe(&plan));
            merged.changes = checked.map_err(|error| error.during(operation))?;
            return Ok(merged);
        }
        let done = restore.replace(backend, plan, &Going::to(&operation.to_string()));
        let done = done.map_err(|error| error.during(operation))?;
        merged.applied = true;
        (merged.changes, merged.saved) = (done.changes, done.saved.map(|saved| saved.id));
        Ok(merged)
    }
}

/// Returns the state that was merged, with the paths of unresolved conflicts as they were in the merge base: the next
/// merge finds them changed, and nothing else.
fn next_base(base: &dyn Tree, theirs: &Arc<dyn Tree>, merged: &Merged) -> Result<Arc<dyn Tree>> {
    let unresolved: Vec<_> = merged.unresolved().map(|conflict| conflict.path.clone()).collect();
    if unresolved.is_empty() {
        return Ok(theirs.clone());
    }
    let mut next = MemoryBackend::over(theirs)?;
    next.replace(base, &Scope::paths(unresolved))?;
    Ok(next.capture(&Exclusions::default())?.tree)
}
