//! Operations whose record is damaged.

use super::super::disk::Disk;
use super::super::operation_places::{self as places, DIRECTORY};
use super::super::{BRANCHES, failure};
use super::read::MAX_BYTES;
use super::{StoreLedger, branches};
use crate::error::{ErrorKind, Operation, Result};
use crate::operation::{Ledger as _, last_kept};

impl StoreLedger {
    /// Returns the numbers of damaged records, as far back as others are listed.
    pub(super) fn damaged_records(&self) -> Result<Vec<u64>> {
        let (mut whole, mut damaged) = (Vec::new(), Vec::new());
        for number in self.numbers()? {
            match self.read(number) {
                Ok(operation) => whole.push(operation),
                Err(error) if error.kind() == ErrorKind::Corrupt => damaged.push(number),
                Err(_) => {}
            }
        }
        let first = whole.first().map(|it| it.sequence);
        let listed = last_kept(whole).first().map(|it| it.sequence);
        // Where the first one is listed, nothing is too old.
        let oldest = listed.filter(|_| listed != first).unwrap_or_default();
        damaged.retain(|number| *number > oldest);
        Ok(damaged)
    }
}

/// An operation whose record is damaged, with the places of what there is of it.
pub(in crate::store) struct DamagedOperation {
    pub(in crate::store) number: u64,
    pub(in crate::store) record: String,
    /// What was there before it.
    pub(in crate::store) kept: Vec<String>,
}

/// Returns the damaged operations of all histories that share a store, but for those that a loss of power took:
/// their records were never synced, and their loss says nothing of the store.
pub(in crate::store) fn damaged_operations(store: &Disk) -> Result<Vec<DamagedOperation>> {
    let failed = |error| failure::of(Operation::Verify, error);
    let mut damaged = Vec::new();
    for (name, disk) in branches(store).map_err(failed)? {
        let place = |place: String| match name.as_str() {
            "" => place,
            name => format!("{BRANCHES}/{name}/{place}"),
        };
        for number in StoreLedger::new(disk.clone()).damaged()? {
            let record = disk.read(&places::record(number), MAX_BYTES).map_err(failed)?;
            if record.iter().all(|byte| *byte == 0) {
                continue;
            }
            let names = disk.names(DIRECTORY).map_err(failed)?;
            let entries = names.iter().filter_map(|name| places::kept_by(number, name));
            let directory = Some(places::kept(number)).filter(|it| disk.is_there(it));
            let kept = entries.chain(directory).map(place).collect();
            damaged.push(DamagedOperation { number, record: place(places::record(number)), kept });
        }
    }
    Ok(damaged)
}
