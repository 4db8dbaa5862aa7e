//! Reading the operation log: which operations there are, their lists and their records.

use std::fs::File;
use std::io::{self, Read as _};

use super::FileOpLog;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::oplog::file::places::{self, DIRECTORY, Numbers};
use crate::oplog::file::record;
use crate::oplog::{OperationRecord, steps};
use crate::store::failure;

pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;

impl FileOpLog {
    /// Looks at what there is, in one go.
    pub(super) fn look(&self) -> io::Result<Numbers> {
        let names = match self.disk.names(DIRECTORY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.disk.check_there()?;
                Vec::new()
            }
            names => names?,
        };
        Ok(Numbers::of(&names))
    }

    /// Returns the list of an operation, with the record that may follow it.
    pub(super) fn list_of(&self, number: u64) -> io::Result<Vec<u8>> {
        for place in [places::record(number), places::begun(number), places::old_list(number)] {
            let list = self.read_if_there(&place)?;
            if !steps(&list).is_empty() {
                return Ok(list);
            }
        }
        Ok(Vec::new())
    }

    pub(super) fn read_if_there(&self, place: &str) -> io::Result<Vec<u8>> {
        match self.disk.read(place, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        }
    }

    pub(super) fn read(&self, number: u64) -> Result<OperationRecord> {
        let bytes = self.disk.read(&places::record(number), MAX_BYTES);
        let bytes = bytes.map_err(|error| failure::of(Operation::Undo, error))?;
        record::decode(number, &bytes)
    }

    /// Reads the records of some operations.
    ///
    /// One that is damaged, as after a loss of power, is none that could be undone. One that cannot be read
    /// just now is: to pass over it would be to undo another.
    pub(super) fn whole_records(&self, numbers: &[u64]) -> Result<Vec<OperationRecord>> {
        let is_none = |read: &Result<_>| {
            read.as_ref().is_err_and(|error: &Error| error.kind() == ErrorKind::Corrupt)
        };
        let read = numbers.iter().map(|number| self.read(*number));
        read.filter(|read| !is_none(read)).collect()
    }
}

/// Reads the list that an operation has begun, and cuts off what could not be written as a whole.
pub(super) fn whole_lines(file: &mut File) -> io::Result<String> {
    let mut list = Vec::new();
    let read = file.read_to_end(&mut list)?;
    list.truncate(list.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
    if list.len() < read {
        file.set_len(list.len() as u64)?;
    }
    String::from_utf8(list).map_err(io::Error::other)
}
