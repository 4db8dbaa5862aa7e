//! Which snapshots stay, and how much space they may take.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use super::History;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::event::Event;
use crate::snapshot::{
    Choose, FORKS, GONE, Pin, Retention, Snapshot, SnapshotCause, SnapshotId, SnapshotOrigin, Usage,
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

    /// Forgets the expired snapshots in the line of the one that was just taken, and in lines that no branch
    /// continues. Other workspaces apply their own retention to their lines.
    fn expire_like(&self, taken: &Snapshot) -> Result<Vec<Snapshot>> {
        let now = self.clock.now();
        let is_ours = |it: &&Snapshot| it.line == taken.line || it.line.as_deref() == Some(GONE);
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

    /// Does what is due after a snapshot was taken, and takes it back where there is no room for it; returns
    /// those that are gone for it.
    pub(crate) fn make_room(&self, taken: &Snapshot) -> Result<Vec<SnapshotId>> {
        let mut gone = Vec::new();
        // It is there: what could not be done now is done after the next one, or told by a prune.
        if self.retention.limits_requested() && (!self.is_of_line(taken) || self.is_look_due()) {
            gone.extend(self.expire_like(taken).unwrap_or_default());
            let _ = self.count();
        }
        if self.snapshots.is_fragmented().unwrap_or(false) {
            let _ = self.snapshots.reclaim();
        }
        let fitted = self.fit(&self.retention).and_then(|fitted| {
            if fitted.fits {
                self.warn(&fitted.used);
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

    /// Tells whether one too many may be there: what others take they look at themselves.
    fn is_look_due(&self) -> bool {
        let less = |room: usize| room.checked_sub(1);
        self.retention.max_age.is_some()
            || self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
    }

    /// Finds out how many more can be taken.
    fn count(&self) -> Result<()> {
        let all = self.snapshots.list()?;
        let ours = all.iter().filter(|it| self.is_of_line(it));
        let mut counts: BTreeMap<SnapshotOrigin, usize> = BTreeMap::new();
        ours.filter_map(|it| self.retention.counts(it))
            .for_each(|by| *counts.entry(by).or_default() += 1);
        // The next snapshot may be taken for the requester that has the most already.
        let counted = counts.into_values().max().unwrap_or_default();
        let room = self.retention.max_count.unwrap_or_default().saturating_sub(counted);
        self.room.store(room, Ordering::Relaxed);
        Ok(())
    }

    /// Takes away what may go until the history takes no more space than it may; tells whether it does.
    ///
    /// First what restores and imports replaced goes, then what operations keep, then other snapshots; those of
    /// other workspaces that share the history, and may have more space to take, stay.
    pub(crate) fn fit(&self, retention: &Retention) -> Result<Fitted> {
        let (mut gone, mut used) = (Vec::new(), Usage::default());
        let Some(max) = retention.max_bytes else { return Ok(Fitted { gone, used, fits: true }) };
        used = self.snapshots.usage()?;
        if used.bytes > max {
            self.snapshots.reclaim()?;
            used = self.snapshots.usage()?;
        }
        let mut operations_are_kept = true;
        while used.bytes > max {
            let now = self.clock.now();
            let next = self.forget(&|all, pins| {
                let ours: Vec<_> = all.iter().filter(|it| self.is_ours(it)).cloned().collect();
                next_to_go(retention, &ours, pins, now)
            })?;
            let only_safety = next.iter().all(|it| it.cause == SnapshotCause::Safety);
            if next.is_empty() && !operations_are_kept {
                return Ok(Fitted { gone, used, fits: false });
            }
            if only_safety && operations_are_kept {
                self.oplog.forget_all()?;
                operations_are_kept = false;
            }
            gone.extend(next);
            self.snapshots.reclaim()?;
            used = self.snapshots.usage()?;
        }
        Ok(Fitted { gone, used, fits: true })
    }

    /// Tells whether a snapshot is of this workspace, or of none.
    fn is_ours(&self, snapshot: &Snapshot) -> bool {
        matches!(snapshot.line.as_deref(), Some(GONE | FORKS)) || self.is_of_line(snapshot)
    }

    /// Warns where nine tenths of the space are taken that may be.
    fn warn(&self, used: &Usage) {
        let Some(max_bytes) = self.retention.max_bytes else { return };
        if used.is_nearly_full(Some(max_bytes)) {
            self.observers.tell(&Event::StoreNearlyFull { bytes: used.bytes, max_bytes });
        }
    }
}

/// What was done so that the history takes no more space than it may.
pub(crate) struct Fitted {
    /// The snapshots that are gone.
    pub(crate) gone: Vec<Snapshot>,
    /// How much it takes now; nothing where that does not matter.
    used: Usage,
    fits: bool,
}

/// Chooses all of what restores and imports replaced, or a quarter of the other snapshots.
fn next_to_go(
    retention: &Retention,
    all: &[Snapshot],
    pins: &[Pin],
    now: SystemTime,
) -> Vec<SnapshotId> {
    let mut order = retention.expendable(all, pins, now);
    let is_safety =
        |id: &SnapshotId| all.iter().any(|it| it.id == *id && it.cause == SnapshotCause::Safety);
    let safety = order.iter().take_while(|id| is_safety(id)).count();
    let count = if safety > 0 { safety } else { order.len().div_ceil(4) };
    order.truncate(count);
    order
}

fn full(max: u64) -> Error {
    Error::new(Operation::Snapshot, ErrorKind::NoSpace).with_detail(format!(
        "the history may take {max} bytes and nothing in it may go; \
         allow more, keep fewer snapshots, or delete some that have a tag"
    ))
}
