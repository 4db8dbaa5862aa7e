//! The history of a workspace, kept in the directory of its store.
//!
//! An operation is a record in `operations`, written as a whole, and a directory of that number with
//! what was there before. A directory without a record is what a process left that died.

use std::any::Any;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use super::disk::Disk;
use super::temporary::{Temporary, is_temporary};
use super::{failure, lock, operation_record};
use crate::error::{Operation, Result};
use crate::host::HostBackend;
use crate::memory::MemoryBackend;
use crate::operation::{KEPT, Ledger, OperationRecord, gone};
use crate::snapshot::SnapshotId;
use crate::tree::Tree;
use crate::{Backend, ErrorKind};

pub(super) const DIRECTORY: &str = "operations";
const HEAD: &str = "head";
const RECORD: &str = ".op";
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// After how many operations all names are looked at for those that are too old.
const LOOK_EVERY: u64 = 32;

/// Keeps operations in a store's directory.
#[derive(Debug)]
pub(crate) struct StoreLedger {
    disk: Disk,
}

impl StoreLedger {
    pub(super) fn new(disk: Disk) -> Self {
        Self { disk }
    }

    /// Returns the numbers of all operations, oldest first.
    fn numbers(&self) -> io::Result<Vec<u64>> {
        let names = match self.disk.names(DIRECTORY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            names => names?,
        };
        let names = names.iter().filter(|name| !is_temporary(name));
        let mut numbers: Vec<u64> =
            names.filter_map(|name| name.strip_suffix(RECORD)?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn read(&self, number: u64) -> Result<OperationRecord> {
        let bytes = self.disk.read(&record_place(number), MAX_BYTES);
        let bytes = bytes.map_err(|error| failure::of(Operation::Undo, error))?;
        operation_record::decode(number, &bytes)
    }

    fn write(&self, number: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = Temporary::new(&self.disk, DIRECTORY, record_name(number))?;
        file.write_all(bytes)?;
        file.rename()?;
        file.keep();
        Ok(())
    }

    /// Forgets the operations that are too old now that one more is there.
    ///
    /// That is one, since their numbers follow each other; what a process left that died before it
    /// came to this goes now and then, because all names must be read to find it.
    fn forget_oldest(&self, newest: u64) -> io::Result<()> {
        if newest.is_multiple_of(LOOK_EVERY) {
            let numbers = self.numbers()?;
            let oldest = numbers.len().saturating_sub(KEPT);
            return numbers[..oldest].iter().try_for_each(|number| self.forget(*number));
        }
        newest.checked_sub(KEPT as u64).map_or(Ok(()), |oldest| self.forget(oldest))
    }

    fn forget(&self, number: u64) -> io::Result<()> {
        self.disk.remove(&record_place(number))?;
        self.disk.remove_all(&kept_place(number))
    }

    fn write_head(&self, id: SnapshotId) -> io::Result<()> {
        let mut file = Temporary::new(&self.disk, ".", HEAD.to_owned())?;
        writeln!(file, "{id}")?;
        file.rename()?;
        file.keep();
        Ok(())
    }
}

fn record_name(number: u64) -> String {
    format!("{number}{RECORD}")
}

fn record_place(number: u64) -> String {
    format!("{DIRECTORY}/{}", record_name(number))
}

fn kept_place(number: u64) -> String {
    format!("{DIRECTORY}/{number}")
}

fn before_place(number: u64) -> String {
    format!("{DIRECTORY}/{number}/before")
}

impl Ledger for StoreLedger {
    fn lock(&self) -> Result<Box<dyn Any + Send>> {
        Ok(Box::new(lock::work(&self.disk)?))
    }

    fn next(&self) -> Result<(u64, PathBuf)> {
        let failed = |error| failure::of(Operation::Write, error);
        let number = self.numbers().map_err(failed)?.last().map_or(1, |last| last + 1);
        self.disk.make_dir_unless_there(DIRECTORY).map_err(failed)?;
        // What a process left that died before it wrote its record.
        self.disk.remove_all(&kept_place(number)).map_err(failed)?;
        Ok((number, self.disk.path(&before_place(number))))
    }

    fn append(&self, operation: &OperationRecord, _: Option<Arc<dyn Tree>>) -> Result<()> {
        let bytes = operation_record::encode(operation)?;
        let newest = operation.sequence;
        let written = self.write(newest, &bytes).and_then(|()| self.forget_oldest(newest));
        written.map_err(|error| failure::of(Operation::Write, error))
    }

    fn discard(&self, sequence: u64) {
        // What is left is taken away before the next operation.
        let _ = self.disk.remove_all(&kept_place(sequence));
    }

    fn list(&self) -> Result<Vec<OperationRecord>> {
        let numbers = self.numbers().map_err(|error| failure::of(Operation::List, error))?;
        // One that is damaged, as after a loss of power, is none that could be undone.
        Ok(numbers.into_iter().filter_map(|number| self.read(number).ok()).collect())
    }

    fn before(&self, sequence: u64) -> Result<Arc<dyn Tree>> {
        if !self.numbers().is_ok_and(|numbers| numbers.contains(&sequence)) {
            return Err(gone());
        }
        match HostBackend::open_ambient(self.disk.path(&before_place(sequence))) {
            // Nothing was there.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(MemoryBackend::new().live()),
            kept => Ok(kept?.live()),
        }
    }

    fn head(&self) -> Result<Option<SnapshotId>> {
        match self.disk.read(HEAD, 100) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => {
                let bytes = read.map_err(|error| failure::of(Operation::Snapshot, error))?;
                Ok(std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok()))
            }
        }
    }

    fn set_head(&self, id: SnapshotId) -> Result<()> {
        self.write_head(id).map_err(|error| failure::of(Operation::Snapshot, error))
    }
}
