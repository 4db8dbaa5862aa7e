//! Pins on snapshots: one small file each.

use std::io::{self, Write as _};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::record::{checked_json, time_text, with_sum};
use crate::error::{Error, Operation, Result};
use crate::snapshot::{Pin, SnapshotId};
use crate::store::disk::Disk;
use crate::store::temporary::{Temporary, is_temporary};
use crate::store::{failure, lock};

pub(crate) const DIRECTORY: &str = "pins";
const MAX_BYTES: u64 = 64 * 1024;
const VERSION: u32 = 1;

/// The length of the owner's hash in a file name.
const OWNER_CHARACTERS: usize = 32;

/// A pin, as stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    snapshot: String,
    owner: String,
    expires: Option<String>,
}

/// Writes a pin, replacing the owner's old one; the lock keeps prunes out.
pub(crate) fn add(disk: &Disk, pin: &Pin) -> Result<()> {
    let _turn = lock::publish(disk)?;
    super::read(disk, &pin.snapshot.to_string())?;
    let text = encode(pin)?;
    write(disk, pin, &text).map_err(|error| failure::of(Operation::Snapshot, error))
}

fn encode(pin: &Pin) -> Result<String> {
    let stored = Stored {
        version: VERSION,
        snapshot: pin.snapshot.to_string(),
        owner: pin.owner.clone(),
        expires: pin.expires.map(time_text).transpose()?,
    };
    let json = serde_json::to_string(&stored);
    Ok(with_sum(&json.map_err(|error| Error::system(Operation::Snapshot, error))?))
}

fn write(disk: &Disk, pin: &Pin, text: &str) -> io::Result<()> {
    disk.make_dir_unless_there(DIRECTORY)?;
    let mut file = Temporary::over(disk, DIRECTORY, file_name(&pin.snapshot, &pin.owner))?;
    file.write_all(text.as_bytes())?;
    file.sync()?;
    file.replace()
}

/// Removes a pin, and returns whether it existed.
pub(crate) fn remove(disk: &Disk, id: &SnapshotId, owner: &str) -> io::Result<bool> {
    disk.remove(&format!("{DIRECTORY}/{}", file_name(id, owner)))
}

/// Removes all pins of deleted snapshots.
pub(crate) fn remove_all(disk: &Disk, gone: &[SnapshotId]) -> io::Result<()> {
    for name in names(disk)?.iter().filter(|name| pinned(name).is_some_and(|id| gone.contains(&id)))
    {
        disk.remove(&format!("{DIRECTORY}/{name}"))?;
    }
    Ok(())
}

/// Returns all pins. A damaged one never expires: its file name still says which snapshot it protects.
pub(crate) fn list(disk: &Disk) -> io::Result<Vec<Pin>> {
    let mut pins = Vec::new();
    for name in names(disk)? {
        let Some(snapshot) = pinned(&name) else { continue };
        let bytes = disk.read(&format!("{DIRECTORY}/{name}"), MAX_BYTES).unwrap_or_default();
        pins.push(decode(&name, &bytes).unwrap_or_else(|| Pin::new(snapshot, "unknown")));
    }
    Ok(pins)
}

/// Returns the names of damaged pins.
pub(crate) fn damaged(disk: &Disk) -> io::Result<Vec<String>> {
    let mut names = names(disk)?;
    names.retain(|name| {
        let bytes = disk.read(&format!("{DIRECTORY}/{name}"), MAX_BYTES);
        bytes.ok().and_then(|bytes| decode(name, &bytes)).is_none()
    });
    Ok(names)
}

fn names(disk: &Disk) -> io::Result<Vec<String>> {
    let mut names = match disk.names(DIRECTORY) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        names => names?,
    };
    names.retain(|name| !is_temporary(name));
    Ok(names)
}

fn decode(name: &str, bytes: &[u8]) -> Option<Pin> {
    let stored: Stored = serde_json::from_str(checked_json(bytes)?).ok()?;
    let expires = stored.expires.map(|at| at.parse::<Timestamp>()).transpose().ok()?;
    let snapshot = stored.snapshot.parse().ok().filter(|_| stored.version == VERSION)?;
    let pin = Pin { snapshot, owner: stored.owner, expires: expires.map(Into::into) };
    (file_name(&pin.snapshot, &pin.owner) == name).then_some(pin)
}

/// Returns a pin's file name, which identifies the snapshot even if the content is damaged.
fn file_name(id: &SnapshotId, owner: &str) -> String {
    format!("{id}.{}", &blake3::hash(owner.as_bytes()).to_hex()[..OWNER_CHARACTERS])
}

fn pinned(name: &str) -> Option<SnapshotId> {
    name.split_once('.').and_then(|(id, _)| id.parse().ok())
}
