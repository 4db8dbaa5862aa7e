//! The operation log in the directory of a store.
//!
//! An operation is a file in `operations` with the list of the paths it may have changed and its record, which
//! gets its name when it is done, and what was there before under names that begin with its number. Such names
//! without a record are what a process left that died.

mod damaged;
mod forget;
pub(crate) mod places;
mod read;
pub(crate) mod record;

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use self::damaged::{Contents, damaged_operations};
use self::places::{DIRECTORY, Numbers};
use self::read::whole_lines;
use crate::error::{Operation, Result};
use crate::host::{Preimages, first_written_since, may_be_written};
use crate::oplog::{
    OpLog, OperationRecord, Recorded, Step, announced_steps, earlier_paths, gone, last_kept, steps,
};
use crate::path::TreePath;
use crate::snapshot::SnapshotId;
use crate::store::disk::Disk;
use crate::store::temporary::Temporary;
use crate::store::{BRANCHES, failure, lock};

const HEAD: &str = "head";

/// Keeps operations in a store's directory.
pub(crate) struct FileOpLog {
    disk: Disk,
    signature: lock::Signature,
    known: Mutex<Known>,
    /// What was there before operations for which nothing is listed: their backend keeps it, as memory does,
    /// and it is gone with the process.
    unlisted: Mutex<BTreeMap<u64, Option<Recorded>>>,
}

/// What is known of the directory without reading it, as long as no other process has had the turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Nothing,
    /// Nothing was interrupted, and this is the number of the next operation.
    Next(u64),
    /// The operation of this number was begun when nothing else was interrupted.
    Begun(u64),
}

