//! Which snapshots are kept, and which go.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use super::id::SnapshotId;
use super::pin::{Pin, is_pinned};
use super::value::{Snapshot, SnapshotCause, SnapshotOrigin};

const DEFAULT_COUNT: usize = 10;

const DEFAULT_SAFETY: usize = 10;

/// Which snapshots are kept.
///
/// Whatever it says, the newest snapshot and those that are [pinned](Pin) stay. What restores and imports
/// replaced is counted apart from what was asked for, and what agents asked for apart from what
/// [people](Snapshot::asked_by) did. Each [fork](Snapshot::fork) is counted separately.
///
/// ```
/// use std::time::Duration;
/// use wink_fs::Retention;
///
/// let retention = Retention::default().max_age(Duration::from_secs(7 * 24 * 3600));
/// assert_eq!((retention.max_count, retention.keep_tagged), (Some(10), true));
/// assert_eq!(Retention::everything().max_count, None);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Retention {
    /// How many snapshots without a tag are kept of each group: those that people asked for, those that agents asked
    /// for, and those taken automatically. `None` keeps all of them.
    pub max_count: Option<usize>,
    /// How many are kept of what restores, imports and programs replaced: so many of these operations can be
    /// undone. With [`OperationRecord::MOST_KEPT`](crate::OperationRecord::MOST_KEPT) it is all that are listed.
    pub max_safety: usize,
    /// How old a snapshot gets; none means that age decides nothing.
    pub max_age: Option<Duration>,
    /// Whether those with a tag stay, and do not count. Where space runs out, only the tags of people count: what an agent
    /// tagged goes then too, after what it did not tag.
    pub keep_tagged: bool,
    /// How many bytes the history may take on its disk, with all [forks](Snapshot::fork); none means as many as
    /// there are. To take no more, a workspace forgets only its own snapshots.
    pub max_bytes: Option<u64>,
    /// Whether those go too, if there is too little space, that the count would keep; without, taking a
    /// snapshot fails then.
    pub space_first: bool,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            max_count: Some(DEFAULT_COUNT),
            max_safety: DEFAULT_SAFETY,
            max_age: None,
            keep_tagged: true,
            max_bytes: None,
            space_first: false,
        }
    }
}

impl Retention {
    /// Keeps every snapshot that was asked for.
    pub fn everything() -> Self {
        Self { max_count: None, ..Self::default() }
    }

    /// Sets how many of those without a tag are kept that were asked for.
    #[must_use]
    pub fn max_count(mut self, count: usize) -> Self {
        self.max_count = Some(count);
        self
    }

    /// Sets how many are kept of what restores, imports and programs replaced.
    #[must_use]
    pub fn max_safety(mut self, count: usize) -> Self {
        self.max_safety = count;
        self
    }

