//! All records in one file, so that a list reads one file and not a thousand; only a cache.
//!
//! A line holds the checksum of its rest, the size and time of the record's file, and the record's JSON.
//! A record whose file has another size or time is read itself, and so is one that has no whole line.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use super::record;
use crate::snapshot::Snapshot;
use crate::store::disk::{Disk, Stamp};
use crate::store::temporary::Temporary;

const DIRECTORY: &str = "cache";
const NAME: &str = "catalog";
pub(crate) const PLACE: &str = "cache/catalog";
const MAX_BYTES: u64 = 256 * 1024 * 1024;
const SUM_CHARACTERS: usize = 32;

/// A snapshot, and the file that it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) stamp: Stamp,
    pub(crate) snapshot: Snapshot,
}

/// Holds what the file says, by the names of records.
#[derive(Debug, Default)]
pub(crate) struct Cached {
    pub(crate) records: BTreeMap<String, Known>,
    /// How many lines there are, those of records that are gone included.
    pub(crate) lines: usize,
}

/// Reads the file; where it cannot be read, nothing is known.
pub(crate) fn read(disk: &Disk) -> Cached {
    let bytes = disk.read(PLACE, MAX_BYTES).unwrap_or_default();
    let mut cached = Cached::default();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        cached.lines += 1;
        // A later line is of a record that was replaced.
        cached.records.extend(decode(line));
    }
    cached
}

/// Adds a line; only the holder of the lock for publishing does.
pub(crate) fn append(disk: &Disk, known: &Known) -> io::Result<()> {
    disk.open_to_append(PLACE)?.write_all(encode(known)?.as_bytes())
}

/// Replaces the file; only the holder of the lock for publishing does.
pub(crate) fn write(disk: &Disk, records: &BTreeMap<String, Known>) -> io::Result<()> {
    let lines = records.values().map(encode).collect::<io::Result<String>>()?;
    disk.make_dir_unless_there(DIRECTORY)?;
    let mut file = Temporary::over(disk, DIRECTORY, NAME.to_owned())?;
    file.write_all(lines.as_bytes())?;
    file.rename()?;
    file.keep();
    Ok(())
}

fn encode(known: &Known) -> io::Result<String> {
    let Stamp { size, nanoseconds } = known.stamp;
    let json = record::encode_json(&known.snapshot).map_err(io::Error::other)?;
    let rest = format!("{size} {nanoseconds} {json}");
    Ok(format!("{} {rest}\n", sum(&rest)))
}

fn decode(line: &[u8]) -> Option<(String, Known)> {
    let (found, rest) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let mut parts = rest.splitn(3, ' ');
    let stamp =
        Stamp { size: parts.next()?.parse().ok()?, nanoseconds: parts.next()?.parse().ok()? };
    let snapshot = record::decode_json(parts.next()?).filter(|_| sum(rest) == found)?;
    Some((snapshot.id.to_string(), Known { stamp, snapshot }))
}

fn sum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..SUM_CHARACTERS].to_owned()
}
