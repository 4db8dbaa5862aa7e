//! The snapshots of a store: their records, tags and pins, and how a new one is published.

pub(crate) mod cache;
pub(crate) mod list;
pub(crate) mod missing;
pub(crate) mod orphaned_forks;
pub(crate) mod pins;
pub(crate) mod record;
pub(crate) mod tagging;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::catalog::cache::Known;
use super::disk::{Disk, Stamp};
use super::failure;
use super::temporary::{Temporary, is_temporary};
use crate::error::{Operation, Result};
use crate::snapshot::{Snapshot, SnapshotId};

/// The directory that records are in.
pub(crate) const DIRECTORY: &str = "snapshots";

/// No record comes near; what is larger is not one.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// So many records are read one by one before all are read from the cache.
const FEW: usize = 4;

/// So many lines more than there are records may the cache have, and as many again as there are records.
const SPARE_LINES: usize = 64;

/// Remembers the records that were read, which hardly ever change while they are there.
#[derive(Debug, Default)]
pub(crate) struct Catalog(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    records: BTreeMap<String, Known>,
    /// How many lines the cache has, where it was looked at and nothing is missing from it.
    cache_lines: Option<usize>,
}

impl Catalog {
    /// Returns the snapshots whose record is whole, in their order.
    pub(crate) fn list(&self, disk: &Disk) -> io::Result<Vec<Snapshot>> {
        let mut stamps = Vec::new();
        for name in names(disk)? {
            // One that goes meanwhile is not listed.
            stamps.extend(disk.stamp(&place(&name)).ok().map(|stamp| (name, stamp)));
        }
        let mut memory = self.memory();
        memory.look(disk, stamps);
        let mut snapshots: Vec<_> =
            memory.records.values().map(|known| known.snapshot.clone()).collect();
        // A damaged record may have had a number that was given again.
        snapshots.sort_by_key(|snapshot| (snapshot.sequence, snapshot.id));
        Ok(snapshots)
    }

    /// Remembers a record that was just published, also for other processes.
    ///
    /// Only the holder of the lock for publishing does, who has listed the others.
    pub(super) fn remember(&self, disk: &Disk, snapshot: &Snapshot) {
        let name = snapshot.id.to_string();
        let Ok(stamp) = disk.stamp(&place(&name)) else { return };
        let known = Known { stamp, snapshot: snapshot.clone() };
        let mut memory = self.memory();
        memory.records.insert(name, known.clone());
        let most = 2 * memory.records.len() + SPARE_LINES;
        // The snapshot is there, and what is only a cache is not worth a failure.
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

    /// Forgets what was read, because records have been replaced.
    pub(super) fn forget(&self) {
        *self.memory() = Memory::default();
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    /// Makes it hold exactly the records that are there and whole.
    fn look(&mut self, disk: &Disk, there: Vec<(String, Stamp)>) {
        let mut known = std::mem::take(&mut self.records);
        let is_known = |known: &BTreeMap<String, Known>, (name, stamp): &(String, Stamp)| {
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
            let read = || Some(Known { stamp, snapshot: read(disk, &name).ok()? });
            self.records.extend(found.or_else(read).map(|known| (name.clone(), known)));
        }
    }
}

/// Returns the names of all records, damaged ones included.
pub(crate) fn names(disk: &Disk) -> io::Result<Vec<String>> {
    let mut names = disk.names(DIRECTORY)?;
    names.retain(|name| !is_temporary(name));
    Ok(names)
}

/// Reads one record as it is now.
pub(crate) fn read(disk: &Disk, name: &str) -> Result<Snapshot> {
    let bytes = disk.read(&place(name), MAX_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failure::no_snapshot(Operation::Restore),
        _ => failure::of(Operation::Restore, error),
    })?;
    record::decode(name, &bytes)
}

/// Reads all records that are whole, as they are now.
pub(crate) fn read_whole(disk: &Disk) -> io::Result<Vec<Snapshot>> {
    Ok(names(disk)?.iter().filter_map(|name| read(disk, name).ok()).collect())
}

/// Removes records; those that are not there are passed over.
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

/// Returns where the file of a record is.
pub(super) fn place(name: &str) -> String {
    format!("{DIRECTORY}/{name}")
}

/// Writes a record under a temporary name and makes it durable.
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