    /// Sets how old a snapshot gets.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = Some(age);
        self
    }

    /// Sets whether those with a tag stay, and do not count.
    #[must_use]
    pub fn keep_tagged(mut self, keep: bool) -> Self {
        self.keep_tagged = keep;
        self
    }

    /// Sets how many bytes the history may take on its disk.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Sets whether those go too, if there is too little space, that the count would keep.
    #[must_use]
    pub fn space_first(mut self, space_first: bool) -> Self {
        self.space_first = space_first;
        self
    }

    /// Returns whether count or age take anything away that was asked for.
    pub(crate) fn limits_requested(&self) -> bool {
        self.max_count.is_some() || self.max_age.is_some()
    }

    /// Returns whether a snapshot is one of those that only so many stay of, and by whom they were asked for.
    pub(crate) fn counts(&self, snapshot: &Snapshot) -> Option<SnapshotOrigin> {
        let counts = snapshot.cause == SnapshotCause::Requested && !self.is_kept_by_tag(snapshot);
        counts.then_some(snapshot.asked_by)
    }

    /// Returns the snapshots that go by count or age, in their order.
    ///
    /// Age decides nothing while the clock runs behind: while a snapshot is younger than now.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// use wink_fs::{Retention, SnapshotOptions, Workspace};
    ///
    /// let files = Workspace::memory();
    /// let first = files.snapshot_with(&SnapshotOptions::default())?;
    /// let second = files.snapshot_with(&SnapshotOptions::default())?;
    /// let retention = Retention::default().max_count(1);
    /// let going = retention.expired(&[first.clone(), second], &[], SystemTime::now());
    /// assert_eq!(going, [first.id]);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn expired(
        &self,
        snapshots: &[Snapshot],
        pins: &[Pin],
        now: SystemTime,
    ) -> Vec<SnapshotId> {
        let kept = self.kept_by_count(snapshots);
        let clock_is_behind = snapshots.iter().any(|it| it.created_at > now);
        let max_age = self.max_age.filter(|_| !clock_is_behind);
        let too_old = |it: &Snapshot| {
            max_age.is_some_and(|age| now.duration_since(it.created_at).is_ok_and(|is| is > age))
        };
        let going = |it: &&Snapshot| !kept.contains(&it.id) || too_old(it);
        self.may_go(snapshots, pins, now).filter(going).map(|it| it.id).collect()
    }

    /// Returns the snapshots that go next where there is too little space, those that go first in front:
    /// what restores and imports replaced, then, where no count keeps them, the others that may go: those that
    /// agents asked for, those that agents tagged, and last those that people asked for, if the space is for a
    /// person's snapshot.
    pub(crate) fn expendable(
        &self,
        snapshots: &[Snapshot],
        pins: &[Pin],
        now: SystemTime,
        for_whom: SnapshotOrigin,
    ) -> Vec<SnapshotId> {
        let is_persons = |it: &Snapshot| it.asked_by == SnapshotOrigin::User;
        let is_tagged = |it: &Snapshot| self.is_kept_by_tag(it);
        let may_go = self.unprotected(snapshots, pins, now);
        let may_go = may_go.filter(|it| !is_tagged(it) || !is_persons(it));
        let (safety, mut requested): (Vec<_>, Vec<_>) =
            may_go.partition(|it| it.cause == SnapshotCause::Safety);
        requested.sort_by_key(|it| (is_persons(it), is_tagged(it)));
        let is_kept = self.max_count.is_some() && !self.space_first;
        let is_for_person = for_whom == SnapshotOrigin::User;
        let requested =
            requested.into_iter().filter(|it| !is_kept && (is_for_person || !is_persons(it)));
        safety.into_iter().chain(requested).map(|it| it.id).collect()
    }

    /// Returns the snapshots that neither a tag nor a pin protects, without the newest ones, in their order.
    fn may_go<'s>(
        &self,
        snapshots: &'s [Snapshot],
        pins: &[Pin],
        now: SystemTime,
    ) -> impl Iterator<Item = &'s Snapshot> {
        self.unprotected(snapshots, pins, now).filter(|it| !self.is_kept_by_tag(it))
    }

    /// Returns the same, with those that have a tag.
    fn unprotected<'s>(
        &self,
        snapshots: &'s [Snapshot],
        pins: &[Pin],
        now: SystemTime,
    ) -> impl Iterator<Item = &'s Snapshot> {
        let newest = newest_of_each_line(snapshots);
        snapshots.iter().filter(move |it| !newest.contains(&it.id) && !is_pinned(&it.id, pins, now))
    }

    fn is_kept_by_tag(&self, snapshot: &Snapshot) -> bool {
        self.keep_tagged && snapshot.tag.is_some()
    }

    /// Returns those among the last of their fork, their cause and who asked; those with a tag do not count.
    fn kept_by_count(&self, snapshots: &[Snapshot]) -> BTreeSet<SnapshotId> {
        let mut counts: BTreeMap<(Option<&str>, bool, SnapshotOrigin), usize> = BTreeMap::new();
        let mut kept = BTreeSet::new();
        for it in snapshots.iter().rev().filter(|it| !self.is_kept_by_tag(it)) {
            let is_safety = it.cause == SnapshotCause::Safety;
            let count = counts.entry((it.fork.as_deref(), is_safety, it.asked_by)).or_default();
            *count += 1;
            let most = if is_safety { Some(self.max_safety) } else { self.max_count };
            if most.is_none_or(|most| *count <= most) {
                kept.insert(it.id);
            }
        }
        kept
    }
}

fn newest_of_each_line(snapshots: &[Snapshot]) -> BTreeSet<SnapshotId> {
    let mut newest: BTreeMap<Option<&str>, (u64, SnapshotId)> = BTreeMap::new();
    for it in snapshots {
        let last = newest.entry(it.fork.as_deref()).or_insert((it.sequence, it.id));
        *last = (*last).max((it.sequence, it.id));
    }
    newest.into_values().map(|(_, id)| id).collect()
}
