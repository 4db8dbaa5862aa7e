//! The operation log in a store's directory.
//!
//! Each operation is a file in `operations`: the list of its steps, followed by its record. The file gets its final
//! name when the operation is done. Pre-images have names that begin with its number. Such names without a record
//! belong to a process that died.

mod damaged;
pub(crate) mod layout;
pub(crate) mod record;

use std::any::Any;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

pub(crate) use self::damaged::{Contents, damaged_operations};
use self::layout::{DIRECTORY, Numbers};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::host::{Preimages, first_written_since, may_be_written};
use crate::oplog::{
    Line, MANY_RECORDS, OpLog, OperationRecord, Recorded, Step, announced_steps, earlier_paths,
    gone, intact_length, last_kept, steps,
};
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::store::disk::Disk;
use crate::store::temporary::Temporary;
use crate::store::{FORKS_DIRECTORY, failure, lock};

const HEAD: &str = "head";

/// No file of an operation is larger.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Old operations are looked for once in so many.
const FORGET_EVERY: u64 = 16;

/// Keeps operations in a store's directory.
pub(crate) struct FileOpLog {
    disk: Disk,
    signature: lock::Signature,
    state: Mutex<LogState>,
    /// The pre-images of operations without a list: their backend keeps them in memory, and they are gone with the
    /// process.
    unlisted: Mutex<BTreeMap<u64, Option<Recorded>>>,
}

/// What is known about the directory without reading it, as long as no other process held the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LogState {
    Unknown,
    /// No operation was interrupted, and this is the next number.
    Next(u64),
    /// This operation was begun, and no other was interrupted.
    Begun(u64),
}

impl FileOpLog {
    pub(crate) fn new(disk: Disk) -> Self {
        let signature = lock::Signature::new();
        let state = Mutex::new(LogState::Unknown);
        Self { disk, signature, state, unlisted: Mutex::default() }
    }

    /// Ends an operation: nothing of it is left to roll back.
    fn end(&self, number: u64, next: u64) {
        let mut state = self.state.lock();
        *state = if *state == LogState::Begun(number) {
            LogState::Next(next)
        } else {
            LogState::Unknown
        };
    }

    fn write_head(&self, id: SnapshotId) -> io::Result<()> {
        self.write_over(".", HEAD.to_owned(), format!("{id}\n").as_bytes())
    }

    /// Replaces a file atomically.
    fn write_over(&self, directory: &'static str, name: String, bytes: &[u8]) -> io::Result<()> {
        let mut file = Temporary::over(&self.disk, directory, name)?;
        file.write_all(bytes)?;
        file.rename()?;
        file.keep();
        Ok(())
    }

    /// Discards what was known if another process held the lock since.
    fn locked(&self, (held, was_ours): (lock::Held, bool)) -> Box<dyn Any + Send> {
        if !was_ours {
            *self.state.lock() = LogState::Unknown;
        }
        Box::new(held)
    }

    /// Lists the operations, with one read of the directory.
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

