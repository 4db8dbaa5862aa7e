//! The locks between processes that use one store.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::thread;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::disk::Disk;
use super::failure;
use crate::error::{Error, ErrorKind, Operation, Result};

/// Held shared while objects are looked up that a snapshot will rely on, exclusively to delete any.
pub(crate) const STORE: &str = "lock";

/// Passed by every process on the way to the store's lock, and held by the one that waits for exclusive access:
/// no other process gets in meanwhile, or the waiting one might starve.
const GATE: &str = "gate.lock";

/// Held exclusively by the process that changes the manifest or the set of records: while a snapshot gets its place in
/// the order, one is forgotten, or objects are deleted. Taken after the store's lock.
const PUBLISH: &str = "publish.lock";

/// Held exclusively by the one who gives space back, from its first look to its end.
const PRUNE: &str = "prune.lock";

/// Held exclusively while an operation is done in the workspace that the store belongs to.
const WORK: &str = "work.lock";

const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(2);

/// Holds a lock until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    _file: File,
}

/// Waits until no process deletes objects, and keeps it so until the lock is dropped.
pub(crate) fn share(disk: &Disk) -> Result<Held> {
    let gate = open(disk, GATE)?;
    wait(&gate, File::try_lock_shared)?;
    let file = open(disk, STORE)?;
    wait(&file, File::try_lock_shared)?;
    Ok(Held { _file: file })
}

/// Waits for the turn to publish, and leaves this process's id for those who wait.
pub(crate) fn publish(disk: &Disk) -> Result<Held> {
    let mut file = open(disk, PUBLISH)?;
    wait(&file, File::try_lock)?;
    sign(&mut file).map_err(|error| failure::of(Operation::Snapshot, error))?;
    Ok(Held { _file: file })
}

/// Waits for the turn to work, and leaves a signature for those who wait.
///
/// Also returns whether the signature was there already: then no other holder has had the turn since.
pub(crate) fn work(disk: &Disk, signature: &Signature) -> Result<(Held, bool)> {
    let file = open(disk, WORK)?;
    wait(&file, File::try_lock)?;
    signed(file, signature)
}

/// Does the same if no other holder has the turn now; returns `None` otherwise.
pub(crate) fn work_if_free(disk: &Disk, signature: &Signature) -> Result<Option<(Held, bool)>> {
    let file = open(disk, WORK)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failure::of(Operation::Snapshot, error)),
        Ok(()) => signed(file, signature).map(Some),
    }
}

fn signed(mut file: File, signature: &Signature) -> Result<(Held, bool)> {
    let signed = signature.put_into(&mut file);
    let was_there = signed.map_err(|error| failure::of(Operation::Snapshot, error))?;
    Ok((Held { _file: file }, was_there))
}

/// Says who has the turn: the process, and which of its handles, which no other one is like.
#[derive(Debug)]
pub(crate) struct Signature(String);

impl Signature {
    pub(crate) fn new() -> Self {
        let handle = Uuid::new_v4().simple().to_string();
        Self(format!("{:<10} {handle}\n", std::process::id()))
    }

    /// Writes it over the last one, unless that is the same.
    fn put_into(&self, file: &mut File) -> io::Result<bool> {
        let mut there = Vec::with_capacity(self.0.len() + 1);
        file.take(self.0.len() as u64 + 1).read_to_end(&mut there)?;
        if there == self.0.as_bytes() {
            return Ok(true);
        }
        file.rewind()?;
        file.write_all(self.0.as_bytes())?;
        Ok(false)
    }
}

/// Waits until no other process reclaims space, and leaves this process's id for those that wait.
pub(crate) fn prune(disk: &Disk) -> Result<Held> {
    let mut file = open(disk, PRUNE)?;
    wait(&file, File::try_lock)?;
    sign(&mut file).map_err(|error| failure::of(Operation::Prune, error))?;
    Ok(Held { _file: file })
}

/// Holds the store for one alone until it is dropped.
#[derive(Debug)]
pub(crate) struct Alone {
    _turn: Held,
    _store: Held,
}

/// Waits until no other process uses the store or forgets snapshots, and keeps it so, to delete objects.
pub(crate) fn exclusive(disk: &Disk) -> Result<Alone> {
    let gate = open(disk, GATE)?;
    wait(&gate, File::try_lock)?;
    let file = open(disk, STORE)?;
    wait(&file, File::try_lock)?;
    Ok(Alone { _store: Held { _file: file }, _turn: publish(disk)? })
}

/// Locks the store exclusively if no other process uses it now.
pub(crate) fn alone(disk: &Disk) -> Option<Held> {
    let file = disk.open_lock(STORE).ok()?;
    file.try_lock().ok()?;
    Some(Held { _file: file })
}

fn open(disk: &Disk, name: &str) -> Result<File> {
    disk.open_lock(name).map_err(|error| failure::of(Operation::Snapshot, error))
}

/// Writes the process's id over the last one, always as long: to cut a file off costs a block.
fn sign(file: &mut File) -> io::Result<()> {
    file.rewind()?;
    file.write_all(format!("{:<10}\n", std::process::id()).as_bytes())
}

fn wait(file: &File, attempt: fn(&File) -> Result<(), TryLockError>) -> Result<()> {
    let start = Instant::now();
    loop {
        match attempt(file) {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(failure::of(Operation::Snapshot, error)),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                return Err(locked(file));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(STEP),
        }
    }
}

fn locked(mut file: &File) -> Error {
    let mut text = String::new();
    let _ = file.rewind().and_then(|()| file.take(20).read_to_string(&mut text));
    let pid = text.split_whitespace().next().and_then(|pid| pid.parse::<u32>().ok());
    let owner = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
    Error::new(Operation::Snapshot, ErrorKind::Locked)
        .with_detail(format!("{owner} holds the store of snapshots; try again in a moment"))
}
