//! Keeping states of a workspace, and going back to them.

use std::sync::Arc;

use super::Workspace;
use super::history::{History, describe, retried};
use crate::archive::{self, ArchiveTree, Imported};
use crate::capture::Capture;
use crate::compare::{Difference, count_files};
use crate::diff::{Diff, DiffOptions, diff_of};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::event::Event;
use crate::filesystem::{Backend, DoneFirst, Replaced};
use crate::operation::{OperationCause, OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::replace_plan::ReplacePlan;
use crate::scope::Scope;
use crate::search::{self, GrepOptions, StatesResult};
use crate::snapshot::{NewSnapshot, Snapshot, SnapshotId, SnapshotStore};
use crate::tree::Tree;

/// Says which state is meant: that of now, or that of a snapshot.
///
/// A snapshot is named by its tag, its id, or the beginning of its id.
///
/// ```
/// use wink_fs::{At, Workspace};
///
/// let files = Workspace::memory();
/// let first = files.snapshot("first")?;
/// let second = files.snapshot("second")?;
/// assert!(files.diff("first", &second)?.is_empty());
/// assert!(files.diff(first.id.short().as_str(), At::Live)?.is_empty());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum At {
    /// The files as they are now.
    Live,
    /// The files of a snapshot.
    Snapshot(String),
}

impl From<&str> for At {
    fn from(name: &str) -> Self {
        Self::Snapshot(name.to_owned())
    }
}

impl From<&Snapshot> for At {
    fn from(snapshot: &Snapshot) -> Self {
        snapshot.id.into()
    }
}

impl From<SnapshotId> for At {
    fn from(id: SnapshotId) -> Self {
        Self::Snapshot(id.to_string())
    }
}

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
}

/// Says how far a restore goes.
///
/// ```
/// use wink_fs::{RestoreOptions, Workspace};
///
/// let files = Workspace::memory();
/// let before = files.snapshot("before")?;
/// files.write("a.txt", "")?;
/// let receipt = files.restore_with(&before, &RestoreOptions::default().dry_run(true))?;
/// assert_eq!(receipt.removed, 1);
/// assert!(files.is_file("a.txt"));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct RestoreOptions {
    /// The paths that are restored, each with all that is below it; none means everything.
    pub paths: Vec<String>,
    /// Whether it is only said what would be done.
    pub dry_run: bool,
}