    /// Returns an operation's list, with the record that may follow it.
    fn list_of(&self, number: u64) -> io::Result<Vec<u8>> {
        // A record after an empty list has no steps either; the list may still be where an earlier version had it.
        for place in [layout::record(number), layout::begun(number), layout::old_list(number)] {
            let list = self.read_if_there(&place)?;
            if !steps(&list).is_empty() {
                return Ok(list);
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
        let bytes = self.disk.read(&layout::record(number), MAX_BYTES);
        let bytes = bytes.map_err(|error| failure::of(Operation::Undo, error))?;
        record::decode(number, &bytes)
    }

    /// Reads records.
    ///
    /// Damaged ones, as after a power loss, are skipped: they cannot be undone. One that cannot be read now is an
    /// error: skipping it would undo another operation instead.
    fn whole_records(&self, numbers: &[u64]) -> Result<Vec<OperationRecord>> {
        let is_none = |read: &Result<_>| {
            read.as_ref().is_err_and(|error: &Error| error.kind() == ErrorKind::Corrupt)
        };
        let read = numbers.iter().map(|number| self.read(*number));
        read.filter(|read| !is_none(read)).collect()
    }

    /// Forgets operations that are too old to be listed; only now and then, because finding them takes a while.
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
        // A damaged record has no known cause, so it goes only by its age.
        let is_whole = |number: &u64| whole.iter().any(|it| it.sequence == *number);
        let goes = |it: &u64| *it < oldest || (is_whole(it) && !is_listed(it));
        self.forget(&records.into_iter().filter(goes).collect::<Vec<_>>())
    }

    /// Removes an operation.
    ///
    /// Without its record it would count as interrupted and be rolled back, so its list goes first: an operation
    /// without a list has nothing to roll back.
    fn remove(&self, number: u64, entries: impl Iterator<Item = String>) -> io::Result<()> {
        self.disk.remove(&layout::old_list(number))?;
        self.disk.remove(&layout::begun(number))?;
        self.disk.remove(&layout::record(number))?;
        for entry in entries {
            self.disk.remove_entry(&entry)?;
        }
        self.disk.remove_entry(&layout::kept(number))
    }

    /// Removes an operation that was begun.
    fn remove_begun(&self, number: u64) -> io::Result<()> {
        if *self.state.lock() == LogState::Begun(number) {
            // One more than is listed: the line itself may be what could not be written.
            let lines = 0..=line_count(&self.read_if_there(&layout::begun(number))?);
            return self.remove(number, lines.map(|line| layout::entry(number, line)));
        }
        let names = self.disk.names(DIRECTORY)?;
        self.remove(number, names.iter().filter_map(|name| layout::kept_by(number, name)))
    }
}

/// Reads the list of an operation in progress, and cuts off an incomplete last line.
fn whole_lines(file: &mut File) -> io::Result<String> {
    let mut list = Vec::new();
    let read = file.read_to_end(&mut list)?;
    list.truncate(list.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
    if list.len() < read {
        file.set_len(list.len() as u64)?;
    }
    String::from_utf8(list).map_err(io::Error::other)
}

fn line_count(list: &[u8]) -> usize {
    list.iter().filter(|byte| **byte == b'\n').count()
}

/// Returns the steps of an operation of an earlier version, which recorded only the result at each path.
fn earlier_recorded(
    done: OperationRecord,
    place: PathBuf,
    mut earlier: Vec<(usize, TreePath)>,
) -> Recorded {
    let mut steps = Vec::new();
    for change in done.changes {
        let known = earlier.iter().find(|(_, path)| *path == change.path).map(|(line, _)| *line);
        let line = known.unwrap_or_else(|| {
            let next = earlier.iter().map(|(line, _)| line + 1).max().unwrap_or_default();
            earlier.push((next, change.path.clone()));
            next
        });
        let step = match change.left {
            Some(left) => Step::Place { path: change.path, left },
            None => Step::Remove { path: change.path },
        };
        steps.push((line, step));
    }
    Recorded::new(steps, Arc::new(Preimages::open(place, earlier)))
}

/// Returns the histories that share a store, by name: its own, with an empty name, and its forks'.
fn histories(store: &Disk) -> io::Result<Vec<(String, Disk)>> {
    let names = match store.names(FORKS_DIRECTORY) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        names => names?,
    };
    let fork = |name: String| {
        let disk = store.below(&format!("{FORKS_DIRECTORY}/{name}"));
        (name, disk)
    };
    Ok([(String::new(), store.clone())].into_iter().chain(names.into_iter().map(fork)).collect())
}

impl OpLog for FileOpLog {
    fn lock(&self) -> Result<Box<dyn Any + Send>> {
        Ok(self.locked(lock::work(&self.disk, &self.signature)?))
    }

    fn lock_if_free(&self) -> Result<Option<Box<dyn Any + Send>>> {
        let held = lock::work_if_free(&self.disk, &self.signature)?;
        Ok(held.map(|held| self.locked(held)))
    }

    fn interrupted(&self) -> Result<Vec<u64>> {
        if let LogState::Next(_) = *self.state.lock() {
            return Ok(Vec::new());
        }
        Ok(self.look().map_err(|error| failure::of(Operation::Undo, error))?.begun)
    }

    /// Remembers only what is in memory; pre-images on disk are found there.
    fn remember_interrupted(&self, sequence: u64, recorded: Recorded) {
        if self.list_of(sequence).is_ok_and(|list| list.is_empty()) {
            self.unlisted.lock().insert(sequence, Some(recorded));
        }
    }

