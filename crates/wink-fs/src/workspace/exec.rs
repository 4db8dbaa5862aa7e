//! Programs that change files by themselves.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::Workspace;
use super::history::{History, describe, directory_modes};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::Capture;
use crate::filesystem::event::Event;
use crate::filesystem::{Backend, Filesystem};
use crate::oplog::{OperationCause, OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::snapshot::{Snapshot, SnapshotId, SnapshotOrigin};
use crate::tree::Tree;
use crate::tree::compare::{Difference, compare};
use crate::tree::scope::Scope;

/// Where a program finds the files.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.as_executor("look", |place| {
///     assert!(place.directory.is_none(), "nothing on the host");
///     assert!(place.files.list(&wink_fs::TreePath::root())?.is_empty());
///     Ok::<_, wink_fs::Error>(())
/// })?;
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[non_exhaustive]
pub struct ExecutionPlace<'w> {
    /// The directory of the host that they are in; none if they are in memory.
    pub directory: Option<PathBuf>,
    /// The files themselves.
    pub files: &'w mut dyn Filesystem,
}

impl fmt::Debug for ExecutionPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_directory = self.directory.is_some();
        f.debug_struct("ExecutionPlace").field("has_directory", &has_directory).finish()
    }
}

/// The changes of a program.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// let (_, execution) = files.as_executor("touch", |place| {
///     place.files.create_dir(&wink_fs::TreePath::parse("src")?)
/// })?;
/// let execution = execution.unwrap();
/// assert_eq!(execution.changes.len(), 1);
/// assert!(files.tree_at(execution.saved.unwrap())?.list(&wink_fs::TreePath::root())?.is_empty());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Execution {
    /// What changed, in the order of paths; a directory stands for all that is in it.
    pub changes: Vec<OperationChange>,
    /// The snapshot that holds what was there before; none if nothing changed.
    pub saved: Option<SnapshotId>,
}

/// What was there before a program was run.
struct Before {
    capture: Capture,
    saved: Snapshot,
    tree: Arc<dyn Tree>,
    /// The operation, which is written down without changes until they are known.
    begun: OperationRecord,
}

impl Workspace {
    /// Runs something that changes files by itself, past the calls of the filesystem, as one operation.
    ///
    /// It is the only writer meanwhile; readers go on. A safety snapshot is taken first. If
    /// `work` fails, its changes are rolled back; if it succeeds, [`undo`](Self::undo) can undo them, and they
    /// are returned. If the process dies meanwhile, the changes become an operation when the workspace is opened
    /// next. A workspace without a history does not know the changes and cannot roll them back.
    ///
    /// ```
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let (root, store) = (directory.path().join("root"), directory.path().join("store"));
    /// # std::fs::create_dir(&root).unwrap();
    /// let files = wink_fs::Workspace::host_with_store(&root, wink_fs::Store::create_ambient(store)?)?;
    /// let (_, execution) = files.as_executor("touch", |place| {
    ///     let directory = place.directory.as_ref().unwrap();
    ///     std::process::Command::new("touch").arg("a.txt").current_dir(directory).status().unwrap();
    ///     Ok::<_, wink_fs::Error>(())
    /// })?;
    /// assert_eq!(execution.unwrap().changes[0].path.to_string(), "a.txt");
    /// files.undo()?;
    /// assert!(!files.exists("a.txt"));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn as_executor<T, E: From<Error>>(
        &self,
        name: &str,
        work: impl FnOnce(&mut ExecutionPlace<'_>) -> Result<T, E>,
    ) -> Result<(T, Option<Execution>), E> {
        if self.0.properties.read_only {
            return Err(Error::new(Operation::Write, ErrorKind::ReadOnly).into());
        }
        let mut writer = self.turn()?;
        let Some(history) = &self.0.history else {
            let done = run(self.backend(&mut writer), work)?;
            self.0.observers.tell(&Event::Replaced { paths: vec![TreePath::root()] });
            return Ok((done, None));
        };
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let before = history.before_execution(self.backend(&mut writer), name)?;
        let done = run(self.backend(&mut writer), work);
        let changes = self.record_executed(history, self.backend(&mut writer), &before)?;
        if !changes.is_empty() {
            let paths = changes.iter().map(|change| change.path.clone()).collect();
            self.0.observers.tell(&Event::Replaced { paths });
        }
        let saved = (!changes.is_empty()).then_some(before.saved.id);
        match done {
            Ok(done) => Ok((done, Some(Execution { changes, saved }))),
            Err(error) => {
                // What others saved meanwhile cannot be told from what the program did, so all of it is recorded
                // before it is taken back. Where that fails, the record can still be undone.
                if saved.is_some()
                    && self
                        .undo_at_once(history, &mut writer, before.begun.sequence)
                        .unwrap_or(false)
                {
                    history.forget_unneeded(&before.saved);
                }
                Err(error)
            }
        }
    }

