//! Finds operations with a damaged record or damaged pre-images.

use std::io;

use super::{FileOpLog, MAX_BYTES, histories};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::oplog::file::layout::{self, DIRECTORY};
use crate::oplog::{OpLog as _, OperationRecord, check_contents, check_kinds, last_kept};
use crate::store::disk::Disk;
use crate::store::{FORKS_DIRECTORY, failure};

impl FileOpLog {
    /// Returns the numbers of damaged records, as far back as others are listed.
    pub(super) fn damaged_records(&self) -> Result<Vec<u64>> {
        let mut whole = Vec::new();
        let mut damaged = Vec::new();
        for number in self.numbers()? {
            match self.read(number) {
                Ok(operation) => whole.push(operation),
                Err(error) if error.kind() == ErrorKind::Corrupt => damaged.push(number),
                Err(_) => {}
            }
        }
        let first = whole.first().map(|it| it.sequence);
        let listed = last_kept(whole).first().map(|it| it.sequence);
        // If even the oldest intact record is listed, none is too old.
        let oldest = listed.filter(|_| listed != first).unwrap_or_default();
        damaged.retain(|number| *number > oldest);
        Ok(damaged)
    }

    /// Returns the operations with missing or wrong pre-images, each with what is wrong.
    fn damaged_images(&self, contents: Contents) -> Result<Vec<(u64, String)>> {
        let mut damaged = Vec::new();
        for operation in self.list()? {
            // If another process forgot the operation meanwhile, it removed the record first.
            let is_there = || self.disk.is_there(&layout::record(operation.sequence));
            match self.check_image(&operation, contents) {
                Err(error) if error.kind() == ErrorKind::Corrupt && is_there() => {
                    damaged.push((operation.sequence, error.during(Operation::Verify).to_string()));
                }
                // What cannot be accessed now is not damaged, and neither is what only another process had in memory.
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

/// Whether pre-images are read, if their hashes are known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    Read,
    Unread,
}

/// A damaged operation, with the paths of its files.
pub(crate) struct DamagedOperation {
    /// What is wrong with it.
    pub(crate) what: String,
    pub(crate) record: String,
    /// The paths of its pre-images.
    pub(crate) kept: Vec<String>,
}

/// Returns the damaged operations of all histories that share a store.
///
/// Records of only zeros are skipped: records of calls are not synced, so a power loss leaves such records in an intact
/// store.
pub(crate) fn damaged_operations(
    store: &Disk,
    contents: Contents,
) -> Result<Vec<DamagedOperation>> {
    let mut damaged = Vec::new();
    for (name, disk) in histories(store).map_err(failed)? {
        let place = |place: String| match name.as_str() {
            "" => place,
            name => format!("{FORKS_DIRECTORY}/{name}/{place}"),
        };
        let oplog = FileOpLog::new(disk.clone());
        for number in oplog.damaged()? {
            let bytes = disk.read(&layout::record(number), MAX_BYTES).map_err(failed)?;
            if bytes.iter().all(|byte| *byte == 0) {
                continue;
            }
            let record = place(layout::record(number));
            let what =
                format!("the record {record} is damaged: operation {number} cannot be undone");
            let kept = kept_places(&disk, number)?.into_iter().map(place).collect();
            damaged.push(DamagedOperation { what, record, kept });
        }
        for (number, what) in oplog.damaged_images(contents)? {
            let kept = kept_places(&disk, number)?.into_iter().map(place).collect();
            damaged.push(DamagedOperation { what, record: place(layout::record(number)), kept });
        }
    }
    Ok(damaged)
}

/// Returns the paths of an operation's pre-images.
fn kept_places(disk: &Disk, number: u64) -> Result<Vec<String>> {
    let names = disk.names(DIRECTORY).map_err(failed)?;
    let entries = names.iter().filter_map(|name| layout::kept_by(number, name));
    let directory = Some(layout::kept(number)).filter(|it| disk.is_there(it));
    Ok(entries.chain(directory).collect())
}

fn failed(error: io::Error) -> Error {
    failure::of(Operation::Verify, error)
}
