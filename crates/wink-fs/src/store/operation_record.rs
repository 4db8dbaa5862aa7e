//! The file of one operation.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::record::{time_text, with_sum};
use crate::error::{Error, Operation, Result, damaged};
use crate::operation::{Left, OperationCause, OperationChange, OperationRecord};
use crate::path::TreePath;
use crate::tree::Kind;

const VERSION: u32 = 2;

/// Before, all that an operation kept was at its own path, as what is larger still is.
const VERSIONS: RangeInclusive<u32> = 1..=VERSION;

/// Holds an operation as it stands in its file; fields that are not known are passed over.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    sequence: u64,
    at: String,
    name: String,
    cause: Cause,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    changes: Vec<Change>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Cause {
    Call,
    Recovery,
    Replacement { saved: String },
    Undo { of: u64 },
    Redo { of: u64 },
}

#[derive(Serialize, Deserialize)]
struct Change {
    path: String,
    before: Option<String>,
    after: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inside: Vec<String>,
    left: Option<String>,
}

/// Returns the bytes of an operation's file: a line of JSON, and a line with its BLAKE3 hash.
pub(super) fn encode(operation: &OperationRecord) -> Result<Vec<u8>> {
    let stored = Stored {
        version: VERSION,
        sequence: operation.sequence,
        at: time_text(operation.at)?,
        name: operation.name.clone(),
        cause: match operation.cause {
            OperationCause::Call => Cause::Call,
            OperationCause::Recovery => Cause::Recovery,
            OperationCause::Replacement { saved } => {
                Cause::Replacement { saved: saved.to_string() }
            }
            OperationCause::Undo { of } => Cause::Undo { of },
            OperationCause::Redo { of } => Cause::Redo { of },
        },
        by: operation.by.clone(),
        changes: operation.changes.iter().map(to_change).collect(),
    };
    let failed = |error: serde_json::Error| Error::system(Operation::Write, error);
    let json = serde_json::to_string(&stored).map_err(failed)?;
    Ok(with_sum(&json).into_bytes())
}

fn to_change(change: &OperationChange) -> Change {
    let text = |kind: Option<Kind>| kind.map(|kind| kind.to_string());
    let left = change.left.as_ref().map(ToString::to_string);
    let path = change.path.to_string();
    let inside = change.inside.iter().map(ToString::to_string).collect();
    Change { path, before: text(change.before), after: text(change.after), inside, left }
}

/// Reads the bytes of an operation's file; what is damaged, or of another version, is Corrupt.
pub(super) fn decode(number: u64, bytes: &[u8]) -> Result<OperationRecord> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let json = text.split('\n').next().unwrap_or_default();
    let stored: Option<Stored> = serde_json::from_str(json).ok().filter(|_| with_sum(json) == text);
    let operation =
        stored.filter(|stored| VERSIONS.contains(&stored.version)).and_then(from_stored);
    operation.filter(|operation| operation.sequence == number).ok_or_else(|| {
        let text = format!("the record of operation {number} is damaged; it cannot be undone");
        Error::system(Operation::Undo, damaged(text))
    })
}

fn from_stored(stored: Stored) -> Option<OperationRecord> {
    let at: Timestamp = stored.at.parse().ok()?;
    let cause = match stored.cause {
        Cause::Call => OperationCause::Call,
        Cause::Recovery => OperationCause::Recovery,
        Cause::Replacement { saved } => OperationCause::Replacement { saved: saved.parse().ok()? },
        Cause::Undo { of } => OperationCause::Undo { of },
        Cause::Redo { of } => OperationCause::Redo { of },
    };
    let changes = stored.changes.into_iter().map(from_change).collect::<Option<_>>()?;
    let (sequence, name, by) = (stored.sequence, stored.name, stored.by);
    Some(OperationRecord { sequence, at: at.into(), name, cause, by, changes })
}

fn from_change(change: Change) -> Option<OperationChange> {
    let path = match &*change.path {
        "." => TreePath::root(),
        text => TreePath::parse(text).ok()?,
    };
    let kind = |text: Option<String>| match text {
        None => Some(None),
        Some(text) => Kind::from_text(&text).map(Some),
    };
    let (before, after) = (kind(change.before)?, kind(change.after)?);
    let inside = change.inside.iter().map(|text| TreePath::parse(text).ok());
    let inside = inside.collect::<Option<_>>()?;
    Some(OperationChange {
        path,
        before,
        after,
        inside,
        left: change.left.as_deref().map(Left::parse),
    })
}