impl FileOpLog {
    pub(crate) fn new(disk: Disk) -> Self {
        let (signature, known) = (lock::Signature::new(), Mutex::new(Known::Nothing));
        Self { disk, signature, known, unlisted: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unlisted(&self) -> MutexGuard<'_, BTreeMap<u64, Option<Recorded>>> {
        self.unlisted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends an operation: nothing of it is left to take back, and `next` is the number of the next one.
    fn end(&self, number: u64, next: u64) {
        let mut known = self.known();
        *known = if *known == Known::Begun(number) { Known::Next(next) } else { Known::Nothing };
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

    /// Discards what was known if another process has had the turn since.
    fn locked(&self, (held, was_ours): (lock::Held, bool)) -> Box<dyn Any + Send> {
        if !was_ours {
            *self.known() = Known::Nothing;
        }
        Box::new(held)
    }
}

/// Returns the changes of an operation that an earlier version wrote down: it says what it left at each path, and
/// not how.
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

impl OpLog for FileOpLog {
    fn lock(&self) -> Result<Box<dyn Any + Send>> {
        Ok(self.locked(lock::work(&self.disk, &self.signature)?))
    }

    fn lock_if_free(&self) -> Result<Option<Box<dyn Any + Send>>> {
        let held = lock::work_if_free(&self.disk, &self.signature)?;
        Ok(held.map(|held| self.locked(held)))
    }

    fn interrupted(&self) -> Result<Vec<u64>> {
        if let Known::Next(_) = *self.known() {
            return Ok(Vec::new());
        }
        Ok(self.look().map_err(|error| failure::of(Operation::Undo, error))?.begun)
    }

    /// Remembers what only a backend in memory keeps: what was kept on the disk is there.
    fn remember_interrupted(&self, sequence: u64, recorded: Recorded) {
        if self.list_of(sequence).is_ok_and(|list| list.is_empty()) {
            self.unlisted().insert(sequence, Some(recorded));
        }
    }

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
        let record = record::encode(operation, &list)?;
        file.write_all(&record).map_err(failed)?;
        // What replaces files is made durable before it begins, so that it can be undone after a loss of power.
        if operation.saved().is_some() && !operation.changes.is_empty() {
            file.sync_data().and_then(|()| self.disk.sync_dir(DIRECTORY)).map_err(failed)?;
        }
        Ok(())
    }

    fn prepare_again(&self, operation: &OperationRecord) -> Result<()> {
        let record = record::encode(operation, "")?;
        let written = self.write_over(DIRECTORY, places::begun_name(operation.sequence), &record);
        written.map_err(|error| failure::of(Operation::Write, error))
    }

    fn append(&self, operation: OperationRecord, recorded: Option<Recorded>) -> Result<()> {
        let number = operation.sequence;
        if let Some(unlisted) = self.unlisted().get_mut(&number) {
            *unlisted = recorded;
        }
        let renamed = self.disk.rename(&places::begun(number), &places::record(number));
        renamed.map_err(|error| failure::of(Operation::Write, error))?;
        self.end(number, number + 1);
        // What is left is taken away another time.
        let _ = self.forget_oldest(number);
        Ok(())
    }

    fn discard(&self, sequence: u64) {
        // The number is given again, to one that may be listed.
        self.unlisted().remove(&sequence);
        // What is left is taken away before the next operation.
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

    fn numbers(&self) -> Result<Vec<u64>> {
        Ok(self.look().map_err(|error| failure::of(Operation::List, error))?.records)
    }

    fn others(&self) -> Result<Vec<(String, Box<dyn OpLog>)>> {
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

    fn begun_record(&self, sequence: u64) -> Result<Option<OperationRecord>> {
        let bytes = self.read_if_there(&places::begun(sequence));
        let bytes = bytes.map_err(|error| failure::of(Operation::Undo, error))?;
        Ok(record::decode(sequence, &bytes).ok())
    }

    fn keeps_unused(&self, sequence: u64, is_meant: &dyn Fn(&TreePath) -> bool) -> Result<bool> {
        let failed = |error| failure::of(Operation::Prune, error);
        let list = self.list_of(sequence).map_err(failed)?;
        let made = steps(&list);
        let announced = announced_steps(&list);
        let names = self.disk.names(DIRECTORY).map_err(failed)?;
        let mut kept = names.iter().filter_map(|name| places::kept_by(sequence, name));
        let is_of = |line: usize, kept: &str| places::entry(sequence, line) == kept;
        Ok(kept.any(|kept| {
            if made.iter().any(|(line, _)| is_of(*line, &kept)) {
                return false;
            }
            match announced.iter().find(|(line, _)| is_of(*line, &kept)) {
                // A copy of a file, made for a move that was then made otherwise.
                Some((_, step @ Step::Move { .. })) => step.paths().any(is_meant),
                _ => true,
            }
        }))
    }

    fn first_written_since(&self, sequence: u64) -> Result<Option<TreePath>> {
        let record = self.disk.path(&places::record(sequence));
        for (line, step) in self.recorded(sequence)?.steps {
            let place = places::entry(sequence, line);
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
        Preimages::written(&self.disk.path(&places::kept(sequence)))
    }

    fn recorded(&self, sequence: u64) -> Result<Recorded> {
        let is_known = |numbers: Numbers| {
            numbers.records.contains(&sequence) || numbers.begun.contains(&sequence)
        };
        if let Some(Some(unlisted)) = self.unlisted().get(&sequence) {
            return Ok(unlisted.clone());
        }
        let list = self.list_of(sequence).map_err(|error| failure::of(Operation::Undo, error))?;
        let steps = steps(&list);
        if steps.is_empty() && !self.look().is_ok_and(is_known) {
            return Err(gone());
        }
        let (place, earlier) = (self.disk.path(&places::kept(sequence)), earlier_paths(&list));
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

    /// Where it cannot be written down which snapshot it is, as on a full disk, none is: what was done
    /// is done.
    fn set_head(&self, id: SnapshotId) -> Result<()> {
        let written = self.write_head(id).or_else(|_| self.disk.remove(HEAD).map(drop));
        written.map_err(|error| failure::of(Operation::Snapshot, error))
    }
}