impl RestoreOptions {
    /// Adds a path that is restored.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// Sets whether it is only said what would be done.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

/// Says what a restore did, or would do.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write("changed.txt", "before")?;
/// files.write("deleted.txt", "before")?;
/// let before = files.snapshot("before")?;
/// files.write("changed.txt", "after")?;
/// files.delete("deleted.txt")?;
/// files.write("new.txt", "after")?;
///
/// let receipt = files.restore(&before)?;
/// assert_eq!((receipt.written, receipt.brought_back, receipt.removed), (1, 1, 1));
/// files.undo()?;
/// assert_eq!(files.read("changed.txt")?.content, "after");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Receipt {
    /// The snapshot that was restored.
    pub snapshot: SnapshotId,
    /// The snapshot that holds what was there before; none after a dry run or where nothing changed.
    pub saved: Option<SnapshotId>,
    /// Files and links that were there and are as in the snapshot now.
    pub written: u64,
    /// Files and links that were gone and are there again.
    pub brought_back: u64,
    /// Files and links that are not in the snapshot and are gone now.
    pub removed: u64,
    /// Files and links that were the same already.
    pub unchanged: u64,
    /// What changed, in the order of paths; a directory stands for all that is in it.
    pub changes: Vec<OperationChange>,
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
    pub(super) fn take(&self, history: &History, new: &NewSnapshot) -> Result<Snapshot> {
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let snapshot = history.snapshot(self.backend(&mut writer), new)?;
        self.took(history, &snapshot)?;
        Ok(snapshot)
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

    /// Returns the same without a look at the disk, for whoever asks with every call.
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
    pub fn tree_at(&self, at: impl Into<At>) -> Result<Arc<dyn Tree>> {
        match at.into() {
            At::Live => Ok(self.tree()),
            At::Snapshot(name) => {
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
    pub fn diff(&self, base: impl Into<At>, target: impl Into<At>) -> Result<Diff> {
        self.diff_with(base, target, &DiffOptions::default())
    }

    /// Compares two states in a given way.
    pub fn diff_with(
        &self,
        base: impl Into<At>,
        target: impl Into<At>,
        options: &DiffOptions,
    ) -> Result<Diff> {
        let history = self.history(Operation::Diff)?;
        let (base, _) = self.state(history, base.into())?;
        let (target, files) = self.state(history, target.into())?;
        let scope = options.scope.clone().excluding(history.excluded.known());
        diff_of(&*base, &*target, files, &options.clone().scope(scope))
            .map_err(|error| error.during(Operation::Diff))
    }

    /// Returns a state with the number of its files and links.
    pub(super) fn state(&self, history: &History, at: At) -> Result<(Arc<dyn Tree>, u64)> {
        match at {
            At::Live => {
                let mut writer = self.turn()?;
                history.excluded.ask()?;
                let capture = self.backend(&mut writer).capture(&history.excluded.known())?;
                Ok((capture.tree, capture.totals.files))
            }
            At::Snapshot(name) => {
                let snapshot = history.find(&name)?;
                Ok((history.snapshots.load(&snapshot.id)?, snapshot.file_count))
            }
        }
    }

    /// Makes the files those of a snapshot; what is there now is kept in another one.
    pub fn restore(&self, snapshot: impl Into<At>) -> Result<Receipt> {
        self.restore_with(snapshot, &RestoreOptions::default())
    }

    /// Makes the files, or some of them, those of a snapshot.
    pub fn restore_with(
        &self,
        snapshot: impl Into<At>,
        options: &RestoreOptions,
    ) -> Result<Receipt> {
        let history = self.history(Operation::Restore)?;
        let At::Snapshot(name) = snapshot.into() else { return Err(already_live()) };
        let paths = options.paths.iter().map(|path| self.parse(Operation::Restore, path));
        let scope = Scope::paths(paths.collect::<Result<Vec<_>>>()?);
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let snapshot = history.find(&name)?;
        // What it never held it cannot say anything of.
        let scope = scope.excluding(history.excluded.known().and(&snapshot.excluded)?);
        let backend = self.backend(&mut writer);
        // The store reads its tables meanwhile, which loading needs.
        let before = history.capture(backend)?;
        let target = history.snapshots.load(&snapshot.id)?;
        let restore = Restore { history, target: &*target, scope: &scope };
        let receipt = match options.dry_run {
            true => restore.rehearse(backend, before, snapshot.id)?,
            false => restore.run(backend, before, snapshot.id)?,
        };
        if !options.dry_run {
            // Some paths of a snapshot make no workspace that grew from it.
            if options.paths.is_empty() {
                history.set_head(snapshot.id)?;
            }
            self.0.observers.tell(&Event::Restored { id: snapshot.id });
        }
        Ok(receipt)
    }

    /// Makes the files those of an archive that is open already; what is there now is kept.
    pub fn import(&self, archive: &ArchiveTree) -> Result<Imported> {
        let mut writer = self.turn()?;
        let Some(history) = self.0.history.as_ref().filter(|_| !self.0.properties.read_only) else {
            return archive::import(self.backend(&mut writer), archive);
        };
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let scope = Scope::everything().excluding(history.excluded.known());
        let restore = Restore { history, target: archive, scope: &scope };
        let backend = self.backend(&mut writer);
        let before = history.capture(backend)?;
        let replaced = restore.replace(backend, before, "import").map_err(|error| {
            match error.operation() {
                Operation::Replace => error.during(Operation::Import),
                _ => error,
            }
        })?;
        Ok(Imported::new(archive, replaced.counts))
    }
}

/// One way to another state.
pub(super) struct Restore<'a> {
    pub(super) history: &'a History,
    pub(super) target: &'a dyn Tree,
    pub(super) scope: &'a Scope,
}

/// The name of the operation.
pub(super) const RESTORE: &str = "restore";

/// What was kept before a replacement.
struct Kept {
    saved: Snapshot,
    operation: OperationRecord,
}

/// What a replacement did.
pub(super) struct Done<'a> {
    plan: ReplacePlan<'a>,
    counts: Replaced,
    pub(super) saved: Option<Snapshot>,
    pub(super) changes: Vec<OperationChange>,
}

impl<'a> Restore<'a> {
    /// Says what would be done.
    pub(super) fn rehearse(
        &self,
        backend: &dyn Backend,
        before: Capture,
        snapshot: SnapshotId,
    ) -> Result<Receipt> {
        let plan = self.checked(backend, before).map_err(as_restore)?;
        receipt(snapshot, &plan, self.describe(&plan)?)
    }

    /// Makes a plan that would not be refused.
    fn checked(&self, backend: &dyn Backend, before: Capture) -> Result<ReplacePlan<'a>> {
        let plan = ReplacePlan::new(before, self.target, self.scope)?;
        backend.check_replace(&plan)?;
        Ok(plan)
    }

    fn run(
        &self,
        backend: &mut dyn Backend,
        before: Capture,
        snapshot: SnapshotId,
    ) -> Result<Receipt> {
        let done = self.replace(backend, before, RESTORE).map_err(as_restore)?;
        let mut receipt = receipt(snapshot, &done.plan, done.changes)?;
        receipt.saved = done.saved.map(|saved| saved.id);
        Ok(receipt)
    }

    /// Keeps what is there, makes it the target, and writes that down as an operation.
    ///
    /// It is captured again where it changes while it is kept.
    fn replace(&self, backend: &mut dyn Backend, before: Capture, name: &str) -> Result<Done<'a>> {
        let mut before = Some(before);
        retried(|| {
            let before = before.take().map_or_else(|| self.history.capture(backend), Ok)?;
            self.replace_captured(backend, before, name)
        })
    }

