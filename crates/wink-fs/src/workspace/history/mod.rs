//! What a workspace remembers: snapshots, operations, and who works in it.

pub(crate) mod exclusions;
pub(crate) mod left_out;
pub(crate) mod operation_trees;
pub(crate) mod prune;
pub(crate) mod quota;
pub(crate) mod repair;
pub(crate) mod snapshot_after;
pub(crate) mod snapshots;
pub(crate) mod state_ref;

use std::collections::VecDeque;
use std::iter::successors;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::history::exclusions::Excluded;
use super::history::state_ref::StateRef;
use super::undo::take_back::Outcome;
use super::{CallOperations, Caller, SnapshotOptions};
use crate::clock::{Clock, SystemClock};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::{BUSY, Capture};
use crate::filesystem::event::{Event, Observers};
use crate::filesystem::{Backend, BackendKind};
use crate::oplog::file::FileOpLog;
use crate::oplog::{
    ContentId, DirectoryModeChange, MemoryOpLog, OpLog, OperationCause, OperationChange,
    OperationRecord, Record, Recorded, Step, check_kinds,
};
use crate::path::TreePath;
use crate::snapshot::{
    MemorySnapshots, NewSnapshot, Retention, Snapshot, SnapshotCause, SnapshotId, SnapshotOrigin,
    SnapshotStore,
};
use crate::store::Store;
use crate::store::disk::Disk;
use crate::tree::compare::{Difference, compare, kind_at};
use crate::tree::filtered::Filtered;
use crate::tree::hash::directory_mode;
use crate::tree::scope::{Exclusions, Scope};
use crate::tree::{FileMode, Kind, Tree};
use crate::util::parallel;
use crate::util::progress::Progress;

/// How often a snapshot is attempted while another program writes.
const TRIES: usize = 3;

/// Who asks for what is saved before an undo or a redo: it counts by itself, so that going to and fro pushes out
/// nothing that undo needs.
pub(super) const STEP: SnapshotOrigin = SnapshotOrigin::Auto;

/// From how many directories on a backend learns also from what is about to be replaced.
const WORTH_LEARNING: u64 = 128;

/// The history of one workspace.
pub(crate) struct History {
    pub(super) snapshots: Arc<dyn SnapshotStore>,
    pub(super) oplog: Box<dyn OpLog>,
    pub(super) excluded: Excluded,
    /// The time of an event; events are ordered by number, whatever the clock says.
    pub(super) clock: Arc<dyn Clock>,
    pub(super) retention: Retention,
    /// Who does what is written down.
    pub(super) actor: Option<String>,
    /// Who does it in this turn, if that is another.
    acting: Mutex<Acting>,
    pub(super) observers: Arc<Observers>,
    /// Where it is counted how far long calls are.
    pub(super) progress: Option<Progress>,
    /// The snapshots of what was replaced, oldest first; none until the first one is taken.
    saved: Mutex<Option<VecDeque<SnapshotId>>>,
    /// How many snapshots can be taken before one may have to go.
    pub(super) room: AtomicUsize,
    /// The snapshot that was taken or restored last, if that was looked up since.
    known_head: Mutex<Option<Option<SnapshotId>>>,
    /// What this process did last, which is where the files are.
    last_done: Mutex<LastDone>,
    /// How many bytes the history would have taken with what the quota refused last.
    refused: AtomicU64,
    /// How many operations were written down by this process.
    recorded: AtomicU64,
}

/// Who writes in this turn.
#[derive(Default)]
struct Acting {
    name: Option<Arc<str>>,
    call: Option<Arc<CallOperations>>,
}

/// What led to the current files.
#[derive(Clone, Copy, Default)]
enum LastDone {
    /// The log was not looked at yet.
    #[default]
    Unknown,
    /// A snapshot was taken or restored.
    Snapshot,
    Operation(u64),
}

impl History {
    /// Makes a history that is gone with the workspace.
    pub(super) fn in_memory() -> Self {
        Self::new(Arc::new(MemorySnapshots::default()), Box::new(MemoryOpLog::default()))
    }

    /// Takes the history that is kept in a store.
    pub(super) fn stored(store: Store) -> Self {
        let oplog = store.oplog();
        Self::new(Arc::new(store), Box::new(oplog))
    }

