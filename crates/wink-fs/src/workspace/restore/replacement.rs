//! Becoming another state: what is there is kept, and it is written down as an operation.

use std::path::PathBuf;

use crate::error::Result;
use crate::filesystem::capture::Capture;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::filesystem::{Backend, DoneFirst, KeptFirst, Replaced};
use crate::oplog::{OperationCause, OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::snapshot::{Snapshot, SnapshotOrigin};
use crate::tree::Tree;
use crate::tree::compare::{Difference, count_files};
use crate::tree::scope::Scope;
use crate::workspace::history::{History, STEP, describe, retried};

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
    /// The number of the operation, where anything changed.
    pub(crate) sequence: Option<u64>,
}

impl<'a> Restore<'a> {
    /// Makes a plan that would not be refused.
    pub(crate) fn checked(
        &self,
        backend: &dyn Backend,
        before: Capture,
    ) -> Result<ReplacePlan<'a>> {
        let plan = ReplacePlan::new(before, self.target, self.scope)?;
        backend.check_replace(&plan)?;
        Ok(plan)
    }

    /// Keeps what is there, makes it the target, and writes that down as an operation.
    ///
    /// It is captured again where it changes while it is kept.
    pub(crate) fn replace(
        &self,
        backend: &mut dyn Backend,
        before: Capture,
        going: &Going<'_>,
    ) -> Result<Done<'a>> {
        let mut before = Some(before);
        retried(|| {
            let before = before.take().map_or_else(|| self.history.capture(backend), Ok)?;
            self.replace_captured(backend, before, going)
        })
    }

    /// Does the same once, with what was captured as what is there.
    pub(crate) fn replace_captured(
        &self,
        backend: &mut dyn Backend,
        before: Capture,
        going: &Going<'_>,
    ) -> Result<Done<'a>> {
        let plan = ReplacePlan::new(before, self.target, self.scope)?;
        let changes = self.describe(&plan)?;
        let backend_name = backend.properties().backend;
        let mut kept = None;
        let replaced = self.replace_counted(backend, &plan, &mut || {
            if plan.is_empty() {
                return Ok(None);
            }
            let (before, aside) = self.keep(backend_name, &plan.before, going, &changes)?;
            let tree = self.history.snapshots.load(&before.saved.id)?;
            kept = Some(before);
            Ok(Some(KeptFirst { tree, aside }))
        });
        let counts = replaced.inspect_err(|_| {
            if let Some(kept) = &kept {
                self.history.give_up(&*backend.live(), &kept.operation);
            }
        })?;
        let sequence = kept.as_ref().map(|kept| kept.operation.sequence);
        let settled = kept.map(|kept| self.settle(backend, &plan.before, kept, going));
        let saved = settled.transpose()?;
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
        let expected = |it: &Difference| count_files(plan.target, &it.path, it.after);
        progress.begin(plan.differences.iter().map(expected).sum::<Result<_>>()?, 0);
        let target = progress.counted(plan.target);
        backend.replace_by(&ReplacePlan { target: &target, ..plan.clone() }, first)
    }

    /// Keeps what is there, and writes down what is about to be done to it; returns also where what is displaced may be
    /// kept.
    fn keep(
        &self,
        backend: &'static str,
        before: &Capture,
        going: &Going<'_>,
        changes: &[OperationChange],
    ) -> Result<(BeforeReplacement, PathBuf)> {
        let asked_by = if going.is_kept_for_good { SnapshotOrigin::default() } else { STEP };
        let saved = self.history.save_before(backend, before, asked_by)?;
        let (operation, place) = self.write_down(going, &saved, changes)?;
        Ok((BeforeReplacement { saved, operation }, place))
    }

    /// Says that it was done.
    fn settle(
        &self,
        backend: &mut dyn Backend,
        before: &Capture,
        kept: BeforeReplacement,
        going: &Going<'_>,
    ) -> Result<Snapshot> {
        let step_of = kept.operation.cause.step_of();
        self.history.append(kept.operation, None)?;
        match step_of.filter(|_| !going.is_kept_for_good) {
            None => self.history.settle(backend, before, &kept.saved)?,
            Some(of) => self.history.forget_earlier_steps(of, kept.saved.id)?,
        }
        Ok(kept.saved)
    }

    fn write_down(
        &self,
        going: &Going<'_>,
        saved: &Snapshot,
        changes: &[OperationChange],
    ) -> Result<(OperationRecord, PathBuf)> {
        let (sequence, place) = self.history.oplog.next()?;
        let (cause, left_alone) = match &going.step {
            None => (OperationCause::Replacement { saved: saved.id }, Vec::new()),
            Some((cause, left_alone)) => (*cause, left_alone.clone()),
        };
        let mut operation = self.history.operation(sequence, going.name, cause, changes.to_vec());
        operation.left_alone = left_alone;
        operation.saved = going.step.as_ref().map(|_| saved.id);
        Ok((self.history.prepare_record(operation)?, place))
    }

    /// Says what would change.
    pub(crate) fn changes(
        &self,
        backend: &dyn Backend,
        before: Capture,
    ) -> Result<Vec<OperationChange>> {
        self.describe(&self.checked(backend, before)?)
    }

    pub(crate) fn describe(&self, plan: &ReplacePlan<'_>) -> Result<Vec<OperationChange>> {
        describe(&plan.differences, self.target)
    }
}