    /// Does the same once, with what was captured as what is there.
    pub(super) fn replace_captured(
        &self,
        backend: &mut dyn Backend,
        before: Capture,
        name: &str,
    ) -> Result<Done<'a>> {
        let plan = ReplacePlan::new(before, self.target, self.scope)?;
        let changes = self.describe(&plan)?;
        let backend_name = backend.properties().backend;
        let mut kept = None;
        let counts = self.replace_counted(backend, &plan, &mut || {
            if !plan.is_empty() {
                kept = Some(self.keep(backend_name, &plan.before, name, &changes)?);
            }
            Ok(())
        })?;
        let saved = kept.map(|kept| self.settle(backend, &plan.before, kept)).transpose()?;
        Ok(Done { plan, counts, saved, changes })
    }

    /// Does what is planned, and counts the files it writes where somebody wants to know.
    fn replace_counted(
        &self,
        backend: &mut dyn Backend,
        plan: &ReplacePlan<'_>,
        first: DoneFirst<'_>,
    ) -> Result<Replaced> {
        let Some(progress) = &self.history.progress else { return backend.replace_by(plan, first) };
        let expected = |it: &Difference| count_files(plan.target, &it.path, it.after);
        progress.begin(plan.differences.iter().map(expected).sum::<Result<_>>()?, 0);
        let target = progress.counted(plan.target);
        backend.replace_by(&ReplacePlan { target: &target, ..plan.clone() }, first)
    }

    /// Keeps what is there, and writes down what is about to be done to it.
    fn keep(
        &self,
        backend: &'static str,
        before: &Capture,
        name: &str,
        changes: &[OperationChange],
    ) -> Result<Kept> {
        let saved = self.history.save_before(backend, before)?;
        let operation = self.write_down(name, &saved, changes)?;
        Ok(Kept { saved, operation })
    }

    /// Says that it was done.
    fn settle(&self, backend: &mut dyn Backend, before: &Capture, kept: Kept) -> Result<Snapshot> {
        self.history.append(kept.operation, None)?;
        self.history.settle(backend, before, &kept.saved)?;
        Ok(kept.saved)
    }

    fn write_down(
        &self,
        name: &str,
        saved: &Snapshot,
        changes: &[OperationChange],
    ) -> Result<OperationRecord> {
        let (sequence, _) = self.history.ledger.next()?;
        let cause = OperationCause::Replacement { saved: saved.id };
        self.history.prepare(sequence, name, cause, changes.to_vec())
    }

    /// Says what would change.
    pub(super) fn changes(
        &self,
        backend: &dyn Backend,
        before: Capture,
    ) -> Result<Vec<OperationChange>> {
        self.describe(&self.checked(backend, before)?)
    }

    fn describe(&self, plan: &ReplacePlan<'_>) -> Result<Vec<OperationChange>> {
        describe(&plan.differences, self.target)
    }
}

fn receipt(
    snapshot: SnapshotId,
    plan: &ReplacePlan<'_>,
    changes: Vec<OperationChange>,
) -> Result<Receipt> {
    let (mut written, mut brought_back, mut removed, mut gone) = (0, 0, 0, 0);
    for Difference { path, before: was, after, .. } in &plan.differences {
        let old = count_files(&*plan.before.tree, path, *was)?;
        let new = count_files(plan.target, path, *after)?;
        written += old.min(new);
        brought_back += new.saturating_sub(old);
        removed += old.saturating_sub(new);
        gone += old;
    }
    let unchanged = plan.before.totals.files - gone;
    let saved = None;
    Ok(Receipt { snapshot, saved, written, brought_back, removed, unchanged, changes })
}

/// Names what was asked for, where a part of it failed.
fn as_restore(error: Error) -> Error {
    match error.operation() {
        Operation::Replace => error.during(Operation::Restore),
        _ => error,
    }
}

fn already_live() -> Error {
    Error::new(Operation::Restore, ErrorKind::InvalidArgument)
        .with_detail("the files are as they are now already; name a snapshot")
}
