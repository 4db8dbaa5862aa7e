//! All records in one file, so that listing reads one file instead of a thousand; only a cache.
//!
//! A line has a checksum of its rest, the size and time of the record's file, and the record's JSON. A record whose
//! file has another size or time, or which has no intact line, is read itself.

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

/// A snapshot, and the stamp of its file.
#[derive(Clone, Debug)]
pub(crate) struct CachedRecord {
    pub(crate) stamp: Stamp,
    pub(crate) snapshot: Snapshot,
}

/// The content of the cache, by the names of records.
#[derive(Debug, Default)]
pub(crate) struct Cached {
    pub(crate) records: BTreeMap<String, CachedRecord>,
    /// How many lines there are, including those of deleted records.
    pub(crate) lines: usize,
}

/// Reads the cache; an empty one if that fails.
pub(crate) fn read(disk: &Disk) -> Cached {
    let bytes = disk.read(PLACE, MAX_BYTES).unwrap_or_default();
    let mut cached = Cached::default();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        cached.lines += 1;
        // A later line replaces an earlier one of the same record.
        cached.records.extend(decode(line));
    }
    cached
}

/// Appends a line; requires the publish lock.
pub(crate) fn append(disk: &Disk, known: &CachedRecord) -> io::Result<()> {
    disk.open_to_append(PLACE)?.write_all(encode(known)?.as_bytes())
}

/// Replaces the cache; requires the publish lock.
pub(crate) fn write(disk: &Disk, records: &BTreeMap<String, CachedRecord>) -> io::Result<()> {
    let lines = records.values().map(encode).collect::<io::Result<String>>()?;
    disk.make_dir_unless_there(DIRECTORY)?;
    let mut file = Temporary::over(disk, DIRECTORY, NAME.to_owned())?;
    file.write_all(lines.as_bytes())?;
    file.rename()?;
    file.keep();
    Ok(())
}

fn encode(known: &CachedRecord) -> io::Result<String> {
    let Stamp { size, nanoseconds } = known.stamp;
    let json = record::encode_json(&known.snapshot).map_err(io::Error::other)?;
    let rest = format!("{size} {nanoseconds} {json}");
    Ok(format!("{} {rest}\n", sum(&rest)))
}

fn decode(line: &[u8]) -> Option<(String, CachedRecord)> {
    let (found, rest) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let mut parts = rest.splitn(3, ' ');
    let stamp =
        Stamp { size: parts.next()?.parse().ok()?, nanoseconds: parts.next()?.parse().ok()? };
    let snapshot = record::decode_json(parts.next()?).filter(|_| sum(rest) == found)?;
    Some((snapshot.id.to_string(), CachedRecord { stamp, snapshot }))
}

fn sum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..SUM_CHARACTERS].to_owned()
}
