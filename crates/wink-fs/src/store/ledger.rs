//! The history of a workspace, kept in the directory of its store.
//!
//! An operation is a record in `operations`, written as a whole, and a directory of that number with
//! what was there before. A directory without a record is what a process left that died.

use std::any::Any;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::disk::Disk;
use super::temporary::{self, Temporary};
use super::{BRANCHES, failure, lock, operation_record};
use crate::ErrorKind;
use crate::error::{Error, Operation, Result};
use crate::host::Kept;
use crate::operation::{
    Ledger, MANY_RECORDS, OperationRecord, TOUCHED, gone, last_kept, touched_paths,
};
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::tree::Tree;

pub(super) const DIRECTORY: &str = "operations";
const HEAD: &str = "head";
const RECORD: &str = ".op";
const FORGET_EVERY: u64 = 16;
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Keeps operations in a store's directory.
#[derive(Debug)]
pub(crate) struct StoreLedger {
    disk: Disk,
    signature: lock::Signature,
    known: Mutex<Known>,
}

/// What is known of the directory without a look, for as long as nobody else has had the turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Nothing,
    /// Nothing was interrupted, and this is the number of the next operation.
    Next(u64),
    /// The operation of this number was begun when nothing else was interrupted.
    Begun(u64),
}

impl StoreLedger {
    pub(crate) fn new(disk: Disk) -> Self {
        Self { disk, signature: lock::Signature::new(), known: Mutex::new(Known::Nothing) }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends an operation: nothing of it is left to take back, and `next` is the number of the next one.
    fn end(&self, number: u64, next: u64) {
        let mut known = self.known();
        *known = if *known == Known::Begun(number) { Known::Next(next) } else { Known::Nothing };
    }

    /// Looks at what there is, in one go.
    fn look(&self) -> io::Result<Numbers> {
        let names = match self.disk.names(DIRECTORY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.disk.check_there()?;
                Vec::new()
            }
            names => names?,
        };
        Ok(Numbers::of(&names))
    }

    /// Returns the paths that an operation may have changed.
    fn touched(&self, number: u64) -> io::Result<Vec<(TreePath, usize)>> {
        match self.disk.read(&touched_place(number), MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            list => Ok(touched_paths(&list?)),
        }
    }

    /// Returns those of the paths whose entries are kept by the numbers of their lines.
    fn kept_by_numbers(&self, number: u64) -> io::Result<Vec<(TreePath, usize)>> {
        let mut touched = self.touched(number)?;
        if !touched.is_empty() {
            let names = self.disk.names(&kept_place(number))?;
            touched.retain(|(_, line)| names.contains(&line.to_string()));
        }
        Ok(touched)
    }

    fn read(&self, number: u64) -> Result<OperationRecord> {
        let bytes = self.disk.read(&record_place(number), MAX_BYTES);
        let bytes = bytes.map_err(|error| failure::of(Operation::Undo, error))?;
        operation_record::decode(number, &bytes)
    }

    /// Writes a record under its temporary name, where the next of that number replaces it.
    fn write(&self, number: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = Temporary::over(&self.disk, DIRECTORY, record_name(number))?;
        file.write_all(bytes)?;
        file.keep();
        Ok(())
    }

    /// Takes away what is too old to be listed; not each time, because looking for it takes a while.
    fn forget_oldest(&self, newest: u64) -> Result<()> {
        if !newest.is_multiple_of(FORGET_EVERY) {
            return Ok(());
        }
        let records = self.numbers()?;
        if records.len() <= MANY_RECORDS {
            return Ok(());
        }
        let oldest = self.list()?.first().map_or(0, |oldest| oldest.sequence);
        let too_old: Vec<u64> = records.into_iter().take_while(|it| *it < oldest).collect();
        self.forget(&too_old)
    }

    /// Removes an operation. Without its record it counts as interrupted, so the list of what it may have
    /// changed goes first: then there is nothing to take back.
    fn remove(&self, number: u64) -> io::Result<()> {
        self.disk.remove(&touched_place(number))?;
        self.disk.remove(&record_place(number))?;
        self.disk.remove_all(&kept_place(number))
    }

    fn write_head(&self, id: SnapshotId) -> io::Result<()> {
        let mut file = Temporary::over(&self.disk, ".", HEAD.to_owned())?;
        writeln!(file, "{id}")?;
        file.rename()?;
        file.keep();
        Ok(())
    }
}

/// Returns where the histories are that share a store: its own, which has no name, and those of its branches.
fn branches(store: &Disk) -> io::Result<Vec<(String, Disk)>> {
    let names = match store.names(BRANCHES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        names => names?,
    };
    let branch = |name: String| {
        let disk = store.below(&format!("{BRANCHES}/{name}"));
        (name, disk)
    };
    Ok([(String::new(), store.clone())].into_iter().chain(names.into_iter().map(branch)).collect())
}

/// The numbers of what lies in the directory.
struct Numbers {
    /// Of operations that are written down, oldest first.
    records: Vec<u64>,
    /// Of what was kept for operations that are not, last first.
    begun: Vec<u64>,
}

impl Numbers {
    fn of(names: &[String]) -> Self {
        let number = |name: &String| name.strip_suffix(RECORD)?.parse().ok();
        let mut records: Vec<u64> = names.iter().filter_map(number).collect();
        records.sort_unstable();
        let kept = names.iter().filter_map(|name| name.parse().ok());
        let mut begun: Vec<u64> =
            kept.filter(|number| records.binary_search(number).is_err()).collect();
        begun.sort_unstable_by(|a, b| b.cmp(a));
        Self { records, begun }
    }

