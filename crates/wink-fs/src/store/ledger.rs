//! The history of a workspace, kept in the directory of its store.
//!
//! An operation is a file in `operations` with the list of the paths it may have changed and its record, which
//! gets its name when it is done, and what was there before under names that begin with its number. Such names
//! without a record are what a process left that died.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::disk::Disk;
use super::operation_places::{self as places, DIRECTORY, Numbers};
use super::temporary::Temporary;
use super::{BRANCHES, failure, lock, operation_record};
use crate::ErrorKind;
use crate::error::{Error, Operation, Result};
use crate::host::Kept;
use crate::operation::{
    Ledger, MANY_RECORDS, OperationRecord, gone, last_kept, too_old, touched_paths,
};
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::tree::Tree;

const HEAD: &str = "head";
const FORGET_EVERY: u64 = 16;
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Keeps operations in a store's directory.
pub(crate) struct StoreLedger {
    disk: Disk,
    signature: lock::Signature,
    known: Mutex<Known>,
    /// What was there before operations for which nothing is listed: their backend keeps it, as memory does,
    /// and it is gone with the process.
    unlisted: Mutex<BTreeMap<u64, Option<Arc<dyn Tree>>>>,
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
        let (signature, known) = (lock::Signature::new(), Mutex::new(Known::Nothing));
        Self { disk, signature, known, unlisted: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unlisted(&self) -> MutexGuard<'_, BTreeMap<u64, Option<Arc<dyn Tree>>>> {
        self.unlisted.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Returns the paths that an operation may have changed, each with the number of its line.
    fn touched(&self, number: u64) -> io::Result<Vec<(TreePath, usize)>> {
        for place in [places::record(number), places::begun(number), places::old_list(number)] {
            let lines = touched_paths(&self.read_if_there(&place)?);
            if !lines.is_empty() {
                return Ok(lines);
            }
        }
        Ok(Vec::new())
    }

    fn read_if_there(&self, place: &str) -> io::Result<Vec<u8>> {
        match self.disk.read(place, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        }
    }

    fn read(&self, number: u64) -> Result<OperationRecord> {
        let bytes = self.disk.read(&places::record(number), MAX_BYTES);
        let bytes = bytes.map_err(|error| failure::of(Operation::Undo, error))?;
        operation_record::decode(number, &bytes)
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
    /// changed goes before, or with it: then there is nothing to take back.
    fn remove(&self, number: u64, entries: impl Iterator<Item = String>) -> io::Result<()> {
        self.disk.remove(&places::old_list(number))?;
        self.disk.remove(&places::begun(number))?;
        self.disk.remove(&places::record(number))?;
        for entry in entries {
            self.disk.remove(&entry)?;
        }
        self.disk.remove_all(&places::kept(number))
    }

    /// Removes what was begun.
    fn remove_begun(&self, number: u64) -> io::Result<()> {
        if *self.known() == Known::Begun(number) {
            // One more than is listed: what failed may be that it could not be.
            let lines = 0..=self.touched(number)?.len();
            return self.remove(number, lines.map(|line| places::entry(number, line)));
        }
        let names = self.disk.names(DIRECTORY)?;
        self.remove(number, names.iter().filter_map(|name| places::kept_by(number, name)))
    }

    fn write_head(&self, id: SnapshotId) -> io::Result<()> {
        let mut file = Temporary::over(&self.disk, ".", HEAD.to_owned())?;
        writeln!(file, "{id}")?;
        file.rename()?;
        file.keep();
        Ok(())
    }
}

/// An operation whose record is damaged, with the places of what there is of it.
pub(super) struct DamagedOperation {
    pub(super) number: u64,
    pub(super) record: String,
    /// What was there before it.
    pub(super) kept: Vec<String>,
}

/// Returns the damaged operations of all histories that share a store, but for those that a loss of power took:
/// their records were never synced, and their loss says nothing of the store.
pub(super) fn damaged_operations(store: &Disk) -> Result<Vec<DamagedOperation>> {
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
            return Ok((number, self.disk.path(&places::kept(number))));
        }
        let failed = |error| failure::of(Operation::Write, error);
        let there = self.look().map_err(failed)?;
        self.disk.make_dir_unless_there(DIRECTORY).map_err(failed)?;
        let number = there.next();
        *known = if there.begun.is_empty() { Known::Begun(number) } else { Known::Nothing };
        Ok((number, self.disk.path(&places::kept(number))))
    }