    /// Takes the history that is kept beside snapshots of any strategy; if they have no place, it is
    /// gone with the workspace.
    pub(super) fn beside(snapshots: Arc<dyn SnapshotStore>) -> Self {
        let oplog: Box<dyn OpLog> = match snapshots.directory() {
            Some(directory) => Box::new(FileOpLog::new(Disk::new(directory))),
            None => Box::new(MemoryOpLog::default()),
        };
        Self::new(snapshots, oplog)
    }

    fn new(snapshots: Arc<dyn SnapshotStore>, oplog: Box<dyn OpLog>) -> Self {
        Self {
            snapshots,
            oplog,
            excluded: Excluded::default(),
            clock: Arc::new(SystemClock),
            retention: Retention::default(),
            actor: None,
            acting: Mutex::default(),
            observers: Arc::default(),
            progress: None,
            saved: Mutex::default(),
            room: AtomicUsize::new(0),
            known_head: Mutex::default(),
            last_done: Mutex::default(),
            refused: AtomicU64::new(0),
            recorded: AtomicU64::new(0),
        }
    }

    /// Describes a snapshot that the caller asks for now.
    pub(super) fn asked_for(&self, options: &SnapshotOptions) -> NewSnapshot {
        let mut new = NewSnapshot::new(self.clock.now());
        (new.tag, new.message) = (options.tag.clone(), options.message.clone());
        new.asked_by = options.asked_by;
        new
    }

    /// Takes a snapshot, and returns also those that are gone for it; tried again if files change while they
    /// are read.
    pub(super) fn snapshot(
        &self,
        backend: &mut dyn Backend,
        new: &NewSnapshot,
    ) -> Result<(Snapshot, Vec<SnapshotId>)> {
        let live = backend.live();
        let taken = self.leaving_out(&*live, || {
            let capture = self.capture(backend)?;
            self.save(backend, &capture, new)
        });
        self.taken(taken)
    }

    /// Takes a snapshot unless the last one holds the very same.
    pub(super) fn snapshot_of_new(
        &self,
        backend: &mut dyn Backend,
        new: &NewSnapshot,
    ) -> Result<Option<Snapshot>> {
        let live = backend.live();
        let taken = self.leaving_out(&*live, || {
            let capture = self.capture(backend)?;
            if self.is_head(&*capture.tree)? {
                Ok(None)
            } else {
                self.save(backend, &capture, new).map(Some)
            }
        });
        taken.transpose().map(|taken| Ok(self.taken(taken)?.0)).transpose()
    }

    /// Returns whether a tree is that of the snapshot that was taken or restored last; one that cannot be read
    /// holds nothing.
    fn is_head(&self, tree: &dyn Tree) -> Result<bool> {
        match self.head()?.map(|head| self.snapshots.load(&head)) {
            Some(Ok(head)) => {
                let left_out = self.excluded.left_out();
                let patterns: Vec<_> =
                    left_out.iter().map(|it| Exclusions::pattern_of(&it.path)).collect();
                let scope = Scope::everything().excluding(Exclusions::parse(patterns)?);
                Ok(compare(&*head, tree, &scope)?.is_empty())
            }
            _ => Ok(false),
        }
    }

    /// Does what is due once a snapshot was taken.
    fn taken(&self, taken: Result<Snapshot>) -> Result<(Snapshot, Vec<SnapshotId>)> {
        let taken = taken.map_err(|error| error.during(Operation::Snapshot))?;
        let gone = self.make_room(&taken).map_err(|error| error.during(Operation::Snapshot))?;
        Ok((taken, gone))
    }

    /// Captures the files; what keeps snapshots gets ready meanwhile.
    ///
    /// What cannot be captured is left out for the rest of the turn, and named in every capture of it.
    pub(super) fn capture(&self, backend: &dyn Backend) -> Result<Capture> {
        let excluded = self.excluded.in_turn();
        let captured = match self.snapshots.preparation() {
            Some(prepare) => parallel::both(|| backend.capture(&excluded), prepare).0,
            None => backend.capture(&excluded),
        };
        let mut capture = captured?;
        if self.leave_out_too_large(&capture)? {
            return self.capture(backend);
        }
        for missing in capture.not_captured.extract_if(.., |it| it.is_missing) {
            self.excluded.leave_out(missing.path, missing.why);
        }
        let left_out = self.excluded.left_out();
        capture.point_in_time &= left_out.iter().all(|it| it.why != BUSY);
        capture.not_captured.extend(left_out);
        capture.not_captured.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(capture)
    }

