//! The locks between processes that use one store.
//!
//! Lock order: prune, gate, store, publish.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::thread;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::disk::Disk;
use super::failure;
use crate::error::{Error, ErrorKind, Operation, Result};

/// Shared while a snapshot looks up objects that it will refer to, exclusive while objects are deleted.
pub(crate) const STORE: &str = "lock";

/// Passed by every process on its way to the store lock, and held by the one that waits for exclusive access. Otherwise
/// a steady stream of readers could starve it.
const GATE: &str = "gate.lock";

/// Exclusive while the manifest or the set of records changes: a snapshot gets its number, one is removed, or objects
/// are deleted. Taken after the store lock.
const PUBLISH: &str = "publish.lock";

/// Exclusive for a whole garbage collection.
const PRUNE: &str = "prune.lock";

/// Exclusive during an operation in the workspace that the store belongs to.
const WORK: &str = "work.lock";

const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(2);

/// A lock, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    _file: File,
}

/// Waits until no process deletes objects, and locks deletion out.
pub(crate) fn share(disk: &Disk) -> Result<Held> {
    // The gate is held only until the store lock is taken; then it lets the next process through.
    let gate = open(disk, GATE)?;
    wait(&gate, File::try_lock_shared)?;
    let file = open(disk, STORE)?;
    wait(&file, File::try_lock_shared)?;
    Ok(Held { _file: file })
}

/// Waits for the publish lock, and leaves this process's id for those that wait.
pub(crate) fn publish(disk: &Disk) -> Result<Held> {
    let mut file = open(disk, PUBLISH)?;
    wait(&file, File::try_lock)?;
    sign(&mut file).map_err(|error| failure::of(Operation::Snapshot, error))?;
    Ok(Held { _file: file })
}

/// Waits for the work lock, and leaves a signature for those that wait.
///
/// Also returns whether the signature was there already: then no other process held the lock since.
pub(crate) fn work(disk: &Disk, signature: &Signature) -> Result<(Held, bool)> {
    let file = open(disk, WORK)?;
    wait(&file, File::try_lock)?;
    signed(file, signature)
}

/// Like [`work`], but does not wait; `None` if another process holds the lock.
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

/// Identifies a holder: the process, and a unique id of the handle.
#[derive(Debug)]
pub(crate) struct Signature(String);

impl Signature {
    pub(crate) fn new() -> Self {
        let handle = Uuid::new_v4().simple().to_string();
        Self(format!("{:<10} {handle}\n", std::process::id()))
    }

    /// Writes the signature, unless it is there already.
    fn put_into(&self, file: &mut File) -> io::Result<bool> {
        let mut there = Vec::with_capacity(self.0.len() + 1);
        file.take(self.0.len() as u64 + 1).read_to_end(&mut there)?;
        // Our own signature is still there: no other process worked here since, so what this handle knows is current.
        if there == self.0.as_bytes() {
            return Ok(true);
        }
        file.rewind()?;
        file.write_all(self.0.as_bytes())?;
        Ok(false)
    }
}

/// Waits until no other process frees space, and leaves this process's id for those that wait.
pub(crate) fn prune(disk: &Disk) -> Result<Held> {
    let mut file = open(disk, PRUNE)?;
    wait(&file, File::try_lock)?;
    sign(&mut file).map_err(|error| failure::of(Operation::Prune, error))?;
    Ok(Held { _file: file })
}

/// Exclusive access to the store, until it is dropped.
#[derive(Debug)]
pub(crate) struct Alone {
    _turn: Held,
    _store: Held,
}

/// Waits until no other process uses the store or removes snapshots, and locks them out, to delete objects.
pub(crate) fn exclusive(disk: &Disk) -> Result<Alone> {
    let gate = open(disk, GATE)?;
    wait(&gate, File::try_lock)?;
    let file = open(disk, STORE)?;
    wait(&file, File::try_lock)?;
    Ok(Alone { _store: Held { _file: file }, _turn: publish(disk)? })
}

/// Locks the store exclusively, if no other process uses it now.
pub(crate) fn alone(disk: &Disk) -> Option<Held> {
    let file = disk.open_lock(STORE).ok()?;
    file.try_lock().ok()?;
    Some(Held { _file: file })
}

fn open(disk: &Disk, name: &str) -> Result<File> {
    disk.open_lock(name).map_err(|error| failure::of(Operation::Snapshot, error))
}

/// Writes the process id with a fixed length over the last one, because truncating a file frees and allocates a block.
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
            // Polled, because a blocking lock has no timeout.
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