    fn prepare(&self, operation: &OperationRecord) -> Result<()> {
        // The record follows the list of the paths that its operation may have changed.
        let failed = |error| failure::of(Operation::Write, error);
        let mut file =
            self.disk.open_to_continue(&places::begun(operation.sequence)).map_err(failed)?;
        let mut list = String::new();
        file.read_to_string(&mut list).map_err(failed)?;
        if list.is_empty() {
            self.unlisted().insert(operation.sequence, None);
        }
        let record = operation_record::encode(operation, &list)?;
        file.write_all(&record).map_err(failed)
    }

    fn append(&self, operation: OperationRecord, before: Option<Arc<dyn Tree>>) -> Result<()> {
        let number = operation.sequence;
        if let Some(unlisted) = self.unlisted().get_mut(&number) {
            *unlisted = before;
        }
        let renamed = self.disk.rename(&places::begun(number), &places::record(number));
        renamed.map_err(|error| failure::of(Operation::Write, error))?;
        self.end(number, number + 1);
        // What is left is taken away another time.
        let _ = self.forget_oldest(number);
        Ok(())
    }

    fn discard(&self, sequence: u64) {
        // What is left is taken away before the next operation.
        if self.remove_begun(sequence).is_ok() {
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

    fn damaged(&self) -> Result<Vec<u64>> {
        let (mut whole, mut damaged) = (Vec::new(), Vec::new());
        for number in self.numbers()? {
            match self.read(number) {
                Ok(operation) => whole.push(operation),
                Err(error) if error.kind() == ErrorKind::Corrupt => damaged.push(number),
                Err(_) => {}
            }
        }
        let too_old = too_old(whole.iter().map(|it| &it.cause));
        let oldest = whole.get(too_old).filter(|_| too_old > 0).map_or(0, |it| it.sequence);
        damaged.retain(|number| *number > oldest);
        Ok(damaged)
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
        let failed = |error| failure::of(Operation::Prune, error);
        if sequences.is_empty() {
            return Ok(());
        }
        let names = self.disk.names(DIRECTORY).map_err(failed)?;
        for number in sequences {
            let entries = names.iter().filter_map(|name| places::kept_by(*number, name));
            self.remove(*number, entries).map_err(failed)?;
            self.unlisted().remove(number);
        }
        Ok(())
    }

    fn begun_replacement(&self, sequence: u64) -> Result<Option<OperationRecord>> {
        let bytes = self.read_if_there(&places::begun(sequence));
        let bytes = bytes.map_err(|error| failure::of(Operation::Undo, error))?;
        let begun = operation_record::decode(sequence, &bytes).ok();
        Ok(begun.filter(|begun| begun.cause.saved().is_some()))
    }

    fn keeps_nameless(&self, sequence: u64) -> Result<bool> {
        let failed = |error| failure::of(Operation::Prune, error);
        let lines = self.touched(sequence).map_err(failed)?;
        let names = self.disk.names(DIRECTORY).map_err(failed)?;
        let mut kept = names.iter().filter_map(|name| places::kept_by(sequence, name));
        Ok(kept.any(|kept| lines.iter().all(|(_, line)| places::entry(sequence, *line) != kept)))
    }

    fn before(&self, sequence: u64) -> Result<Arc<dyn Tree>> {
        let is_known = |numbers: Numbers| {
            numbers.records.contains(&sequence) || numbers.begun.contains(&sequence)
        };
        if !self.look().is_ok_and(is_known) {
            return Err(gone());
        }
        let failed = |error| failure::of(Operation::Undo, error);
        if let Some(Some(unlisted)) = self.unlisted().get(&sequence) {
            return Ok(unlisted.clone());
        }
        let mut kept = self.touched(sequence).map_err(failed)?;
        if kept.is_empty() {
            return Err(gone());
        }
        kept.retain(|(_, line)| self.disk.is_there(&places::entry(sequence, *line)));
        Kept::open(&self.disk.path(&places::kept(sequence)), kept)
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