    /// Keeps what was captured.
    fn save(
        &self,
        backend: &mut dyn Backend,
        capture: &Capture,
        new: &NewSnapshot,
    ) -> Result<Snapshot> {
        let kind = backend.properties().backend;
        let snapshot = match &self.progress {
            None => self.save_unlearnt(kind, capture, &*capture.tree, new)?,
            Some(progress) => {
                progress.begin(0, 0);
                let new = NewSnapshot { progress: Some(progress.clone()), ..new.clone() };
                self.save_unlearnt(kind, capture, &progress.counted(&*capture.tree), &new)?
            }
        };
        if capture.unlearnt > 0 {
            self.teach(backend, capture, &snapshot);
        }
        Ok(snapshot)
    }

    /// Tells the backend what the saved tree knows of what was captured.
    ///
    /// The snapshot is taken: if it cannot be read just now, the backend reads its files again.
    fn teach(&self, backend: &mut dyn Backend, capture: &Capture, saved: &Snapshot) {
        if let Ok(saved) = self.snapshots.load(&saved.id) {
            backend.learn(&*capture.tree, &*saved);
        }
    }

    /// Keeps it, read from a tree that is the same, and tells the backend nothing of what it could learn.
    fn save_unlearnt(
        &self,
        backend: BackendKind,
        capture: &Capture,
        tree: &dyn Tree,
        new: &NewSnapshot,
    ) -> Result<Snapshot> {
        let mut new = new.clone().captured(capture).backend(backend.as_str());
        new.parent = self.head()?;
        new.excluded = self.excluded.in_turn().patterns().map(str::to_owned).collect();
        self.snapshots.save(tree, &new)
    }

    /// Keeps what was captured because it is about to be replaced.
    pub(super) fn save_before(
        &self,
        backend: BackendKind,
        capture: &Capture,
        asked_by: SnapshotOrigin,
    ) -> Result<Snapshot> {
        let mut new = NewSnapshot::new(self.clock.now()).cause(SnapshotCause::Safety);
        new.asked_by = asked_by;
        let saved = self.save_unlearnt(backend, capture, &*capture.tree, &new)?;
        if let Err(error) = self.plan_room(&self.retention, SnapshotOrigin::Agent, false, 0) {
            self.snapshots.delete(&saved.id)?;
            let _ = self.snapshots.reclaim();
            return Err(error);
        }
        Ok(saved)
    }

    /// Runs what follows an operation that is done.
    ///
    /// An error is reported to observers, and the operation does not fail: a caller that tried again would undo or merge
    /// once more.
    pub(super) fn tidy(&self, name: &str, work: impl FnOnce() -> Result<()>) {
        if let Err(error) = work() {
            let name = name.to_owned();
            let reason = error.to_string();
            self.observers.tell(&Event::HousekeepingFailed { name, reason });
        }
    }

    /// Does what can wait until it was replaced.
    pub(super) fn settle(
        &self,
        backend: &mut dyn Backend,
        capture: &Capture,
        saved: &Snapshot,
    ) -> Result<()> {
        if capture.unlearnt > WORTH_LEARNING {
            self.teach(backend, capture, saved);
        }
        self.forget_steps()?;
        self.forget_oldest_saved(saved.id)?;
        // It was planned before anything was replaced, so it fits now. An agent's share only: what was replaced must
        // not evict what a person took.
        self.fit(&self.retention, SnapshotOrigin::Agent).map(drop)
    }

    pub(super) fn forget_oldest_saved(&self, newest: SnapshotId) -> Result<()> {
        let mut known = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = match known.take() {
            Some(mut saved) => {
                saved.push_back(newest);
                saved
            }
            None => self.all_saved()?,
        };
        let too_many = saved.len().saturating_sub(self.retention.max_safety);
        // Known again only once they are gone: after an error, the next one lists them.
        for id in saved.iter().take(too_many) {
            self.forget_saved(*id)?;
        }
        *known = Some(saved.into_iter().skip(too_many).collect());
        Ok(())
    }

