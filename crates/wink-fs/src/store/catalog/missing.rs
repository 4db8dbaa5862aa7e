//! Finds snapshots whose record is missing although they were not pruned.

use super::cache;
use crate::snapshot::Snapshot;
use crate::store::disk::Disk;
use crate::store::objects::interval_set::IntervalSet;
use crate::store::objects::manifest::PackManifest;

/// What is missing.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    /// Snapshots that the cache of records still has.
    pub(crate) known: Vec<Snapshot>,
    /// The numbers of others.
    pub(crate) numbers: Vec<u64>,
}

/// Finds missing snapshots by the numbers in use; none if the manifest does not say which were pruned.
pub(crate) fn look(disk: &Disk, manifest: &PackManifest, there: &[Snapshot]) -> Missing {
    let Some(gone) = &manifest.gone else { return Missing::default() };
    let cached = cache::read(disk).records.into_values().map(|it| it.snapshot);
    let cached: Vec<_> = cached.filter(|it| !gone.contains(it.sequence)).collect();
    let mut numbers: Vec<u64> = there.iter().chain(&cached).map(|it| it.sequence).collect();
    numbers.sort_unstable();
    let last = numbers.last().copied().unwrap_or(0).max(manifest.through);
    let is_known = |number: &u64| gone.contains(*number) || numbers.binary_search(number).is_ok();
    let unknown = (1..=last).filter(|number| !is_known(number)).collect();
    // A damaged record is not missing.
    let is_missing = |it: &Snapshot| !disk.is_there(&super::place(&it.id.to_string()));
    Missing { known: cached.into_iter().filter(is_missing).collect(), numbers: unknown }
}

/// Returns all unused numbers up to the last one, to be counted as pruned.
pub(crate) fn account(disk: &Disk, manifest: &PackManifest, there: &[Snapshot]) -> IntervalSet {
    let mut numbers: Vec<u64> = there.iter().map(|it| it.sequence).collect();
    numbers.sort_unstable();
    let cached = cache::read(disk).records.into_values().map(|it| it.snapshot.sequence);
    let last = numbers.last().copied().into_iter().chain(cached).max().unwrap_or(0);
    IntervalSet::without(&numbers, last.max(manifest.last_number()))
}

/// Notes that snapshots are about to be pruned; returns whether there was anything to note.
pub(crate) fn forget(
    disk: &Disk,
    manifest: &mut PackManifest,
    there: &[Snapshot],
    going: &[Snapshot],
) -> bool {
    let known = manifest.gone.take();
    let is_new = known.is_none();
    let mut gone = known.unwrap_or_else(|| account(disk, manifest, there));
    let added = gone.add(going.iter().map(|it| it.sequence));
    manifest.gone = Some(gone);
    added || is_new
}
