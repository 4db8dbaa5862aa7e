//! Restoring the files of a snapshot, importing those of an archive: one way to another state (`replacement`),
//! and what other programs changed of what is replaced (`external_changes`).

pub(crate) mod external_changes;
pub(crate) mod replacement;

use super::Workspace;
use super::history::state_ref::StateRef;
use super::restore::replacement::{Going, Restore};
use crate::archive::{self, ArchiveTree, Imported};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Backend;
use crate::filesystem::capture::Capture;
use crate::filesystem::event::Event;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::oplog::OperationChange;
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::tree::compare::{Difference, count_files};
use crate::tree::scope::Scope;

/// The name of the operation.
pub(super) const RESTORE: &str = "restore";

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
    /// Whether it is found out what others changed; see [`Receipt::changed_outside`].
    pub tell_outside: bool,
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

    /// Sets whether it is found out what others changed, which takes a further look.
    ///
    /// ```
    /// use wink_fs::{RestoreOptions, Store, Workspace};
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let (root, place) = (directory.path().join("root"), directory.path().join("store"));
    /// # std::fs::create_dir(&root).unwrap();
    /// let files = Workspace::host_with_store(&root, Store::create_ambient(place)?)?;
    /// files.write("a.txt", "before")?;
    /// files.write("b.txt", "before")?;
    /// let before = files.snapshot("before")?;
    /// files.write("a.txt", "by a call")?;
    /// std::fs::write(root.join("b.txt"), "by an editor").unwrap();
    ///
    /// let receipt = files.restore_with(&before, &RestoreOptions::default().tell_outside(true))?;
    /// assert_eq!(receipt.written, 2);
    /// assert_eq!(receipt.changed_outside[0].to_string(), "b.txt");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn tell_outside(mut self, tell_outside: bool) -> Self {
        self.tell_outside = tell_outside;
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
    /// What was replaced although others than calls of the workspace had changed it since the last snapshot, where
    /// that was asked for; a file in a directory that a call made counts as that call's.
    pub changed_outside: Vec<TreePath>,
}

impl Workspace {
    /// Makes the files those of a snapshot; what is there now is kept in another one.
    pub fn restore(&self, snapshot: impl Into<StateRef>) -> Result<Receipt> {
        self.restore_with(snapshot, &RestoreOptions::default())
    }

    /// Makes the files, or some of them, those of a snapshot.
    pub fn restore_with(
        &self,
        snapshot: impl Into<StateRef>,
        options: &RestoreOptions,
    ) -> Result<Receipt> {
        let history = self.history(Operation::Restore)?;
        let StateRef::Snapshot(name) = snapshot.into() else { return Err(already_live()) };
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
        let changed_outside =
            if options.tell_outside { restore.changed_outside(&before)? } else { Vec::new() };
        let mut receipt = if options.dry_run {
            restore.rehearse(backend, before, snapshot.id)?
        } else {
            restore.run(backend, before, snapshot.id)?
        };
        receipt.changed_outside = changed_outside;
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
        let replaced =
            restore.replace(backend, before, &Going::to("import")).map_err(|error| match error
                .operation()
            {
                Operation::Replace => error.during(Operation::Import),
                _ => error,
            })?;
        Ok(Imported::new(archive, replaced.counts))
    }
}

impl Restore<'_> {
    fn changed_outside(&self, before: &Capture) -> Result<Vec<TreePath>> {
        let plan = ReplacePlan::new(before.clone(), self.target, self.scope)?;
        external_changes::changed_outside(self.history, &plan)
    }

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

    fn run(
        &self,
        backend: &mut dyn Backend,
        before: Capture,
        snapshot: SnapshotId,
    ) -> Result<Receipt> {
        let done = self.replace(backend, before, &Going::to(RESTORE)).map_err(as_restore)?;
        let mut receipt = receipt(snapshot, &done.plan, done.changes)?;
        receipt.saved = done.saved.map(|saved| saved.id);
        Ok(receipt)
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
    Ok(Receipt {
        snapshot,
        saved: None,
        written,
        brought_back,
        removed,
        unchanged,
        changes,
        changed_outside: Vec::new(),
    })
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
