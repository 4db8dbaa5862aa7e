//! Operations whose record, or what they kept, is damaged.

use std::io;

use super::read::MAX_BYTES;
use super::{FileOpLog, branches};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::oplog::file::places::{self, DIRECTORY};
use crate::oplog::{OpLog as _, OperationRecord, check_contents, check_kinds, last_kept};
use crate::store::disk::Disk;
use crate::store::{BRANCHES, failure};

impl FileOpLog {
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

    /// Returns the operations of which not all is kept that was there before, each with what is wrong.
    fn damaged_images(&self, contents: Contents) -> Result<Vec<(u64, String)>> {
        let mut damaged = Vec::new();
        for operation in self.list()? {
            // If another process forgot the operation meanwhile, it removed the record first.
            let is_there = || self.disk.is_there(&places::record(operation.sequence));
            match self.check_image(&operation, contents) {
                Err(error) if error.kind() == ErrorKind::Corrupt && is_there() => {
                    damaged.push((operation.sequence, error.during(Operation::Verify).to_string()));
                }
                // What cannot be looked at just now is no damage, and neither is what only a process kept.
                _ => {}
            }
        }
        Ok(damaged)
    }

    fn check_image(&self, operation: &OperationRecord, contents: Contents) -> Result<()> {
        if operation.saved().is_some() || operation.changes.is_empty() {
            return Ok(());
        }
        let recorded = self.recorded(operation.sequence)?;
        check_kinds(operation, &recorded)?;
        match contents {
            Contents::Read => check_contents(self, operation, &recorded),
            Contents::Unread => Ok(()),
        }
    }
}

/// Whether what operations kept is read, as far as its hash is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    Read,
    Unread,
}

/// An operation that is damaged, with the places of what there is of it.
pub(crate) struct DamagedOperation {
    /// What is wrong with it.
    pub(crate) what: String,
    pub(crate) record: String,
    /// What was there before it.
    pub(crate) kept: Vec<String>,
}

/// Returns the damaged operations of all histories that share a store, but for those that a loss of power took:
/// their records were never synced, and their loss says nothing of the store.
pub(crate) fn damaged_operations(
    store: &Disk,
    contents: Contents,
) -> Result<Vec<DamagedOperation>> {
    let mut damaged = Vec::new();
    for (name, disk) in branches(store).map_err(failed)? {
        let place = |place: String| match name.as_str() {
            "" => place,
            name => format!("{BRANCHES}/{name}/{place}"),
        };
        let oplog = FileOpLog::new(disk.clone());
        for number in oplog.damaged()? {
            let bytes = disk.read(&places::record(number), MAX_BYTES).map_err(failed)?;
            if bytes.iter().all(|byte| *byte == 0) {
                continue;
            }
            let record = place(places::record(number));
            let what =
                format!("the record {record} is damaged: operation {number} cannot be undone");
            let kept = kept_places(&disk, number)?.into_iter().map(place).collect();
            damaged.push(DamagedOperation { what, record, kept });
        }
        for (number, what) in oplog.damaged_images(contents)? {
            let kept = kept_places(&disk, number)?.into_iter().map(place).collect();
            damaged.push(DamagedOperation { what, record: place(places::record(number)), kept });
        }
    }
    Ok(damaged)
}

/// Returns the places of what there is of what an operation kept.
fn kept_places(disk: &Disk, number: u64) -> Result<Vec<String>> {
    let names = disk.names(DIRECTORY).map_err(failed)?;
    let entries = names.iter().filter_map(|name| places::kept_by(number, name));
    let directory = Some(places::kept(number)).filter(|it| disk.is_there(it));
    Ok(entries.chain(directory).collect())
}

fn failed(error: io::Error) -> Error {
    failure::of(Operation::Verify, error)
}
