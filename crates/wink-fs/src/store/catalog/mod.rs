//! The catalog: the records, tags and pins of a store's snapshots.

pub(crate) mod cache;
pub(crate) mod missing;
pub(crate) mod pins;
pub(crate) mod record;

use std::collections::BTreeMap;
use std::io::{self, Write};

use parking_lot::Mutex;

use super::catalog::cache::CachedRecord;
use super::disk::{Disk, Stamp};
use super::gc::redact;
use super::temporary::{Temporary, is_temporary};
use super::{FORKS_DIRECTORY, Store, failure, lock};
use crate::error::{Operation, Result};
use crate::snapshot::{GONE, Snapshot, SnapshotId, check_tag, check_unused, is_plain_name};

/// The directory of records.
pub(crate) const DIRECTORY: &str = "snapshots";

/// The largest record; anything larger is damaged.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Up to this many records are read one by one instead of from the cache.
const FEW: usize = 4;

/// How many stale lines the cache may have, in addition to the number of records.
const SPARE_LINES: usize = 64;

/// Keeps records in memory, because they rarely change.
#[derive(Debug, Default)]
pub(crate) struct Catalog(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    records: BTreeMap<String, CachedRecord>,
    /// How many lines the cache has, if it is known to be complete.
    cache_lines: Option<usize>,
}

impl Catalog {
    /// Returns the snapshots with an intact record, in order.
    pub(crate) fn list(&self, disk: &Disk) -> io::Result<Vec<Snapshot>> {
        let mut stamps = Vec::new();
        for name in names(disk)? {
            // A record that is deleted meanwhile is not listed.
            stamps.extend(disk.stamp(&place(&name)).ok().map(|stamp| (name, stamp)));
        }
        let mut memory = self.0.lock();
        memory.look(disk, stamps);
        let mut snapshots: Vec<_> =
            memory.records.values().map(|known| known.snapshot.clone()).collect();
        // After damage, two snapshots may have the same number.
        snapshots.sort_by_key(|snapshot| (snapshot.sequence, snapshot.id));
        Ok(snapshots)
    }

    /// Adds a record that was just published to memory and cache.
    ///
    /// Requires the publish lock, and a list of the other records.
    pub(super) fn remember(&self, disk: &Disk, snapshot: &Snapshot) {
        let name = snapshot.id.to_string();
        let Ok(stamp) = disk.stamp(&place(&name)) else { return };
        let known = CachedRecord { stamp, snapshot: snapshot.clone() };
        let mut memory = self.0.lock();
        memory.records.insert(name, known.clone());
        let most = 2 * memory.records.len() + SPARE_LINES;
        // The snapshot is published already, and a cache is not worth a failure.
        let _ = match memory.cache_lines.filter(|lines| *lines < most) {
            Some(lines) => {
                memory.cache_lines = Some(lines + 1);
                cache::append(disk, &known)
            }
            None => {
                memory.cache_lines = Some(memory.records.len());
                cache::write(disk, &memory.records)
            }
        };
    }

    /// Forgets what was read, because records were replaced.
    pub(super) fn forget(&self) {
        *self.0.lock() = Memory::default();
    }
}

impl Memory {
    /// Loads exactly the intact records that are there.
    fn look(&mut self, disk: &Disk, there: Vec<(String, Stamp)>) {
        let mut known = std::mem::take(&mut self.records);
        let is_known = |known: &BTreeMap<String, CachedRecord>, (name, stamp): &(String, Stamp)| {
            known.get(name).is_some_and(|it| it.stamp == *stamp)
        };
        if there.iter().filter(|it| !is_known(&known, it)).count() > FEW {
            let cached = cache::read(disk);
            known.extend(cached.records);
            let is_complete = there.iter().all(|it| is_known(&known, it));
            self.cache_lines = is_complete.then_some(cached.lines);
        }
        for (name, stamp) in there {
            let found = known.remove(&name).filter(|known| known.stamp == stamp);
            let read = || Some(CachedRecord { stamp, snapshot: read(disk, &name).ok()? });
            self.records.extend(found.or_else(read).map(|known| (name.clone(), known)));
        }
    }
}

/// Returns the names of all records, even damaged ones.
pub(crate) fn names(disk: &Disk) -> io::Result<Vec<String>> {
    let mut names = disk.names(DIRECTORY)?;
    names.retain(|name| !is_temporary(name));
    Ok(names)
}

/// Reads one record from disk.
pub(crate) fn read(disk: &Disk, name: &str) -> Result<Snapshot> {
    let bytes = disk.read(&place(name), MAX_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failure::no_snapshot(Operation::Restore),
        _ => failure::of(Operation::Restore, error),
    })?;
    record::decode(name, &bytes)
}

/// Reads all intact records from disk.
pub(crate) fn read_whole(disk: &Disk) -> io::Result<Vec<Snapshot>> {
    Ok(names(disk)?.iter().filter_map(|name| read(disk, name).ok()).collect())
}

/// Deletes records; missing ones are ignored.
pub(crate) fn remove(disk: &Disk, ids: &[SnapshotId]) -> io::Result<bool> {
    let mut removed = false;
    for id in ids {
        removed |= disk.remove(&place(&id.to_string()))?;
    }
    if removed {
        disk.sync_dir(DIRECTORY)?;
    }
    Ok(removed)
}

/// Returns the path of a record.
pub(super) fn place(name: &str) -> String {
    format!("{DIRECTORY}/{name}")
}

/// Writes a record under a temporary name, and syncs it.
pub(crate) fn prepare<'a>(disk: &'a Disk, snapshot: &Snapshot) -> Result<Temporary<'a>> {
    let bytes = record::encode(snapshot)?;
    write(disk, snapshot.id.to_string(), &bytes)
        .map_err(|error| failure::of(Operation::Snapshot, error))
}

fn write<'a>(disk: &'a Disk, name: String, bytes: &[u8]) -> io::Result<Temporary<'a>> {
    let mut file = Temporary::new(disk, DIRECTORY, name)?;
    file.write_all(bytes)?;
    file.sync()?;
    Ok(file)
}

/// Sets or removes the tag of an existing snapshot.
pub(crate) fn set_tag(store: &Store, id: &SnapshotId, tag: Option<&str>) -> Result<Snapshot> {
    tag.map_or(Ok(()), check_tag)?;
    let _shared = lock::share(store.disk())?;
    let _turn = lock::publish(store.disk())?;
    let all = store.catalog.list(store.disk());
    let all = all.map_err(|error| failure::of(Operation::Snapshot, error))?;
    check_unused(tag, all.iter().filter(|other| other.id != *id))?;
    let mut snapshot = read(store.disk(), &id.to_string())?;
    snapshot.retag(tag);
    redact::replace_record(store, &snapshot)?;
    store.catalog.forget();
    Ok(snapshot)
}

/// Assigns the snapshots of all deleted forks to one fork, so that retention keeps only the last of them, however many
/// forks there were.
pub(crate) fn group_orphaned(disk: &Disk, snapshots: &mut [Snapshot]) {
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    for fork in snapshots.iter_mut().filter_map(|snapshot| snapshot.fork.as_mut()) {
        let is_there = |fork: &String| disk.is_there(&format!("{FORKS_DIRECTORY}/{fork}"));
        if is_plain_name(fork) && !*known.entry(fork.clone()).or_insert_with(|| is_there(fork)) {
            GONE.clone_into(fork);
        }
    }
}