    /// Notes that one is gone, which does not count any more.
    pub(super) fn forgot_saved(&self, gone: &SnapshotId) {
        let mut known = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter_mut().for_each(|saved| saved.retain(|id| id != gone));
    }

    /// Forgets it unless it is pinned; then it goes with a later prune.
    fn forget_saved(&self, id: SnapshotId) -> Result<()> {
        if self.snapshots.delete_unpinned(&id, self.clock.now())? {
            self.tell_pruned(vec![id]);
        }
        Ok(())
    }

    pub(super) fn tell_pruned(&self, ids: Vec<SnapshotId>) {
        *self.last_head() = None;
        self.observers.tell(&Event::SnapshotsPruned { ids });
    }

    fn all_saved(&self) -> Result<VecDeque<SnapshotId>> {
        let all = self.snapshots.list()?.into_iter();
        let is_ours = |it: &Snapshot| {
            it.cause == SnapshotCause::Safety && it.asked_by != STEP && self.is_of_this_fork(it)
        };
        Ok(all.filter(is_ours).map(|it| it.id).collect())
    }

    /// Forgets what was saved before earlier steps of an operation: only the last one can be taken back.
    pub(super) fn forget_earlier_steps(&self, of: u64, last: SnapshotId) -> Result<()> {
        let steps = self.oplog.list()?.into_iter().filter(|it| it.cause.step_of() == Some(of));
        let saved = steps.filter_map(|it| it.saved).filter(|id| *id != last);
        self.forget_quietly(saved.collect())
    }

    /// Forgets what was saved before undos: after a new operation none of them can be done again.
    fn forget_steps(&self) -> Result<()> {
        let is_step = |it: &Snapshot| {
            it.cause == SnapshotCause::Safety && it.asked_by == STEP && self.is_of_this_fork(it)
        };
        let steps = self.snapshots.list()?.into_iter().filter(is_step).map(|it| it.id);
        self.forget_quietly(steps.collect())
    }

    /// Forgets what only steps needed, and tells no observer.
    fn forget_quietly(&self, ids: Vec<SnapshotId>) -> Result<()> {
        let now = self.clock.now();
        ids.iter().try_for_each(|id| self.snapshots.delete_unpinned(id, now).map(drop))?;
        *self.last_head() = None;
        Ok(())
    }

    /// Returns whether a snapshot was taken of this workspace, and not of another that shares the history.
    pub(super) fn is_of_this_fork(&self, snapshot: &Snapshot) -> bool {
        snapshot.fork.as_deref() == self.snapshots.fork()
    }

    /// Records what an operation changed and which paths it left alone; returns its number, or nothing if it changed
    /// nothing.
    pub(super) fn record(
        &self,
        sequence: u64,
        name: &str,
        cause: OperationCause,
        left_alone: Vec<TreePath>,
        record: &Record,
        live: &Arc<dyn Tree>,
    ) -> Result<Option<u64>> {
        let changes = self.changes_of(sequence, name, record, live)?;
        if changes.is_empty() {
            return Ok(None);
        }
        let operation = self.operation(sequence, name, cause, changes);
        let operation = self.prepare_record(OperationRecord { left_alone, ..operation })?;
        self.append(operation, Some(record.recorded()))?;
        Ok(Some(sequence))
    }

    /// Says what the changes of a call come to. Where that is nothing, it is no operation, and is forgotten.
    pub(super) fn changes_of(
        &self,
        number: u64,
        name: &str,
        record: &Record,
        live: &Arc<dyn Tree>,
    ) -> Result<Vec<OperationChange>> {
        let recorded = record.recorded();
        let scope = Scope::paths(recorded.paths().cloned());
        let before = recorded.clone().before(live.clone());
        let now = record.put().within(&**live);
        let mut changes = if recorded.steps.is_empty() {
            Vec::new()
        } else {
            describe(&compare(&record.replaced().within(&before), &now, &scope)?, &now)?
        };
        if changes.is_empty() {
            // First: what is written after it, into what was displaced, keeps the operation.
            let unsettled = record.unsettled()?;
            // Other programs may have made it look as if nothing had changed.
            changes = displaced_changes(&recorded, &**live)?;
            if changes.is_empty() {
                self.end_rollback(number, name, unsettled, Outcome::default())?;
            }
        }
        changes.iter_mut().for_each(|it| it.replaced = record.replaced().of(&it.path));
        Ok(changes)
    }

