//! The file format of a snapshot's record.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Operation, Result, damaged};
use crate::hash::ContentHash;
use crate::snapshot::{Skipped, Snapshot, SnapshotCause, SnapshotOrigin};
use crate::tree::hash::TreeHash;

const VERSION: u32 = 1;

/// Why a repair left a file out.
pub(crate) const DAMAGED: &str = "it is damaged";

const AGENT: &str = "agent";
const NOBODY: &str = "nobody";

/// A snapshot, as stored; unknown fields are ignored.
#[derive(Serialize, Deserialize)]
struct Record {
    version: u32,
    id: String,
    sequence: u64,
    created_at: String,
    parent: Option<String>,
    tag: Option<String>,
    message: Option<String>,
    cause: Cause,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    file_count: u64,
    total_bytes: u64,
    backend: String,
    strategy: String,
    reference: String,
    tree_hash: String,
    point_in_time: bool,
    excluded: Vec<String>,
    skipped: Vec<SkippedEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Cause {
    Requested,
    Safety,
}

#[derive(Serialize, Deserialize)]
struct SkippedEntry {
    path: String,
    why: String,
    #[serde(default, skip_serializing_if = "is_false")]
    missing: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    was: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl From<&Skipped> for SkippedEntry {
    fn from(skipped: &Skipped) -> Self {
        let Skipped { path, why, is_missing, was } = skipped.clone();
        Self { path, why, missing: is_missing, was }
    }
}

impl From<SkippedEntry> for Skipped {
    fn from(entry: SkippedEntry) -> Self {
        // Records that a repair wrote before `missing` was added have only the reason.
        if entry.missing || entry.why == DAMAGED {
            Self { was: entry.was, ..Self::missing(entry.path, entry.why) }
        } else {
            Self::new(entry.path, entry.why)
        }
    }
}

/// Encodes a record: a line of JSON, and a line with its BLAKE3 hash.
pub(crate) fn encode(snapshot: &Snapshot) -> Result<Vec<u8>> {
    Ok(with_sum(&encode_json(snapshot)?).into_bytes())
}

/// Encodes a snapshot as a line of JSON.
pub(crate) fn encode_json(snapshot: &Snapshot) -> Result<String> {
    let failed = |error: serde_json::Error| Error::system(Operation::Snapshot, error);
    serde_json::to_string(&to_record(snapshot)?).map_err(failed)
}

pub(crate) fn with_sum(json: &str) -> String {
    format!("{json}\nblake3 {}\n", blake3::hash(json.as_bytes()).to_hex())
}

/// Returns the line of JSON if the hash is right.
pub(crate) fn checked_json(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let json = text.split('\n').next()?;
    (with_sum(json) == text).then_some(json)
}

fn to_record(snapshot: &Snapshot) -> Result<Record> {
    let Snapshot { tag, message, fork, backend, strategy, reference, excluded, .. } =
        snapshot.clone();
    let skipped = snapshot.skipped.iter();
    Ok(Record {
        version: VERSION,
        id: snapshot.id.to_string(),
        sequence: snapshot.sequence,
        created_at: time_text(snapshot.created_at)?,
        parent: snapshot.parent.map(|parent| parent.to_string()),
        tag,
        message,
        cause: match snapshot.cause {
            SnapshotCause::Requested => Cause::Requested,
            SnapshotCause::Safety => Cause::Safety,
        },
        asked_by: match snapshot.asked_by {
            SnapshotOrigin::User => None,
            SnapshotOrigin::Agent => Some(AGENT.to_owned()),
            SnapshotOrigin::Auto => Some(NOBODY.to_owned()),
        },
        line: fork,
        file_count: snapshot.file_count,
        total_bytes: snapshot.total_bytes,
        backend,
        strategy,
        reference,
        tree_hash: snapshot.tree_hash.map_or_else(String::new, |hash| hash.to_string()),
        point_in_time: snapshot.point_in_time,
        excluded,
        skipped: skipped.map(SkippedEntry::from).collect(),
    })
}

pub(crate) fn time_text(time: SystemTime) -> Result<String> {
    Timestamp::try_from(time).map(|time| time.to_string()).map_err(|_| {
        Error::new(Operation::Snapshot, ErrorKind::InvalidArgument)
            .with_detail("the snapshot's time is out of range; give one a calendar knows")
    })
}

/// Decodes the record `name`; a damaged one is Corrupt.
pub(crate) fn decode(name: &str, bytes: &[u8]) -> Result<Snapshot> {
    let json = checked_json(bytes).ok_or_else(|| broken(name))?;
    check_version(name, json)?;
    let record: Record = serde_json::from_str(json).map_err(|_| broken(name))?;
    let snapshot = from_record(record).ok_or_else(|| broken(name))?;
    if snapshot.id.to_string() == name { Ok(snapshot) } else { Err(broken(name)) }
}

/// Decodes a line of JSON; `None` if it is not valid.
pub(crate) fn decode_json(json: &str) -> Option<Snapshot> {
    let record: Record = serde_json::from_str(json).ok()?;
    (record.version == VERSION).then(|| from_record(record)).flatten()
}

/// Checks the version first, because a later one may have other fields.
fn check_version(name: &str, json: &str) -> Result<()> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    match serde_json::from_str::<Versioned>(json) {
        Ok(found) if found.version == VERSION => Ok(()),
        Ok(found) => Err(incompatible(name, found.version)),
        Err(_) => Err(broken(name)),
    }
}

fn incompatible(name: &str, version: u32) -> Error {
    Error::new(Operation::Restore, ErrorKind::SnapshotIncompatible).with_detail(format!(
        "snapshot {name} has format {version} and only {VERSION} is known; \
         use the version that made it"
    ))
}

fn broken(name: &str) -> Error {
    let text = format!("the record of snapshot {name} is damaged; verify the store");
    Error::system(Operation::Restore, damaged(text))
}

fn from_record(record: Record) -> Option<Snapshot> {
    let created_at: Timestamp = record.created_at.parse().ok()?;
    let parent = record.parent.map(|parent| parent.parse()).transpose().ok()?;
    let tree_hash: ContentHash = record.tree_hash.parse().ok()?;
    let skipped = record.skipped.into_iter();
    Some(Snapshot {
        id: record.id.parse().ok()?,
        sequence: record.sequence,
        created_at: created_at.into(),
        parent,
        tag: record.tag,
        message: record.message,
        cause: match record.cause {
            Cause::Requested => SnapshotCause::Requested,
            Cause::Safety => SnapshotCause::Safety,
        },
        asked_by: match record.asked_by.as_deref() {
            Some(AGENT) => SnapshotOrigin::Agent,
            Some(NOBODY) => SnapshotOrigin::Auto,
            _ => SnapshotOrigin::User,
        },
        fork: record.line,
        file_count: record.file_count,
        total_bytes: record.total_bytes,
        backend: record.backend,
        strategy: record.strategy,
        reference: record.reference,
        tree_hash: Some(TreeHash::from_bytes(*tree_hash.as_bytes())),
        point_in_time: record.point_in_time,
        excluded: record.excluded,
        skipped: skipped.map(Skipped::from).collect(),
    })
}
