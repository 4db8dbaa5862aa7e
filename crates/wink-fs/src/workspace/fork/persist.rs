//! The files of a fork where it was made: kept, or only compared and tried.

use std::sync::Arc;

use crate::diff::{Diff, DiffOptions, diff};
use crate::error::{Operation, Result};
use crate::filesystem::capture::Capture;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::memory::MemoryBackend;
use crate::merge::KeptMerge;
use crate::snapshot::{FORKS, NewSnapshot, Snapshot, SnapshotId};
use crate::tree::Tree;
use crate::tree::compare::compare;
use crate::tree::scope::{Exclusions, Scope};
use crate::workspace::restore::replacement::Restore;
use crate::workspace::{Receipt, RestoreOptions, Workspace};

/// Files that are kept for a fork.
struct Keeping<'a> {
    files: &'a Workspace,
    parent: Option<SnapshotId>,
    message: &'a str,
}

impl Workspace {
    /// Takes a snapshot of a fork's files here, for when the fork is gone; none if all that was done
    /// in it is here already.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let attempt = files.fork(&files.snapshot("start")?)?;
    /// assert!(files.keep_fork(&attempt, "attempt")?.is_none());
    /// attempt.write("a.txt", "tried")?;
    /// let kept = files.keep_fork(&attempt, "attempt")?.unwrap();
    /// assert_eq!(files.diff(&kept, wink_fs::StateRef::Live)?.deleted.len(), 1);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn keep_fork(&self, fork: &Self, message: &str) -> Result<Option<Snapshot>> {
        let base = fork.origin(Operation::Snapshot)?.base_for(self)?;
        let keeping = Keeping { files: fork, parent: fork.forked_from(), message };
        let captured = self.capture_fork(fork)?;
        let everything = Scope::everything().excluding(captured.1.clone());
        if compare(&*base, &*captured.0.tree, &everything)?.is_empty() {
            Ok(None)
        } else {
            self.save_fork(&keeping, captured).map(Some)
        }
    }

    /// Takes a snapshot of a fork's files here, even if nothing was changed in it.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// let attempt = files.fork(wink_fs::StateRef::Live)?;
    /// files.write("a.txt", "two")?;
    /// files.restore(&files.snapshot_fork(&attempt, "attempt")?)?;
    /// assert_eq!(files.read("a.txt")?.content, "one");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn snapshot_fork(&self, fork: &Self, message: &str) -> Result<Snapshot> {
        fork.origin(Operation::Snapshot)?;
        let keeping = Keeping { files: fork, parent: fork.forked_from(), message };
        self.save_fork(&keeping, self.capture_fork(fork)?)
    }

    /// Keeps the last state of a fork that was merged here in a snapshot, for merges when the fork is gone;
    /// nothing if no merge of it is in effect.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let attempt = files.fork(&files.snapshot("start")?)?;
    /// attempt.write("a.txt", "tried")?;
    /// assert!(files.keep_last_merge(&attempt, "merged")?.is_none());
    /// files.merge(&attempt)?;
    /// let kept = files.keep_last_merge(&attempt, "merged")?.unwrap();
    /// assert!(files.diff(kept.theirs, wink_fs::StateRef::Live)?.is_empty());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn keep_last_merge(&self, fork: &Self, message: &str) -> Result<Option<KeptMerge>> {
        let last = fork.origin(Operation::Snapshot)?.last_merge(self)?;
        let Some((tree, saved)) = last else { return Ok(None) };
        let theirs = self.keep_tree(&tree, fork.forked_from(), message)?;
        Ok(Some(KeptMerge { theirs, saved }))
    }

    /// Keeps a tree in a snapshot here, as the files of a fork.
    pub(super) fn keep_tree(
        &self,
        tree: &Arc<dyn Tree>,
        parent: Option<SnapshotId>,
        message: &str,
    ) -> Result<SnapshotId> {
        let files = Self::builder(MemoryBackend::over(tree)?).build();
        let keeping = Keeping { files: &files, parent, message };
        Ok(self.save_fork(&keeping, self.capture_fork(&files)?)?.id)
    }

    /// Compares two trees, as of forks, without what is excluded here now.
    ///
    /// ```
    /// use wink_fs::{StateRef, DiffOptions, Exclusions, MemoryBackend, Workspace};
    ///
    /// let files = Workspace::builder(MemoryBackend::new());
    /// let files = files.exclude(Exclusions::parse(["*.log"])?).build();
    /// let attempt = files.fork(StateRef::Live)?;
    /// attempt.write("a.txt", "tried")?;
    /// attempt.write("x.log", "noise")?;
    /// let diff = files.diff_trees(&*files.tree(), &*attempt.tree(), &DiffOptions::default())?;
    /// assert_eq!(diff.added.len(), 1);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn diff_trees(
        &self,
        base: &dyn Tree,
        target: &dyn Tree,
        options: &DiffOptions,
    ) -> Result<Diff> {
        self.heed_exclusions()?;
        let excluded = self.history(Operation::Diff)?.excluded.known();
        let scope = options.scope.clone().excluding(excluded);
        diff(base, target, &options.clone().scope(scope))
    }

    /// Dry run of a restore of a fork's files; no snapshot is taken. The snapshot in the receipt is
    /// the one that the fork was made of.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let attempt = files.fork(&files.snapshot("start")?)?;
    /// attempt.write("a.txt", "tried")?;
    /// let receipt = files.rehearse_restore(&attempt, &Default::default())?;
    /// assert_eq!((receipt.brought_back, files.exists("a.txt")), (1, false));
    /// assert_eq!(files.snapshots()?.len(), 1);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn rehearse_restore(&self, fork: &Self, options: &RestoreOptions) -> Result<Receipt> {
        let origin = fork.origin(Operation::Restore)?.snapshot();
        let history = self.history(Operation::Restore)?;
        let scope = Scope::paths(options.paths.iter().cloned());
        let target = self.state_of(fork)?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let backend = self.backend(&mut writer);
        let live = backend.live();
        history.leaving_out(&*live, || {
            let before = history.capture(backend)?;
            let scope = scope.clone().excluding(history.excluded.in_turn());
            let restore = Restore { history, target: &*target, scope: &scope };
            restore.rehearse(backend, &ReplacePlan::new(before, &*target, &scope)?, origin)
        })
    }

    /// Captures the files of a fork, but for what is excluded here, which it returns too.
    fn capture_fork(&self, fork: &Self) -> Result<(Capture, Exclusions)> {
        self.heed_exclusions()?;
        let excluded = self.history(Operation::Snapshot)?.excluded.known();
        Ok((fork.backend(&mut *fork.turn()?).capture(&excluded)?, excluded))
    }

    fn save_fork(
        &self,
        keeping: &Keeping<'_>,
        (mut capture, mut excluded): (Capture, Exclusions),
    ) -> Result<Snapshot> {
        let Keeping { files, parent, message } = keeping;
        let history = self.history(Operation::Snapshot)?;
        let _exclusive = loop {
            // The files of this workspace are not read, so a fork can be saved even if they are gone.
            let turn = self.turn()?;
            let alone = history.oplog.lock()?;
            // A process that excludes paths and then prunes them from the history holds this lock while it prunes,
            // so the exclusions are read again under it.
            history.excluded.ask()?;
            if history.excluded.known().patterns().eq(excluded.patterns()) {
                break (turn, alone);
            }
            drop((alone, turn));
            (capture, excluded) = self.capture_fork(files)?;
        };
        let mut new = NewSnapshot::new(history.clock.now()).message(*message).fork(FORKS);
        new = new.captured(&capture).backend(files.properties().backend.as_str());
        new.parent = *parent;
        new.excluded = excluded.patterns().map(str::to_owned).collect();
        let kept = history.snapshots.save(&*capture.tree, &new)?;
        history.make_room(&kept)?;
        Ok(kept)
    }
}