    /// Writes down what is about to be done, so that nothing is done that cannot be written down.
    pub(super) fn prepare(
        &self,
        sequence: u64,
        name: &str,
        cause: OperationCause,
        changes: Vec<OperationChange>,
    ) -> Result<OperationRecord> {
        self.prepare_record(self.operation(sequence, name, cause, changes))
    }

    pub(super) fn prepare_record(&self, operation: OperationRecord) -> Result<OperationRecord> {
        self.oplog.prepare(&operation)?;
        Ok(operation)
    }

    /// Makes the record of an operation that is done now.
    pub(super) fn operation(
        &self,
        sequence: u64,
        name: &str,
        cause: OperationCause,
        changes: Vec<OperationChange>,
    ) -> OperationRecord {
        let name = name.to_owned();
        let acting = self.acting();
        let by = acting.name.as_deref().map(str::to_owned).or_else(|| self.actor.clone());
        // A rollback is not what the call was for: after it, the call has changed nothing.
        let call = acting.call.as_ref().filter(|_| cause != OperationCause::Recovery);
        let call = call.map(|call| call.id().to_owned());
        OperationRecord {
            sequence,
            at: self.clock.now(),
            name,
            cause,
            by,
            call,
            changes,
            left_alone: Vec::new(),
            modes: Vec::new(),
            saved: None,
        }
    }

    /// Says whose turn it is, if that is another than usual, and which call it is for.
    pub(super) fn act_as(&self, caller: &Caller) {
        *self.acting() = Acting { name: caller.name.clone(), call: caller.call.clone() };
    }

    /// Says which call this turn is for; returns which it was.
    pub(super) fn set_call(
        &self,
        call: Option<Arc<CallOperations>>,
    ) -> Option<Arc<CallOperations>> {
        std::mem::replace(&mut self.acting().call, call)
    }

    fn acting(&self) -> MutexGuard<'_, Acting> {
        self.acting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a finished operation.
    pub(super) fn append(
        &self,
        operation: OperationRecord,
        recorded: Option<Recorded>,
    ) -> Result<()> {
        let sequence = operation.sequence;
        let is_of_call = operation.call.is_some();
        self.oplog.append(operation, recorded)?;
        self.recorded.fetch_add(1, Ordering::Relaxed);
        *self.last_done() = LastDone::Operation(sequence);
        if let Some(call) = self.acting().call.as_ref().filter(|_| is_of_call) {
            call.add(sequence);
        }
        Ok(())
    }

    /// Forgets operations that were undone as if they had not been made.
    pub(super) fn forget_operations(&self, numbers: &[u64]) -> Result<()> {
        self.oplog.forget(numbers)?;
        *self.last_done() = LastDone::Unknown;
        if let Some(call) = &self.acting().call {
            call.remove(numbers);
        }
        Ok(())
    }

    /// Returns the state that the files are in, as far as this process knows: the snapshot that was taken or
    /// restored, or the operation that was done since.
    pub(super) fn known_state(&self) -> Option<StateRef> {
        let mut last = self.last_done();
        if let LastDone::Unknown = *last {
            let newest = self.oplog.numbers().ok()?.last().copied();
            *last = newest.map_or(LastDone::Snapshot, LastDone::Operation);
        }
        match *last {
            LastDone::Operation(number) => Some(StateRef::AfterOperation(number)),
            _ => self.known_head().map(StateRef::Snapshot),
        }
    }

    fn last_done(&self) -> MutexGuard<'_, LastDone> {
        self.last_done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many operations this process has written down.
    pub(super) fn recorded(&self) -> u64 {
        self.recorded.load(Ordering::Relaxed)
    }

    /// Returns the changes of an operation with what they displaced; if not all of that is kept, it is Corrupt.
    pub(super) fn recorded_changes(&self, operation: &OperationRecord) -> Result<Recorded> {
        let recorded = self.oplog.recorded(operation.sequence)?;
        check_kinds(operation, &recorded)?;
        Ok(recorded)
    }