    fn next(&self) -> Result<(u64, PathBuf)> {
        let mut state = self.state.lock();
        if let LogState::Next(number) = *state {
            *state = LogState::Begun(number);
            return Ok((number, self.disk.path(&layout::kept(number))));
        }
        let failed = |error| failure::of(Operation::Write, error);
        let there = self.look().map_err(failed)?;
        self.disk.make_dir_unless_there(DIRECTORY).map_err(failed)?;
        let number = there.next();
        *state = if there.begun.is_empty() { LogState::Begun(number) } else { LogState::Unknown };
        Ok((number, self.disk.path(&layout::kept(number))))
    }

    fn prepare(&self, operation: &OperationRecord) -> Result<()> {
        // The list and the record are one file: a call creates one inode, and the record's hash covers the list.
        let failed = |error| failure::of(Operation::Write, error);
        let mut file =
            self.disk.open_to_continue(&layout::begun(operation.sequence)).map_err(failed)?;
        let list = whole_lines(&mut file).map_err(failed)?;
        if list.is_empty() {
            self.unlisted.lock().insert(operation.sequence, None);
        }
        let record = record::encode(operation, &list)?;
        file.write_all(&record).map_err(failed)?;
        // Calls are not synced, but a replacement must stay undoable after a power loss: synced before the first file
        // changes.
        if operation.saved().is_some() && !operation.changes.is_empty() {
            file.sync_data().and_then(|()| self.disk.sync_dir(DIRECTORY)).map_err(failed)?;
        }
        Ok(())
    }

    fn drop_steps(&self, sequence: u64, lines: &[usize]) -> Result<()> {
        let failed = |error| failure::of(Operation::Write, error);
        let place = layout::begun(sequence);
        let list = self.read_if_there(&place).map_err(failed)?;
        let length = intact_length(&list);
        if lines.is_empty() || length == 0 {
            return Ok(());
        }
        let mut file = self.disk.open_to_continue(&place).map_err(failed)?;
        // After a damaged line, such as a power loss leaves, no reader would find them.
        file.set_len(length as u64).map_err(failed)?;
        let undone = lines.iter().map(|line| Line::Undone { line: *line }.encode());
        file.write_all(undone.collect::<String>().as_bytes()).map_err(failed)?;
        for line in lines {
            // What is left over goes with the operation.
            let _ = self.disk.remove_entry(&layout::entry(sequence, *line));
        }
        Ok(())
    }

    fn prepare_again(&self, operation: &OperationRecord) -> Result<()> {
        let record = record::encode(operation, "")?;
        let written = self.write_over(DIRECTORY, layout::begun_name(operation.sequence), &record);
        written.map_err(|error| failure::of(Operation::Write, error))
    }

    fn append(&self, operation: OperationRecord, recorded: Option<Recorded>) -> Result<()> {
        let number = operation.sequence;
        if let Some(unlisted) = self.unlisted.lock().get_mut(&number) {
            *unlisted = recorded;
        }
        // This rename makes the call an operation: before it, recovery rolls the call back.
        let renamed = self.disk.rename(&layout::begun(number), &layout::record(number));
        renamed.map_err(|error| failure::of(Operation::Write, error))?;
        self.end(number, number + 1);
        // What is left over is removed another time.
        let _ = self.forget_oldest(number);
        Ok(())
    }

    fn discard(&self, sequence: u64) {
        // The number is used again, by an operation that may have a list.
        self.unlisted.lock().remove(&sequence);
        // If this fails, the operation is rolled back again before the next one, which finds nothing to do.
        if self.remove_begun(sequence).is_ok() {
            self.end(sequence, sequence);
        }
    }

    fn list(&self) -> Result<Vec<OperationRecord>> {
        self.whole_records(&self.numbers()?).map(last_kept)
    }

    fn damaged(&self) -> Result<Vec<u64>> {
        self.damaged_records()
    }

    fn bytes(&self) -> Result<u64> {
        match self.disk.size(layout::DIRECTORY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            size => size.map_err(|error| failure::of(Operation::Stat, error)),
        }
    }

