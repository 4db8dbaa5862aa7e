//! The snapshots of a store, and how a new one gets among them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::disk::Disk;
use super::temporary::{Temporary, is_temporary};
use super::{failure, record};
use crate::error::{Operation, Result};
use crate::snapshot::{Snapshot, SnapshotId};

/// The directory that records are in.
pub(crate) const DIRECTORY: &str = "snapshots";

/// No record comes near; what is larger is not one.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Remembers the records that were read, which never change while they are there.
#[derive(Debug, Default)]
pub(crate) struct Catalog(Mutex<BTreeMap<String, Snapshot>>);

impl Catalog {
    /// Returns the snapshots whose record is whole, in their order.
    pub(crate) fn list(&self, disk: &Disk) -> io::Result<Vec<Snapshot>> {
        let names = names(disk)?;
        let mut known = self.known();
        let mut present = BTreeMap::new();
        for name in names {
            let snapshot = known.remove(&name).or_else(|| read(disk, &name).ok());
            present.extend(snapshot.map(|snapshot| (name, snapshot)));
        }
        let mut snapshots: Vec<_> = present.values().cloned().collect();
        *known = present;
        // A damaged record may have had a number that was given again.
        snapshots.sort_by_key(|snapshot| (snapshot.sequence, snapshot.id));
        Ok(snapshots)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Snapshot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Removes a record and tells whether it was there.
pub(crate) fn remove(disk: &Disk, id: &SnapshotId) -> io::Result<bool> {
    let removed = disk.remove(&place(&id.to_string()))?;
    if removed {
        disk.sync_dir(DIRECTORY)?;
    }
    Ok(removed)
}

fn place(name: &str) -> String {
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
