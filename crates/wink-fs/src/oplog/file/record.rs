//! The file format of an operation.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Operation, Result, damaged};
use crate::oplog::{
    ContentId, DirectoryModeChange, OperationCause, OperationChange, OperationRecord,
};
use crate::path::TreePath;
use crate::store::catalog::record::{time_text, with_sum};
use crate::tree::Kind;
use crate::tree::merkle;

const VERSION: u32 = 4;

/// Version 3 listed only paths and what was put there, version 2 only paths. Version 1 kept all pre-images at their own
/// paths.
const VERSIONS: RangeInclusive<u32> = 1..=VERSION;

/// A stored operation; unknown fields are ignored.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    sequence: u64,
    at: String,
    name: String,
    cause: Cause,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    changes: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_alone: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    modes: Vec<Mode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    saved: Option<String>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaced: Option<String>,
}

/// A directory of which only the mode changed; modes are as in the hash of a tree.
#[derive(Serialize, Deserialize)]
struct Mode {
    path: String,
    was: u8,
    is: u8,
}

/// Encodes the record that follows the list: a line of JSON, and a line with the BLAKE3 hash of list and JSON.
pub(crate) fn encode(operation: &OperationRecord, list: &str) -> Result<Vec<u8>> {
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
        call: operation.call.clone(),
        changes: operation.changes.iter().map(to_change).collect(),
        left_alone: operation.left_alone.iter().map(ToString::to_string).collect(),
        modes: operation.modes.iter().map(to_mode).collect(),
        saved: operation.saved.map(|saved| saved.to_string()),
    };
    let failed = |error: serde_json::Error| Error::system(Operation::Write, error);
    let json = serde_json::to_string(&stored).map_err(failed)?;
    Ok(with_sum(&format!("{list}{json}")).split_off(list.len()).into_bytes())
}

fn to_change(change: &OperationChange) -> Change {
    let text = |kind: Option<Kind>| kind.map(|kind| kind.to_string());
    let left = change.left.as_ref().map(ToString::to_string);
    let path = change.path.to_string();
    let inside = change.inside.iter().map(ToString::to_string).collect();
    let replaced = change.replaced.as_ref().map(ToString::to_string);
    let before = text(change.before);
    let after = text(change.after);
    Change { path, before, after, inside, left, replaced }
}

fn to_mode(change: &DirectoryModeChange) -> Mode {
    let DirectoryModeChange { path, was, is } = change;
    Mode { path: path.to_string(), was: merkle::mode_bits(*was), is: merkle::mode_bits(*is) }
}

/// Decodes an operation's file; a damaged one, or one of another version, is Corrupt.
pub(crate) fn decode(number: u64, bytes: &[u8]) -> Result<OperationRecord> {
    let stored: Option<Stored> = whole(bytes).and_then(|json| serde_json::from_str(json).ok());
    let operation =
        stored.filter(|stored| VERSIONS.contains(&stored.version)).and_then(from_stored);
    operation.filter(|operation| operation.sequence == number).ok_or_else(|| {
        let text = format!("the record of operation {number} is damaged; it cannot be undone");
        Error::system(Operation::Undo, damaged(text))
    })
}

/// Returns the line of JSON, if the hash is right.
fn whole(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (before_sum, _) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    (with_sum(before_sum) == text).then(|| before_sum.rsplit('\n').next())?
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
    let left_alone = stored.left_alone.iter().map(|text| TreePath::parse(text).ok());
    let left_alone = left_alone.collect::<Option<_>>()?;
    let modes = stored.modes.into_iter().map(from_mode).collect::<Option<_>>()?;
    let saved = stored.saved.map(|saved| saved.parse()).transpose().ok()?;
    let sequence = stored.sequence;
    let name = stored.name;
    let by = stored.by;
    let call = stored.call;
    let at = at.into();
    Some(OperationRecord { sequence, at, name, cause, by, call, changes, left_alone, modes, saved })
}

fn from_mode(Mode { path, was, is }: Mode) -> Option<DirectoryModeChange> {
    let path = TreePath::parse(&path).ok()?;
    Some(DirectoryModeChange { path, was: merkle::mode_of(was), is: merkle::mode_of(is) })
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
    let before = kind(change.before)?;
    let after = kind(change.after)?;
    let inside = change.inside.iter().map(|text| TreePath::parse(text).ok());
    let inside = inside.collect::<Option<_>>()?;
    Some(OperationChange {
        path,
        before,
        after,
        inside,
        left: change.left.as_deref().map(ContentId::parse),
        replaced: change.replaced.and_then(|text| text.parse().ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oplog::{Step, earlier_paths, steps};

    const GOLDEN: &[u8] = include_bytes!("../../../tests/golden/operation-v4.op");
    const CALLED: &[u8] = include_bytes!("../../../tests/golden/operation-v4-call.op");
    const THIRD: &[u8] = include_bytes!("../../../tests/golden/operation-v3.op");
    const SECOND: &[u8] = include_bytes!("../../../tests/golden/operation-v2.op");
    const FIRST: &[u8] = include_bytes!("../../../tests/golden/operation-v1.op");

    #[test]
    fn an_operation_is_written_as_it_always_was() {
        for (golden, call) in [(GOLDEN, None), (CALLED, Some("call-1"))] {
            let operation = decode(1, golden).unwrap();
            let end = golden.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            let list = std::str::from_utf8(&golden[..end]).unwrap();
            let written = [list.as_bytes(), &encode(&operation, list).unwrap()].concat();
            assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(golden));
            assert_eq!(operation.changes[0].path.to_string(), "src/main.rs");
            assert_eq!(operation.call.as_deref(), call);
        }
    }

    #[test]
    fn an_operation_of_an_earlier_version_is_read() {
        for earlier in [FIRST, SECOND, THIRD] {
            assert_eq!(decode(1, earlier).unwrap(), decode(1, GOLDEN).unwrap());
        }
    }

    /// A reader of the third version takes a line that says what was done for a damaged one, and would take nothing
    /// back.
    #[test]
    fn a_list_of_changes_is_of_a_version_of_its_own() {
        let version =
            |file: &[u8]| serde_json::from_str::<Stored>(whole(file).unwrap()).unwrap().version;
        let versions = [SECOND, THIRD, GOLDEN].map(version);
        assert_eq!(versions, [2, 3, 4]);
        let earlier = [SECOND, THIRD, GOLDEN].map(|file| earlier_paths(file).len());
        assert_eq!(earlier, [1, 1, 0]);
        assert!(matches!(steps(THIRD)[..], [(0, Step::Put { .. })]));
        assert_eq!(steps(GOLDEN), steps(THIRD));
    }
}
