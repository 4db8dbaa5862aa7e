//! Which snapshots stay, and how much space they may take.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::History;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::snapshot::{
    Choose, FORKS, GONE, Retention, Snapshot, SnapshotCause, SnapshotId, SnapshotOrigin,
};

impl History {
    /// Returns the snapshots that are not to be kept.
    pub(crate) fn expiring(&self, retention: &Retention) -> Result<Vec<Snapshot>> {
        let mut all = self.snapshots.list()?;
        let (going, head) =
            (retention.expired(&all, &self.snapshots.pins()?, self.clock.now()), self.head()?);
        all.retain(|it| going.contains(&it.id) && Some(it.id) != head);
        Ok(all)
    }

    /// Forgets the snapshots that are not to be kept.
    pub(crate) fn expire(&self, retention: &Retention) -> Result<Vec<Snapshot>> {
        if self.expiring(retention)?.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.clock.now();
        self.forget(&|all, pins| retention.expired(all, pins, now))
    }

    /// Deletes expired snapshots of this fork and of deleted forks. Other forks apply their own retention.
    fn expire_like(&self, taken: &Snapshot) -> Result<Vec<Snapshot>> {
        let now = self.clock.now();
        let is_ours = |it: &&Snapshot| it.fork == taken.fork || it.fork.as_deref() == Some(GONE);
        self.forget(&|all, pins| {
            let ours: Vec<_> = all.iter().filter(is_ours).cloned().collect();
            self.retention.expired(&ours, pins, now)
        })
    }

    /// Forgets some snapshots, but never the one that the files grew from.
    fn forget(&self, choose: Choose<'_>) -> Result<Vec<Snapshot>> {
        let head = self.head()?;
        let gone = self.snapshots.forget(&|all, pins| {
            let chosen = choose(all, pins).into_iter();
            chosen.filter(|id| Some(*id) != head).collect()
        })?;
        if !gone.is_empty() {
            self.tell_pruned(gone.iter().map(|it| it.id).collect());
        }
        Ok(gone)
    }

    /// Applies retention and the quota after a snapshot. Deletes the new snapshot if it does not fit. Returns the
    /// pruned snapshots.
    pub(crate) fn make_room(&self, taken: &Snapshot) -> Result<Vec<SnapshotId>> {
        let mut gone = Vec::new();
        // The snapshot is stored, so errors here are ignored: the next snapshot tries again, and `prune` reports
        // them.
        if self.retention.limits_requested()
            && (!self.is_of_this_fork(taken) || self.may_exceed_limit())
        {
            gone.extend(self.expire_like(taken).unwrap_or_default());
            let _ = self.update_room();
        }
        if self.snapshots.is_fragmented().unwrap_or(false) {
            let _ = self.snapshots.reclaim();
        }
        let fitted = self.fit(&self.retention, taken.asked_by).and_then(|fitted| {
            if fitted.fits {
                Ok(fitted.gone)
            } else {
                Err(full(self.retention.max_bytes.unwrap_or_default()))
            }
        });
        if fitted.is_err() {
            self.snapshots.delete(&taken.id)?;
            let _ = self.snapshots.reclaim();
        }
        gone.extend(fitted?);
        Ok(gone.into_iter().map(|it| it.id).collect())
    }

    /// Returns whether the count limit may be exceeded. Each fork applies its own limit.
    fn may_exceed_limit(&self) -> bool {
        let less = |room: usize| room.checked_sub(1);
        self.retention.max_age.is_some()
            || self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
    }

    /// Counts how many more snapshots fit the count limit.
    fn update_room(&self) -> Result<()> {
        let all = self.snapshots.list()?;
        let ours = all.iter().filter(|it| self.is_of_this_fork(it));
        let mut counts: BTreeMap<SnapshotOrigin, usize> = BTreeMap::new();
        ours.filter_map(|it| self.retention.counts(it))
            .for_each(|by| *counts.entry(by).or_default() += 1);
        // The next snapshot may be taken for the requester that has the most already.
        let counted = counts.into_values().max().unwrap_or_default();
        let room = self.retention.max_count.unwrap_or_default().saturating_sub(counted);
        self.room.store(room, Ordering::Relaxed);
        Ok(())
    }

    /// Prunes until the history fits its quota; [`Fitted::fits`] is false if it cannot.
    ///
    /// Safety snapshots go first, then the pre-images of operations, then other snapshots. Snapshots of other
    /// workspaces that share the history, which may have another quota, stay.
    pub(crate) fn fit(&self, retention: &Retention, for_whom: SnapshotOrigin) -> Result<Fitted> {
        let mut gone = Vec::new();
        let Some(max) = retention.max_bytes else { return Ok(Fitted { gone, fits: true }) };
        let mut used = self.snapshots.usage()?;
        if used.bytes > max {
            self.snapshots.reclaim()?;
            used = self.snapshots.usage()?;
        }
        let mut operations_are_kept = true;
        while used.bytes > max {
            let now = self.clock.now();
            let next = self.forget(&|all, pins| {
                let ours: Vec<_> = all.iter().filter(|it| self.is_ours(it)).cloned().collect();
                next_to_go(&ours, retention.expendable(&ours, pins, now, for_whom))
            })?;
            let only_safety = next.iter().all(|it| it.cause == SnapshotCause::Safety);
            if next.is_empty() && !operations_are_kept {
                return Ok(Fitted { gone, fits: false });
            }
            if only_safety && operations_are_kept {
                self.oplog.forget_all()?;
                operations_are_kept = false;
            }
            gone.extend(next);
            self.snapshots.reclaim()?;
            used = self.snapshots.usage()?;
        }
        Ok(Fitted { gone, fits: true })
    }

    /// Returns whether a snapshot is of this workspace, or of none.
    fn is_ours(&self, snapshot: &Snapshot) -> bool {
        matches!(snapshot.fork.as_deref(), Some(GONE | FORKS)) || self.is_of_this_fork(snapshot)
    }
}

/// The result of [`History::fit`].
pub(crate) struct Fitted {
    /// The pruned snapshots.
    pub(crate) gone: Vec<Snapshot>,
    fits: bool,
}

/// Chooses all safety snapshots, or a quarter of the other snapshots.
fn next_to_go(all: &[Snapshot], mut order: Vec<SnapshotId>) -> Vec<SnapshotId> {
    let is_safety =
        |id: &SnapshotId| all.iter().any(|it| it.id == *id && it.cause == SnapshotCause::Safety);
    let safety = order.iter().take_while(|id| is_safety(id)).count();
    // Of each kind by itself: a person's snapshot goes only when nothing of an agent is left to go.
    let kind = |id: &SnapshotId| {
        let found = all.iter().find(|it| it.id == *id);
        found.map(|it| (it.asked_by == SnapshotOrigin::User, it.tag.is_some()))
    };
    let alike = order.iter().take_while(|id| kind(id) == kind(&order[0])).count();
    let count = if safety > 0 { safety } else { alike.div_ceil(4) };
    order.truncate(count);
    order
}

fn full(max: u64) -> Error {
    Error::new(Operation::Snapshot, ErrorKind::NoSpace).with_detail(format!(
        "the history may take {max} bytes and nothing in it may go; \
         allow more, keep fewer snapshots, or delete some that have a tag"
    ))
}