    /// Returns the files as they were before an operation, where `after` are the files as it left them.
    pub(super) fn before(
        &self,
        operation: &OperationRecord,
        after: Arc<dyn Tree>,
    ) -> Result<Arc<dyn Tree>> {
        let recorded = match operation.saved() {
            Some(saved) => Recorded::replacement(operation, self.load_saved(operation, &saved)?),
            None => self.recorded_changes(operation)?,
        };
        Ok(Arc::new(recorded.before(after)))
    }

    /// Returns what was there before a replacement: what a program wrote into a file that it still had open when
    /// that was displaced is newer than the snapshot.
    pub(super) fn load_saved(
        &self,
        operation: &OperationRecord,
        saved: &SnapshotId,
    ) -> Result<Arc<dyn Tree>> {
        self.with_written(operation, self.snapshots.load(saved)?)
    }

    /// Returns a state with the files into which a program may have written since a replacement displaced them.
    pub(super) fn with_written(
        &self,
        replacement: &OperationRecord,
        state: Arc<dyn Tree>,
    ) -> Result<Arc<dyn Tree>> {
        Ok(match self.oplog.written(replacement.sequence)? {
            None => state,
            Some(written) => Arc::new(written.before(state)),
        })
    }

    /// Returns a tree as an operation saw it: what replaces all files leaves out what is excluded.
    pub(super) fn seen_by(
        &self,
        operation: &OperationRecord,
        tree: Arc<dyn Tree>,
    ) -> Arc<dyn Tree> {
        match operation.saved() {
            Some(_) => self.without_excluded(tree),
            None => tree,
        }
    }

    pub(super) fn without_excluded(&self, tree: Arc<dyn Tree>) -> Arc<dyn Tree> {
        let excluded = self.excluded.known();
        if excluded.is_empty() { tree } else { Arc::new(Filtered { tree, excluded }) }
    }

    /// Returns the snapshot that was taken or restored last, if it is still there.
    pub(super) fn head(&self) -> Result<Option<SnapshotId>> {
        self.look_up_head(&mut self.last_head())
    }

    /// Like [`head`](Self::head), but read again only if this process has changed it.
    pub(super) fn known_head(&self) -> Option<SnapshotId> {
        let mut known = self.last_head();
        known.unwrap_or_else(|| self.look_up_head(&mut known).ok().flatten())
    }

    fn look_up_head(&self, known: &mut Option<Option<SnapshotId>>) -> Result<Option<SnapshotId>> {
        let head = self.oplog.head()?.filter(|id| self.snapshots.describe(id).is_ok());
        *known = Some(head);
        Ok(head)
    }

    /// After a restore was taken back, says again which snapshot was the last one before it, unless another
    /// was taken since.
    pub(super) fn go_back_to_head_before(&self, undone: &OperationRecord) -> Result<()> {
        let OperationCause::Replacement { saved } = undone.cause else { return Ok(()) };
        let all = self.snapshots.list()?;
        let at = |id: SnapshotId| all.iter().position(|it| it.id == id);
        let Some(saved) = at(saved) else { return Ok(()) };
        let is_newer = self.head()?.and_then(at).is_some_and(|head| head > saved);
        match all[saved].parent.filter(|_| !is_newer) {
            Some(head) => self.set_head(head),
            None => Ok(()),
        }
    }

    /// Returns whether one of some restores, each known by the snapshot that was saved before it, went back to
    /// before another snapshot; if that cannot be told, it may have.
    pub(super) fn went_back_before(
        &self,
        snapshot: SnapshotId,
        restores: &[SnapshotId],
    ) -> Result<bool> {
        let all = self.snapshots.list()?;
        let at = |id: SnapshotId| all.iter().position(|it| it.id == id);
        let first = self.head()?.and_then(at);
        let line: Vec<usize> = successors(first, |it| all[*it].parent.and_then(at)).collect();
        // What was restored is the newest of the line that was there before.
        let target = |saved: &SnapshotId| {
            at(*saved).and_then(|saved| line.iter().copied().find(|it| *it < saved))
        };
        let is_newer = |target: usize| at(snapshot).is_some_and(|snapshot| target > snapshot);
        Ok(!restores.iter().all(|saved| target(saved).is_some_and(is_newer)))
    }