    fn next(&self) -> u64 {
        self.records.last().max(self.begun.first()).map_or(1, |last| last + 1)
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

fn touched_place(number: u64) -> String {
    format!("{DIRECTORY}/{number}/{TOUCHED}")
}

impl Ledger for StoreLedger {
    fn lock(&self) -> Result<Box<dyn Any + Send>> {
        let (held, was_ours) = lock::work(&self.disk, &self.signature)?;
        if !was_ours {
            *self.known() = Known::Nothing;
        }
        Ok(Box::new(held))
    }

    fn interrupted(&self) -> Result<Vec<(u64, Vec<TreePath>)>> {
        if let Known::Next(_) = *self.known() {
            return Ok(Vec::new());
        }
        let failed = |error| failure::of(Operation::Undo, error);
        let numbers = self.look().map_err(failed)?.begun;
        let paths = |touched: Vec<(TreePath, usize)>| touched.into_iter().map(|(path, _)| path);
        let with_paths = |number| Ok((number, paths(self.touched(number)?).collect()));
        numbers.into_iter().map(with_paths).collect::<io::Result<_>>().map_err(failed)
    }

    /// Does nothing: what was kept for it is on the disk.
    fn remember_interrupted(&self, _: u64, _: &[TreePath], _: Arc<dyn Tree>) {}

    fn next(&self) -> Result<(u64, PathBuf)> {
        let mut known = self.known();
        if let Known::Next(number) = *known {
            *known = Known::Begun(number);
            return Ok((number, self.disk.path(&kept_place(number))));
        }
        let failed = |error| failure::of(Operation::Write, error);
        let there = self.look().map_err(failed)?;
        self.disk.make_dir_unless_there(DIRECTORY).map_err(failed)?;
        let number = there.next();
        *known = if there.begun.is_empty() { Known::Begun(number) } else { Known::Nothing };
        Ok((number, self.disk.path(&kept_place(number))))
    }

    fn prepare(&self, operation: &OperationRecord) -> Result<()> {
        let bytes = operation_record::encode(operation)?;
        let written = self.write(operation.sequence, &bytes);
        written.map_err(|error| failure::of(Operation::Write, error))
    }

    fn append(&self, operation: OperationRecord, _: Option<Arc<dyn Tree>>) -> Result<()> {
        let number = operation.sequence;
        let temporary = temporary::place(DIRECTORY, &record_name(number));
        let renamed = self.disk.rename(&temporary, &record_place(number));
        renamed.map_err(|error| failure::of(Operation::Write, error))?;
        self.end(number, number + 1);
        // What is left is taken away another time.
        let _ = self.forget_oldest(number);
        Ok(())
    }

    fn discard(&self, sequence: u64) {
        // What is left is taken away before the next operation.
        if self.disk.remove_all(&kept_place(sequence)).is_ok() {
            self.end(sequence, sequence);
        }
    }

    fn list(&self) -> Result<Vec<OperationRecord>> {
        let numbers = self.numbers()?;
        // One that is damaged, as after a loss of power, is none that could be undone. One that cannot
        // be read just now is: to pass over it would be to undo another.
        let is_none = |read: &Result<_>| {
            read.as_ref().is_err_and(|error: &Error| error.kind() == ErrorKind::Corrupt)
        };
        let read = numbers.into_iter().map(|number| self.read(number));
        read.filter(|read| !is_none(read)).collect::<Result<_>>().map(last_kept)
    }

    fn numbers(&self) -> Result<Vec<u64>> {
        Ok(self.look().map_err(|error| failure::of(Operation::List, error))?.records)
    }

    fn others(&self) -> Result<Vec<(String, Box<dyn Ledger>)>> {
        let all = branches(&self.disk.top());
        let all = all.map_err(|error| failure::of(Operation::List, error))?;
        let others = all.into_iter().filter(|(_, disk)| disk.root() != self.disk.root());
        Ok(others.map(|(name, disk)| (name, Box::new(Self::new(disk)) as _)).collect())
    }

    fn forget(&self, sequences: &[u64]) -> Result<()> {
        let forgotten = sequences.iter().try_for_each(|number| self.remove(*number));
        forgotten.map_err(|error| failure::of(Operation::Prune, error))
    }

    fn before(&self, sequence: u64) -> Result<Arc<dyn Tree>> {
        let is_known = |numbers: Numbers| {
            numbers.records.contains(&sequence) || numbers.begun.contains(&sequence)
        };
        if !self.look().is_ok_and(is_known) {
            return Err(gone());
        }
        let failed = |error| failure::of(Operation::Undo, error);
        let numbers = self.kept_by_numbers(sequence).map_err(failed)?;
        Kept::open(&self.disk.path(&kept_place(sequence)), numbers)
    }

    fn head(&self) -> Result<Option<SnapshotId>> {
        let failed = |error| failure::of(Operation::Snapshot, error);
        match self.disk.read(HEAD, 100) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.disk.check_there().map_err(failed).map(|()| None)
            }
            read => {
                let bytes = read.map_err(failed)?;
                Ok(std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok()))
            }
        }
    }

    /// Where it cannot be written down which snapshot it is, as on a full disk, none is: what was done
    /// is done.
    fn set_head(&self, id: SnapshotId) -> Result<()> {
        let written = self.write_head(id).or_else(|_| self.disk.remove(HEAD).map(drop));
        written.map_err(|error| failure::of(Operation::Snapshot, error))
    }
}
