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
use crate::filesystem::event::Event;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::oplog::OperationChange;
use crate::path::TreePath;
use crate::snapshot::{Skipped, SnapshotId};
use crate::tree::scope::Scope;

/// The name of the operation.
pub(super) const RESTORE: &str = "restore";

/// Options of a restore.
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
    pub paths: Vec<TreePath>,
    /// Whether to report what would change, and change nothing.
    pub dry_run: bool,
    /// Whether to find the changes by other programs; see [`Receipt::changed_outside`].
    pub report_external: bool,
}

impl RestoreOptions {
    /// Adds a path that is restored.
    #[must_use]
    pub fn path(mut self, path: TreePath) -> Self {
        self.paths.push(path);
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
    /// let receipt = files.restore_with(&before, &RestoreOptions::default().report_external(true))?;
    /// assert_eq!(receipt.written, 2);
    /// assert_eq!(receipt.changed_outside[0].to_string(), "b.txt");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn report_external(mut self, report_external: bool) -> Self {
        self.report_external = report_external;
        self
    }
}

/// The result of a restore, or of its dry run.
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
    /// The snapshot that holds what was there before; none after a dry run or if nothing changed.
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
    /// What was left as it is, of the paths that were asked for: the snapshot should hold it and does not, or it cannot
    /// be read now, or keeps changing, so that it could not be saved before.
    pub missing: Vec<Skipped>,
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
        let snapshot = snapshot.into();
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let snapshot = history.find(&snapshot)?.ok_or_else(already_live)?;
        let backend = self.backend(&mut writer);
        let live = backend.live();
        let restored = history.leaving_out(&*live, || {
            // The store reads its tables meanwhile, which loading needs.
            let before = history.capture(backend)?;
            // What it never held it cannot say anything of. What cannot be saved must not be replaced.
            let excluded = history.excluded.in_turn().and(&snapshot.excluded)?;
            let scope = Scope::paths(options.paths.iter().cloned()).excluding(excluded);
            let target = history.snapshots.load(&snapshot.id)?;
            let restore = Restore { history, target: &*target, scope: &scope };
            let plan = ReplacePlan::new(before, restore.target, restore.scope)?;
            let changed_outside = if options.report_external {
                external_changes::changed_outside(history, &plan)?
            } else {
                Vec::new()
            };
            let mut receipt = if options.dry_run {
                restore.rehearse(backend, &plan, snapshot.id)?
            } else {
                restore.run(backend, plan, snapshot.id)?
            };
            receipt.changed_outside = changed_outside;
            Ok(receipt)
        });
        let mut receipt = restored.map_err(as_restore)?;
        let is_asked_for = |it: &&Skipped| {
            let path = TreePath::parse(&it.path);
            let is_near = |path: &TreePath| {
                let mut asked = options.paths.iter();
                asked.any(|asked| path.starts_with(asked) || asked.starts_with(path))
            };
            options.paths.is_empty() || path.is_ok_and(|path| is_near(&path))
        };
        let left_out: Vec<_> = history.excluded.left_out().iter().map(Skipped::from).collect();
        let is_named = |it: &&Skipped| !snapshot.missing().any(|named| named.path == it.path);
        let left_out = left_out.iter().filter(is_named);
        receipt.missing =
            snapshot.missing().chain(left_out).filter(is_asked_for).cloned().collect();
        receipt.missing.sort();
        if !options.dry_run {
            // Some paths of a snapshot make no workspace that grew from it.
            if options.paths.is_empty() {
                history.tidy(RESTORE, || history.set_head(snapshot.id));
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
        let backend = self.backend(&mut writer);
        let live = backend.live();
        let replaced = history.leaving_out(&*live, || {
            let before = history.capture(backend)?;
            let scope = Scope::everything().excluding(history.excluded.in_turn());
            let restore = Restore { history, target: archive, scope: &scope };
            let plan = ReplacePlan::new(before, archive, &scope)?;
            Ok(restore.replace(backend, plan, &Going::to("import"))?.counts)
        });
        let counts = replaced.map_err(|error| match error.operation() {
            Operation::Replace => error.during(Operation::Import),
            _ => error,
        })?;
        let mut imported = Imported::new(archive, counts);
        imported.missing = history.excluded.left_out().iter().map(Skipped::from).collect();
        Ok(imported)
    }
}

impl<'a> Restore<'a> {
    /// Returns the receipt of a dry run.
    pub(super) fn rehearse(
        &self,
        backend: &dyn Backend,
        plan: &ReplacePlan<'_>,
        snapshot: SnapshotId,
    ) -> Result<Receipt> {
        backend.check_replace(plan)?;
        receipt(snapshot, plan, self.describe(plan)?)
    }

    fn run(
        &self,
        backend: &mut dyn Backend,
        plan: ReplacePlan<'a>,
        snapshot: SnapshotId,
    ) -> Result<Receipt> {
        let done = self.replace(backend, plan, &Going::to(RESTORE))?;
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
    for (&old, &new) in plan.removed()?.iter().zip(plan.added()?) {
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
        missing: Vec::new(),
    })
}

/// Names what was asked for, if a part of it failed.
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
