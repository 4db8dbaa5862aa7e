//! Which snapshots stay, and how much space they may take.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::History;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::snapshot::{
    Choose, FORKS, GONE, Retention, Snapshot, SnapshotCause, SnapshotId, SnapshotOrigin,
};

/// How far the clocks of two machines that share a history may be apart.
const CLOCKS_DIFFER: Duration = Duration::from_secs(60);

impl History {
    /// Fails if a snapshot was taken after now: with a clock that runs behind, a person who prunes sees ages that are not
    /// true.
    pub(crate) fn check_clock(&self) -> Result<()> {
        let now = self.clock.now();
        let all = self.snapshots.list()?;
        let Some(later) = all.iter().find(|it| it.created_at > now + CLOCKS_DIFFER) else {
            return Ok(());
        };
        Err(Error::new(Operation::Prune, ErrorKind::Conflict).with_detail(format!(
            "the clock is behind: snapshot {} was taken later than now, so no age is true; set the clock, and try again",
            later.id.short()
        )))
    }

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

    /// Applies retention and the quota after a snapshot. Deletes the new snapshot, and nothing else, if it does not fit.
    /// Returns the pruned snapshots.
    pub(crate) fn make_room(&self, taken: &Snapshot) -> Result<Vec<SnapshotId>> {
        let mut gone = Vec::new();
        let planned = self.plan_room(&self.retention, taken.asked_by, true, 0);
        if let Err(error) = planned {
            self.snapshots.delete(&taken.id)?;
            let _ = self.snapshots.reclaim();
            return Err(error);
        }
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
        gone.extend(self.fit(&self.retention, taken.asked_by)?);
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

    /// Prunes until the history fits its quota, as far as it can; returns the pruned snapshots.
    ///
    /// Safety snapshots go first, then the pre-images of operations, then other snapshots. Snapshots of other
    /// workspaces that share the history, which may have another quota, stay. If all of that would not be enough,
    /// nothing goes.
    pub(crate) fn fit(
        &self,
        retention: &Retention,
        for_whom: SnapshotOrigin,
    ) -> Result<Vec<Snapshot>> {
        let mut gone = Vec::new();
        if !self.exceeds(retention, 0)? {
            return Ok(gone);
        }
        self.snapshots.reclaim()?;
        // What is freed is an estimate, and other processes take snapshots meanwhile.
        while self.exceeds(retention, 0)? {
            let Ok(room) = self.plan_room(retention, for_whom, false, 0) else { break };
            if room.is_empty() {
                break;
            }
            gone.extend(self.forget(&|all, _| {
                let is_there = |id: &&SnapshotId| all.iter().any(|it| it.id == **id);
                room.going.iter().filter(is_there).copied().collect()
            })?);
            if room.forgets_operations {
                // The last replacement stays, which takes next to nothing: what was replaced is in a snapshot.
                let last = self.oplog.list()?.pop().filter(|it| it.saved().is_some());
                let mut numbers = self.oplog.numbers()?;
                numbers.retain(|number| Some(*number) != last.as_ref().map(|it| it.sequence));
                self.oplog.forget(&numbers)?;
            }
            self.snapshots.reclaim()?;
        }
        Ok(gone)
    }

    /// Returns whether the history takes more than it may, or would with some more bytes.
    fn exceeds(&self, retention: &Retention, more: u64) -> Result<bool> {
        let Some(max) = retention.max_bytes else { return Ok(false) };
        Ok(self.snapshots.usage()?.bytes.saturating_add(more) > max)
    }

    /// Returns what has to go so that the history fits its quota, with some more bytes; NoSpace if all that may go is not
    /// enough.
    pub(crate) fn plan_room(
        &self,
        retention: &Retention,
        for_whom: SnapshotOrigin,
        with_expired: bool,
        more: u64,
    ) -> Result<Room> {
        let mut room = Room::default();
        let Some(max) = retention.max_bytes else { return Ok(room) };
        if !self.exceeds(retention, more)? {
            return Ok(room);
        }
        let now = self.clock.now();
        let pins = self.snapshots.pins()?;
        let head = self.head()?;
        let mut all = self.snapshots.list()?;
        if with_expired {
            let expired = self.expiring(retention)?;
            all.retain(|it| !self.is_ours(it) || !expired.iter().any(|gone| gone.id == it.id));
        }
        let operations = self.oplog.bytes()?;
        loop {
            let Some(usage) = self.snapshots.usage_with(&all)? else {
                // What would be freed is not known: find out by freeing it.
                return self.plan_blindly(retention, for_whom, &all, room);
            };
            let freed = if room.forgets_operations { operations } else { 0 };
            let used = usage.bytes.saturating_sub(freed).saturating_add(more);
            if used <= max {
                return Ok(room);
            }
            let ours: Vec<_> = all.iter().filter(|it| self.is_ours(it)).cloned().collect();
            let mut order = retention.expendable(&ours, &pins, now, for_whom);
            order.retain(|id| Some(*id) != head);
            let next = next_to_go(&ours, order);
            let is_safety = |id: &SnapshotId| {
                ours.iter().any(|it| it.id == *id && it.cause == SnapshotCause::Safety)
            };
            if !room.forgets_operations && !next.iter().any(is_safety) {
                room.forgets_operations = true;
            } else if next.is_empty() {
                self.refused.store(used, Ordering::Relaxed);
                return Err(full(max, used));
            } else {
                all.retain(|it| !next.contains(&it.id));
                room.going.extend(next);
            }
        }
    }

    /// Returns the next step where the store does not know what it would free.
    fn plan_blindly(
        &self,
        retention: &Retention,
        for_whom: SnapshotOrigin,
        all: &[Snapshot],
        mut room: Room,
    ) -> Result<Room> {
        let head = self.head()?;
        let ours: Vec<_> = all.iter().filter(|it| self.is_ours(it)).cloned().collect();
        let pins = self.snapshots.pins()?;
        let mut order = retention.expendable(&ours, &pins, self.clock.now(), for_whom);
        order.retain(|id| Some(*id) != head);
        room.going = next_to_go(&ours, order);
        room.forgets_operations = room.going.is_empty() && self.oplog.bytes()? > 0;
        if room.is_empty() {
            let used = self.snapshots.usage()?.bytes;
            self.refused.store(used, Ordering::Relaxed);
            return Err(full(retention.max_bytes.unwrap_or_default(), used));
        }
        Ok(room)
    }

    /// Returns how many bytes the history would have taken with what its quota refused last; none since it was opened
    /// is 0.
    pub(crate) fn refused_bytes(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Returns whether a snapshot is of this workspace, or of none.
    fn is_ours(&self, snapshot: &Snapshot) -> bool {
        matches!(snapshot.fork.as_deref(), Some(GONE | FORKS)) || self.is_of_this_fork(snapshot)
    }
}

/// What has to go to make room.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// The snapshots, in the order in which they go.
    going: Vec<SnapshotId>,
    /// Whether the pre-images of operations go.
    forgets_operations: bool,
}

impl Room {
    /// Returns whether there is room already.
    fn is_empty(&self) -> bool {
        self.going.is_empty() && !self.forgets_operations
    }
}

/// Chooses the older half of the safety snapshots, or a quarter of the other snapshots.
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
    let count = if safety > 0 { safety.div_ceil(2) } else { alike.div_ceil(4) };
    order.truncate(count);
    order
}

fn full(max: u64, needed: u64) -> Error {
    Error::new(Operation::Snapshot, ErrorKind::NoSpace).with_detail(format!(
        "the history may take {max} bytes, and would take {needed}, which nothing that may go makes room for; \
         allow more, keep fewer snapshots, or delete some that have a tag"
    ))
}