    fn numbers(&self) -> Result<Vec<u64>> {
        Ok(self.look().map_err(|error| failure::of(Operation::List, error))?.records)
    }

    fn others(&self) -> Result<Vec<(String, Box<dyn OpLog>)>> {
        let all = histories(&self.disk.top());
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
            let entries = names.iter().filter_map(|name| layout::kept_by(*number, name));
            self.remove(*number, entries).map_err(failed)?;
            self.unlisted.lock().remove(number);
        }
        Ok(())
    }

    fn begun_record(&self, sequence: u64) -> Result<Option<OperationRecord>> {
        let bytes = self.read_if_there(&layout::begun(sequence));
        let bytes = bytes.map_err(|error| failure::of(Operation::Undo, error))?;
        Ok(record::decode(sequence, &bytes).ok())
    }

    fn keeps_unused(&self, sequence: u64, is_meant: &dyn Fn(&TreePath) -> bool) -> Result<bool> {
        let failed = |error| failure::of(Operation::Prune, error);
        let list = self.list_of(sequence).map_err(failed)?;
        let made = steps(&list);
        let announced = announced_steps(&list);
        let names = self.disk.names(DIRECTORY).map_err(failed)?;
        let mut kept = names.iter().filter_map(|name| layout::kept_by(sequence, name));
        let is_of = |line: usize, kept: &str| layout::entry(sequence, line) == kept;
        Ok(kept.any(|kept| {
            if made.iter().any(|(line, _)| is_of(*line, &kept)) {
                return false;
            }
            match announced.iter().find(|(line, _)| is_of(*line, &kept)) {
                // A copy for a move that was then done differently.
                Some((_, step @ Step::Move { .. })) => step.paths().any(is_meant),
                _ => true,
            }
        }))
    }

    fn first_written_since(&self, sequence: u64) -> Result<Option<TreePath>> {
        let record = self.disk.path(&layout::record(sequence));
        for (line, step) in self.recorded(sequence)?.steps {
            let place = layout::entry(sequence, line);
            if !self.disk.is_there(&place) {
                continue;
            }
            let kept = self.disk.path(&place);
            if let Some(written) = first_written_since(&record, &kept)? {
                let name = kept.file_name().unwrap_or_default().as_encoded_bytes();
                let inside = written.rebase(&TreePath::from_disk(name)?, step.path());
                return inside.unwrap_or_else(|| Ok(step.path().clone())).map(Some);
            }
        }
        Ok(None)
    }

    fn may_be_written(&self, kept: &TreePath) -> Result<bool> {
        may_be_written(&self.disk.path(&format!("{DIRECTORY}/{kept}")))
    }

    fn written(&self, sequence: u64) -> Result<Option<Recorded>> {
        Preimages::of_replacement(&self.disk.path(&layout::kept(sequence)))
    }

    fn recorded(&self, sequence: u64) -> Result<Recorded> {
        let is_known = |numbers: Numbers| {
            numbers.records.contains(&sequence) || numbers.begun.contains(&sequence)
        };
        if let Some(Some(unlisted)) = self.unlisted.lock().get(&sequence) {
            return Ok(unlisted.clone());
        }
        let list = self.list_of(sequence).map_err(|error| failure::of(Operation::Undo, error))?;
        let steps = steps(&list);
        if steps.is_empty() && !self.look().is_ok_and(is_known) {
            return Err(gone());
        }
        let place = self.disk.path(&layout::kept(sequence));
        let earlier = earlier_paths(&list);
        match self.read(sequence) {
            Ok(done) if !earlier.is_empty() => Ok(earlier_recorded(done, place, earlier)),
            // Its backend kept everything in the memory of a process that is gone.
            Ok(done) if steps.is_empty() && !done.changes.is_empty() => Err(gone()),
            _ => Ok(Recorded::new(steps, Arc::new(Preimages::open(place, earlier)))),
        }
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

    /// If the head cannot be written, on a full disk say, it is removed: no head is better than a wrong one.
    fn set_head(&self, id: SnapshotId) -> Result<()> {
        let written = self.write_head(id).or_else(|_| self.disk.remove(HEAD).map(drop));
        written.map_err(|error| failure::of(Operation::Snapshot, error))
    }
}
