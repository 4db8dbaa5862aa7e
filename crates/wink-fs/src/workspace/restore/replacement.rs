//! Becoming another state: what is there is kept, and it is written down as an operation.

use std::path::PathBuf;

use crate::error::Result;
use crate::filesystem::capture::Capture;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::filesystem::{Backend, BackendKind, DoneFirst, KeptFirst, Replaced};
use crate::oplog::{DirectoryModeChange, OperationCause, OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::snapshot::{Snapshot, SnapshotOrigin};
use crate::tree::Tree;
use crate::tree::scope::Scope;
use crate::workspace::history::{History, STEP, describe, directory_modes};

/// One way to another state.
pub(crate) struct Restore<'a> {
    pub(crate) history: &'a History,
    pub(crate) target: &'a dyn Tree,
    pub(crate) scope: &'a Scope,
}

/// What was kept before a replacement.
struct BeforeReplacement {
    saved: Snapshot,
    operation: OperationRecord,
}

/// What a replacement is recorded as.
pub(crate) struct Going<'a> {
    pub(crate) name: &'a str,
    /// Where it takes back another operation, or does it again: which one, and the paths that are left alone.
    pub(crate) step: Option<(OperationCause, Vec<TreePath>)>,
    /// Whether what is saved before such a step stays as long as what is saved before any other replacement.
    pub(crate) is_kept_for_good: bool,
}

impl<'a> Going<'a> {
    /// Names one that is an operation of its own.
    pub(crate) fn to(name: &'a str) -> Self {
        Self { name, step: None, is_kept_for_good: true }
    }
}

/// What a replacement did.
pub(crate) struct Done<'a> {
    pub(crate) plan: ReplacePlan<'a>,
    pub(crate) counts: Replaced,
    pub(crate) saved: Option<Snapshot>,
    pub(crate) changes: Vec<OperationChange>,
    /// The number of the operation, if anything changed.
    pub(crate) sequence: Option<u64>,
}

impl<'a> Restore<'a> {
    /// Saves what is there, replaces it by the target, and records that as an operation.
    ///
    /// It fails if the files have changed since they were captured.
    pub(crate) fn replace(
        &self,
        backend: &mut dyn Backend,
        plan: ReplacePlan<'a>,
        going: &Going<'_>,
    ) -> Result<Done<'a>> {
        let changes = self.describe(&plan)?;
        let modes = directory_modes(&plan.differences, &*plan.before.tree)?;
        // Counted before anything changes: an error afterwards would be taken for a failure.
        plan.removed()?;
        plan.added()?;
        let kind = backend.properties().backend;
        let mut kept = None;
        let replaced = self.replace_counted(backend, &plan, &mut || {
            if plan.is_empty() {
                return Ok(None);
            }
            let (before, aside) = self.keep(kind, &plan.before, going, (&changes, &modes))?;
            let tree = self.history.snapshots.load(&before.saved.id)?;
            kept = Some(before);
            Ok(Some(KeptFirst { tree, aside }))
        });
        let counts = replaced.inspect_err(|_| {
            if let Some(kept) = &kept {
                self.history.forget_if_undone(&*backend.live(), &kept.operation);
            }
        })?;
        let sequence = kept.as_ref().map(|kept| kept.operation.sequence);
        let saved = kept.map(|kept| self.settle(backend, &plan.before, kept, going));
        Ok(Done { plan, counts, saved, changes, sequence })
    }

    /// Carries out the plan, and counts the files it writes if the caller asked for progress.
    fn replace_counted(
        &self,
        backend: &mut dyn Backend,
        plan: &ReplacePlan<'_>,
        first: DoneFirst<'_>,
    ) -> Result<Replaced> {
        let Some(progress) = &self.history.progress else { return backend.replace_by(plan, first) };
        progress.begin(plan.added()?.iter().sum(), 0);
        let target = progress.counted(plan.target);
        backend.replace_by(&plan.with_target(&target), first)
    }

    /// Keeps what is there, and writes down what is about to be done to it; returns also where what is displaced may be
    /// kept.
    fn keep(
        &self,
        backend: BackendKind,
        before: &Capture,
        going: &Going<'_>,
        changes: (&[OperationChange], &[DirectoryModeChange]),
    ) -> Result<(BeforeReplacement, PathBuf)> {
        let asked_by = if going.is_kept_for_good { SnapshotOrigin::default() } else { STEP };
        let saved = self.history.save_before(backend, before, asked_by)?;
        let (operation, place) = self.write_down(going, &saved, changes)?;
        Ok((BeforeReplacement { saved, operation }, place))
    }

    /// Records that it was done.
    ///
    /// The files are replaced, and the record is written: if it cannot get its final name now, the next call recovers
    /// it.
    fn settle(
        &self,
        backend: &mut dyn Backend,
        before: &Capture,
        kept: BeforeReplacement,
        going: &Going<'_>,
    ) -> Snapshot {
        let step_of = kept.operation.cause.step_of();
        self.history.tidy(going.name, || {
            self.history.append(kept.operation, None)?;
            match step_of.filter(|_| !going.is_kept_for_good) {
                None => self.history.settle(backend, before, &kept.saved),
                Some(of) => {
                    self.history.forget_earlier_steps(of, kept.saved.id)?;
                    self.history.fit(&self.history.retention, SnapshotOrigin::Agent).map(drop)
                }
            }
        });
        kept.saved
    }

    fn write_down(
        &self,
        going: &Going<'_>,
        saved: &Snapshot,
        (changes, modes): (&[OperationChange], &[DirectoryModeChange]),
    ) -> Result<(OperationRecord, PathBuf)> {
        let (sequence, place) = self.history.oplog.next()?;
        let (cause, left_alone) = match &going.step {
            None => (OperationCause::Replacement { saved: saved.id }, Vec::new()),
            Some((cause, left_alone)) => (*cause, left_alone.clone()),
        };
        let mut operation = self.history.operation(sequence, going.name, cause, changes.to_vec());
        operation.left_alone = left_alone;
        operation.modes = modes.to_vec();
        operation.saved = going.step.as_ref().map(|_| saved.id);
        Ok((self.history.prepare_record(operation)?, place))
    }

    pub(crate) fn describe(&self, plan: &ReplacePlan<'_>) -> Result<Vec<OperationChange>> {
        describe(&plan.differences, self.target)
    }
}