    /// Writes down what changed, so that it can be undone.
    fn record_executed(
        &self,
        history: &History,
        backend: &mut dyn Backend,
        before: &Before,
    ) -> Result<Vec<OperationChange>> {
        let live = self.tree_without_excluded();
        let describe = |differences: &[Difference]| {
            let changes = describe(differences, &*live)?;
            Ok((changes, directory_modes(differences, &*before.tree)?))
        };
        let live_files = backend.live();
        let changes = history.leaving_out(&*live_files, || {
            let after = history.capture(backend)?;
            describe(&compare(&*before.tree, &*after.tree, &history.everything())?)
        });
        let (changes, modes) = match changes {
            // Files change all the time: what they are while they are read has to do.
            Err(error) if error.kind() == ErrorKind::Conflict => {
                describe(&compare(&*before.tree, &*live, &history.everything())?)?
            }
            changes => changes?,
        };
        if changes.is_empty() && modes.is_empty() {
            history.forget_executed(&before.begun, &before.saved);
            return Ok(changes);
        }
        let at = history.clock.now();
        let done = OperationRecord { at, changes: changes.clone(), modes, ..before.begun.clone() };
        history.append_executed(done)?;
        let name = &before.begun.name;
        history.tidy(name, || history.settle(backend, &before.capture, &before.saved));
        Ok(changes)
    }
}

fn run<T, E>(
    backend: &mut dyn Backend,
    work: impl FnOnce(&mut ExecutionPlace<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let directory = backend.directory();
    work(&mut ExecutionPlace { directory, files: backend })
}

impl History {
    fn everything(&self) -> Scope {
        Scope::everything().excluding(self.excluded.in_turn())
    }

    /// Takes a snapshot of all files, because the program about to run cannot be trusted to keep them.
    fn before_execution(&self, backend: &mut dyn Backend, name: &str) -> Result<Before> {
        let kind = backend.properties().backend;
        let live = backend.live();
        let (capture, saved) = self.leaving_out(&*live, || {
            let capture = self.capture(backend)?;
            let saved = self.save_before(kind, &capture, SnapshotOrigin::default())?;
            Ok((capture, saved))
        })?;
        let tree = self.snapshots.load(&saved.id)?;
        let begun = self.begin_execution(name, &saved);
        let begun = begun.inspect_err(|_| self.forget_unneeded(&saved))?;
        Ok(Before { capture, saved, tree, begun })
    }

    /// Records that a program is about to run, for the process that recovers after a crash.
    fn begin_execution(&self, name: &str, saved: &Snapshot) -> Result<OperationRecord> {
        let (sequence, _) = self.oplog.next()?;
        let cause = OperationCause::Replacement { saved: saved.id };
        self.prepare(sequence, name, cause, Vec::new())
    }

    /// Writes down what it changed.
    pub(super) fn append_executed(&self, operation: OperationRecord) -> Result<()> {
        self.oplog.prepare_again(&operation)?;
        self.append(operation, None)
    }

    /// Forgets a run that left nothing changed.
    fn forget_executed(&self, begun: &OperationRecord, saved: &Snapshot) {
        self.oplog.discard(begun.sequence);
        self.forget_unneeded(saved);
    }

    /// Forgets what was kept in vain, so that it takes no place of what undo needs.
    pub(super) fn forget_unneeded(&self, saved: &Snapshot) {
        // One too many does no harm; a later one takes it away.
        if self.snapshots.delete_unpinned(&saved.id, self.clock.now()).is_ok() {
            self.forgot_saved(&saved.id);
        }
    }
}
