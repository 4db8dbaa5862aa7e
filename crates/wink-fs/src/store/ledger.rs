//! The history of a workspace, kept in the directory of its store.
//!
//! An operation is a file in `operations` with the list of the paths it may have changed and its record, which
//! gets its name when it is done, and what was there before under names that begin with its number. Such names
//! without a record are what a process left that died.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::disk::Disk;
use super::operation_places::{self as places, DIRECTORY, Numbers};
use super::temporary::Temporary;
use super::{BRANCHES, failure, lock, operation_record};
use crate::ErrorKind;
use crate::error::{Error, Operation, Result};
use crate::host::{BeforeTree, first_written_since};
use crate::operation::{Ledger, MANY_RECORDS, OperationRecord, gone, last_kept, touched_paths};
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

    /// Returns those of them for which an entry is kept by the number of its line.
    fn kept_lines(&self, number: u64) -> Result<Vec<(TreePath, usize)>> {
        let touched = self.touched(number);
        let mut lines = touched.map_err(|error| failure::of(Operation::Undo, error))?;
        lines.retain(|(_, line)| self.disk.is_there(&places::entry(number, *line)));
        Ok(lines)
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
        let whole = self.whole_records(&records)?;
        let listed = last_kept(whole.clone());
        let oldest = listed.first().map_or(0, |oldest| oldest.sequence);
        let is_listed = |number: &u64| listed.iter().any(|it| it.sequence == *number);
        // One that is damaged goes only when it is too old.
        let is_whole = |number: &u64| whole.iter().any(|it| it.sequence == *number);
        let goes = |it: &u64| *it < oldest || (is_whole(it) && !is_listed(it));
        self.forget(&records.into_iter().filter(goes).collect::<Vec<_>>())
    }

    /// Reads the records of some operations.
    ///
    /// One that is damaged, as after a loss of power, is none that could be undone. One that cannot be read
    /// just now is: to pass over it would be to undo another.
    fn whole_records(&self, numbers: &[u64]) -> Result<Vec<OperationRecord>> {
        let is_none = |read: &Result<_>| {
            read.as_ref().is_err_and(|error: &Error| error.kind() == ErrorKind::Corrupt)
        };
        let read = numbers.iter().map(|number| self.read(*number));
        read.filter(|read| !is_none(read)).collect()
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
        self.write_over(".", HEAD.to_owned(), format!("{id}\n").as_bytes())
    }

    /// Writes a file in the place of one that may be there, as a whole.
    fn write_over(&self, directory: &'static str, name: String, bytes: &[u8]) -> io::Result<()> {
        let mut file = Temporary::over(&self.disk, directory, name)?;
        file.write_all(bytes)?;
        file.rename()?;
        file.keep();
        Ok(())
    }

    /// Forgets what was known where somebody else has had the turn since.
    fn locked(&self, (held, was_ours): (lock::Held, bool)) -> Box<dyn Any + Send> {
        if !was_ours {
            *self.known() = Known::Nothing;
        }
        Box::new(held)
    }
}

/// Reads the list that an operation has begun, and cuts off what could not be written as a whole.
fn whole_lines(file: &mut File) -> io::Result<String> {
    let mut list = Vec::new();
    let read = file.read_to_end(&mut list)?;
    list.truncate(list.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
    if list.len() < read {
        file.set_len(list.len() as u64)?;
    }
    String::from_utf8(list).map_err(io::Error::other)
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
        Ok(self.locked(lock::work(&self.disk, &self.signature)?))
    }

    fn lock_if_free(&self) -> Result<Option<Box<dyn Any + Send>>> {
        let held = lock::work_if_free(&self.disk, &self.signature)?;
        Ok(held.map(|held| self.locked(held)))
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
        let list = whole_lines(&mut file).map_err(failed)?;
        if list.is_empty() {
            self.unlisted().insert(operation.sequence, None);
        }
        let record = operation_record::encode(operation, &list)?;
        file.write_all(&record).map_err(failed)
    }

    fn prepare_again(&self, operation: &OperationRecord) -> Result<()> {
        let record = operation_record::encode(operation, "")?;
        let written = self.write_over(DIRECTORY, places::begun_name(operation.sequence), &record);
        written.map_err(|error| failure::of(Operation::Write, error))
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
        self.whole_records(&self.numbers()?).map(last_kept)
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

    fn first_written_since(&self, sequence: u64, paths: &[TreePath]) -> Result<Option<TreePath>> {
        let (record, place) = (places::record(sequence), places::kept(sequence));
        let lines = self.kept_lines(sequence)?;
        first_written_since(&self.disk.path(&record), &self.disk.path(&place), &lines, paths)
    }

    fn before(&self, sequence: u64) -> Result<Arc<dyn Tree>> {
        let is_known = |numbers: Numbers| {
            numbers.records.contains(&sequence) || numbers.begun.contains(&sequence)
        };
        if !self.look().is_ok_and(is_known) {
            return Err(gone());
        }
        if let Some(Some(unlisted)) = self.unlisted().get(&sequence) {
            return Ok(unlisted.clone());
        }
        let failed = |error| failure::of(Operation::Undo, error);
        if self.touched(sequence).map_err(failed)?.is_empty() {
            return Err(gone());
        }
        let kept = self.kept_lines(sequence)?;
        BeforeTree::open(&self.disk.path(&places::kept(sequence)), kept)
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
