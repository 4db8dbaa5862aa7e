//! One session as a line.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::fields::Fields;
use super::{FORMAT, VERSION};
use crate::session::error::SessionError;
use crate::session::id::SessionId;
use crate::session::slices::Slices;
use crate::session::slices::cell::Cell;
use crate::session::slices::slice::SliceKind;
use crate::session::{Session, moment};

/// The parts of a dump that this version does not know, which are written back unchanged.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(super) fields: Fields,
    pub(super) slices: BTreeMap<String, Fields>,
}

/// A line as it is written.
#[derive(Serialize)]
struct Written<'a> {
    format: &'static str,
    version: u64,
    requires: [&'static str; 0],
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<usize>,
    session_id: String,
    parent: Option<String>,
    #[serde(with = "moment")]
    created_at: SystemTime,
    tags: &'a BTreeMap<String, String>,
    slices: Vec<WrittenSlice<'a>>,
    #[serde(flatten)]
    rest: &'a Fields,
}

#[derive(Serialize)]
pub(super) struct WrittenSlice<'a> {
    name: &'a str,
    kind: SliceKind,
    items: Box<RawValue>,
    #[serde(flatten)]
    rest: Option<&'a Fields>,
}

/// Encodes a session as a line without its newline; the first line has the number of lines.
pub(super) fn encode(
    session: &Session,
    slices: &Slices,
    sessions: Option<usize>,
) -> Result<Vec<u8>, SessionError> {
    let kept = &session.0.kept;
    let line = Written {
        format: FORMAT,
        version: VERSION,
        requires: [],
        sessions,
        session_id: session.id().to_string(),
        parent: session.parent_id().map(|id| id.to_string()),
        created_at: session.created_at(),
        tags: session.tags(),
        slices: written_slices(slices, kept)?,
        rest: &kept.fields,
    };
    serde_json::to_vec(&line).map_err(|why| SessionError::NotSerializable {
        slice: "session".to_owned(),
        why: why.to_string(),
    })
}

pub(super) fn written_slices<'a>(
    slices: &'a Slices,
    kept: &'a Kept,
) -> Result<Vec<WrittenSlice<'a>>, SessionError> {
    let present = slices.each().filter(|(_, _, cell)| !cell.is_absent());
    let written = present.map(|(kind, name, cell)| {
        let items = cell.to_json(name)?;
        Ok(WrittenSlice { name, kind, items, rest: kept.slices.get(name) })
    });
    written.collect()
}

/// A line as it was read.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) id: SessionId,
    pub(super) parent: Option<SessionId>,
    pub(super) sessions: Option<usize>,
    pub(super) created_at: SystemTime,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) slices: Slices,
    pub(super) kept: Kept,
}

#[derive(Deserialize)]
pub(super) struct Moment(#[serde(with = "moment")] pub(super) SystemTime);

/// Reads the line with this number.
pub(super) fn decode(number: usize, text: &str) -> Result<Line, SessionError> {
    let fields = fields_of(number, text, FORMAT)?;
    decode_fields(fields).map_err(|why| SessionError::malformed(number, why))
}

/// Parses a line of a format.
pub(super) fn fields_of(number: usize, text: &str, format: &str) -> Result<Fields, SessionError> {
    let mut fields: Fields =
        serde_json::from_str(text).map_err(|why| SessionError::malformed(number, why))?;
    check_format(number, &mut fields, format)?;
    Ok(fields)
}

/// Checks format and version before anything else: a later version may have other fields.
fn check_format(number: usize, fields: &mut Fields, expected: &str) -> Result<(), SessionError> {
    let malformed = |why: String| SessionError::malformed(number, why);
    let format: String = fields.required("format").map_err(malformed)?;
    if format != expected {
        let what = expected.trim_start_matches("wink ");
        return Err(malformed(format!("it is not the line of a {what}")));
    }
    let unknown = |what| Err(SessionError::UnknownFormat { line: number, what });
    match fields.required::<u64>("version").map_err(malformed)? {
        VERSION => {}
        other => return unknown(format!("version {other}")),
    }
    let features: Vec<String> = fields.optional("requires").map_err(malformed)?.unwrap_or_default();
    match features.into_iter().next() {
        Some(feature) => unknown(format!("the feature `{}`", feature.escape_debug())),
        None => Ok(()),
    }
}

fn decode_fields(mut fields: Fields) -> Result<Line, String> {
    let id: String = fields.required("session_id")?;
    let parent: Option<String> = fields.optional::<Option<String>>("parent")?.flatten();
    let created_at: Moment = fields.required("created_at")?;
    let tags = fields.optional("tags")?.unwrap_or_default();
    let (slices, kept_slices) = decode_slices(fields.required("slices")?)?;
    Ok(Line {
        id: parse_id(&id)?,
        parent: parent.as_deref().map(parse_id).transpose()?,
        sessions: fields.optional("sessions")?,
        created_at: created_at.0,
        tags,
        slices,
        kept: Kept { fields, slices: kept_slices },
    })
}

pub(super) fn parse_id(text: &str) -> Result<SessionId, String> {
    text.parse().map_err(|_| format!("`{}` is no id of a session", text.escape_debug()))
}

pub(super) fn decode_slices(
    written: Vec<Fields>,
) -> Result<(Slices, BTreeMap<String, Fields>), String> {
    let mut slices = Slices::default();
    let mut kept = BTreeMap::new();
    let mut seen = HashSet::new();
    for mut fields in written {
        let name: String = fields.required("name")?;
        let kind: SliceKind = fields.required("kind")?;
        let items: Box<RawValue> = fields.required("items")?;
        serde_json::from_str::<Vec<IgnoredAny>>(items.get())
            .map_err(|why| format!("the items of `{}`: {why}", name.escape_debug()))?;
        if !seen.insert(name.clone()) {
            return Err(format!("the slice `{}` is there twice", name.escape_debug()));
        }
        slices.put_cell(kind, Cow::Owned(name.clone()), Cell::Raw(Arc::from(items)));
        kept.insert(name, fields);
    }
    Ok((slices, kept))
}