    pub(super) fn set_head(&self, id: SnapshotId) -> Result<()> {
        let mut known = self.last_head();
        *known = None;
        self.oplog.set_head(id)?;
        *self.last_done() = LastDone::Snapshot;
        Ok(())
    }

    fn last_head(&self) -> MutexGuard<'_, Option<Option<SnapshotId>>> {
        self.known_head.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A replacement that met another program's change is not retried here: the caller decides whether to repeat it.
fn is_worth_a_try(error: &Error) -> bool {
    error.kind() == ErrorKind::Conflict && error.operation() != Operation::Replace
}

/// Says where something was displaced, but for what the operation had put there itself, or put there again.
fn displaced_changes(recorded: &Recorded, live: &dyn Tree) -> Result<Vec<OperationChange>> {
    let mut changes = Vec::new();
    for (number, (line, step)) in recorded.steps.iter().enumerate() {
        // Of what moved, a copy is kept that may never be needed.
        let kept = recorded.kept(*line)?.filter(|_| !matches!(step, Step::Move { .. }));
        let Some(kept) = kept else { continue };
        let (path, was) = (step.path(), ContentId::at(&*kept.tree, &kept.at)?);
        let left_by = |steps: &[(usize, Step)]| {
            steps.iter().rev().find_map(|(_, step)| step.left_at(path)).flatten()
        };
        let is_was = |left: Option<ContentId>| {
            left.zip(was.as_ref()).is_some_and(|(left, was)| left.has_content_of(was))
        };
        if is_was(left_by(&recorded.steps[..number])) || is_was(left_by(&recorded.steps)) {
            continue;
        }
        let (before, after) = (kind_at(&*kept.tree, &kept.at)?, kind_at(live, path)?);
        let (left, inside, replaced) = (ContentId::at(live, path)?, Vec::new(), None);
        changes.push(OperationChange { path: path.clone(), before, after, inside, left, replaced });
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes.dedup_by(|a, b| a.path == b.path);
    Ok(changes)
}

/// Words differences as the changes of an operation.
pub(super) fn describe(
    differences: &[Difference],
    left_by_it: &dyn Tree,
) -> Result<Vec<OperationChange>> {
    let change = |it: &Difference| {
        let Difference { path, before, after, mode } = it.clone();
        let left = match (after, mode) {
            (Some(Kind::File), Some(mode)) => Some(ContentId::file(left_by_it, &path, mode)?),
            _ => ContentId::at(left_by_it, &path)?,
        };
        let inside = match (before, after) {
            (None, Some(Kind::Directory)) => inside(left_by_it, &path),
            _ => Vec::new(),
        };
        Ok(OperationChange { path, before, after, inside, left, replaced: None })
    };
    // An undo takes back a directory with everything in it, and so must not name one whose mode alone changed.
    differences.iter().filter(|it| it.directory_mode().is_none()).map(change).collect()
}

/// Returns the directories of which only the mode changed.
pub(super) fn directory_modes(
    differences: &[Difference],
    before: &dyn Tree,
) -> Result<Vec<DirectoryModeChange>> {
    let changed = differences.iter().filter_map(|it| Some((&it.path, it.directory_mode()?)));
    let change = |(path, is): (&TreePath, FileMode)| {
        let was = directory_mode(before, path)?;
        Ok(DirectoryModeChange { path: path.clone(), was, is })
    };
    changed.map(change).collect()
}

/// Returns the first files below a directory; what cannot be listed any more is left out.
pub(super) fn inside(tree: &dyn Tree, directory: &TreePath) -> Vec<TreePath> {
    let (mut found, mut waiting) = (Vec::new(), vec![(directory.clone(), Kind::Directory)]);
    while let Some((path, kind)) =
        waiting.pop().filter(|_| found.len() < OperationChange::MOST_INSIDE)
    {
        if kind != Kind::Directory {
            found.push(path);
            continue;
        }
        let entries = tree.list(&path).unwrap_or_default().into_iter().rev();
        waiting.extend(entries.filter_map(|it| Some((path.join(&it.name).ok()?, it.kind))));
    }
    found
}
