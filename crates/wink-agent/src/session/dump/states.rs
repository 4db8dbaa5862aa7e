//! The states that sessions keep, one line of JSON each.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use wink_fs::{Operation, SnapshotId};

use super::VERSION;
use super::fields::Fields;
use super::line::{self, Kept, Moment, WrittenSlice};
use super::read::{LoadOptions, next_line};
use crate::session::error::SessionError;
use crate::session::id::SessionId;
use crate::session::slices::Slices;
use crate::session::slices::cell::Cell;
use crate::session::slices::items::Items;
use crate::session::slices::slice::{Slice as _, SliceKind};
use crate::session::snapshots::{KeptState, check_tag};
use crate::session::{FilesystemSnapshotRef, Session, SessionSnapshot, VirtualFileSystem, moment};

/// What a line says that it is.
const FORMAT: &str = "wink checkpoint";

/// A line as it is written.
#[derive(Serialize)]
struct Written<'a> {
    format: &'static str,
    version: u64,
    requires: [&'static str; 0],
    session_id: String,
    snapshot_id: String,
    tag: Option<&'a str>,
    #[serde(with = "moment")]
    created_at: SystemTime,
    files: &'a [FilesystemSnapshotRef],
    slices: Vec<WrittenSlice<'a>>,
    #[serde(flatten)]
    rest: Option<&'a Fields>,
}

/// Writes the states that a session and all below it keep, those of each session oldest first.
pub(crate) fn write_states(root: &Session, out: &mut impl Write) -> Result<(), SessionError> {
    for session in root.walk() {
        for state in session.kept_states() {
            let line = encode(&session, state)?;
            let written = out.write_all(&line).and_then(|()| out.write_all(b"\n"));
            written.map_err(|error| SessionError::system(Operation::Write, error))?;
        }
    }
    out.flush().map_err(|error| SessionError::system(Operation::Write, error))
}

fn encode(session: &Session, state: KeptState) -> Result<Vec<u8>, SessionError> {
    let KeptState { snapshot, slices: kept, unknown } = state;
    let mut slices = Slices::default();
    slices.set_state(kept);
    let line = Written {
        format: FORMAT,
        version: VERSION,
        requires: [],
        session_id: session.id().to_string(),
        snapshot_id: snapshot.id.to_string(),
        tag: snapshot.tag.as_deref(),
        created_at: snapshot.created_at,
        files: &snapshot.files,
        slices: line::written_slices(&slices, unknown.as_deref().unwrap_or(&session.0.kept))?,
        rest: unknown.as_deref().map(|unknown| &unknown.fields),
    };
    serde_json::to_vec(&line).map_err(|why| SessionError::NotSerializable {
        slice: "checkpoint".to_owned(),
        why: why.to_string(),
    })
}

/// States that were read, until sessions take them over.
#[derive(Debug, Default)]
pub(crate) struct States(Vec<(SessionId, KeptState)>);

/// Reads the lines that [`write_states`] wrote.
pub(crate) fn read_states(
    from: &mut impl BufRead,
    options: &LoadOptions,
) -> Result<States, SessionError> {
    let mut states = Vec::new();
    while let Some(text) = next_line(from, states.len() + 1, options.max_line_bytes)? {
        let number = states.len() + 1;
        if states.len() == options.max_sessions {
            let why = format!("it has more than {} checkpoints", options.max_sessions);
            return Err(SessionError::malformed(number, why));
        }
        let fields = line::fields_of(number, &text, FORMAT)?;
        states.push(decode(fields).map_err(|why| SessionError::malformed(number, why))?);
    }
    Ok(States(states))
}

fn decode(mut fields: Fields) -> Result<(SessionId, KeptState), String> {
    let session: String = fields.required("session_id")?;
    let id: String = fields.required("snapshot_id")?;
    let tag: Option<String> = fields.optional::<Option<String>>("tag")?.flatten();
    tag.as_deref().map_or(Ok(()), check_tag).map_err(|why| why.to_string())?;
    let created_at: Moment = fields.required("created_at")?;
    let files = fields.required("files")?;
    let (slices, unknown) = line::decode_slices(fields.required("slices")?)?;
    let is_no_id = |_| format!("`{}` is no id of a snapshot", id.escape_debug());
    let id = id.parse::<SnapshotId>().map_err(is_no_id)?;
    let snapshot = SessionSnapshot { id, tag, created_at: created_at.0, files };
    let (slices, unknown) = (slices.of(SliceKind::State).clone(), Kept { fields, slices: unknown });
    let state = KeptState { snapshot, slices, unknown: Some(Arc::new(unknown)) };
    Ok((line::parse_id(&session)?, state))
}

impl States {
    /// Returns which snapshots of files belong to them.
    pub(crate) fn files(&self) -> impl Iterator<Item = &FilesystemSnapshotRef> {
        self.0.iter().flat_map(|(_, state)| &state.snapshot.files)
    }

    /// Changes the key of the files of some snapshots.
    pub(crate) fn rename_files(&mut self, filesystem_key: &str, ids: &BTreeSet<SnapshotId>) {
        let files = self.0.iter_mut().flat_map(|(_, state)| &mut state.snapshot.files);
        for reference in files.filter(|it| it.snapshot_id().is_some_and(|id| ids.contains(&id))) {
            filesystem_key.clone_into(&mut reference.filesystem_key);
        }
    }

    /// Changes the key of a listing.
    pub(crate) fn rename_listing(&mut self, from: Option<&str>, to: &Arc<str>) {
        for (_, KeptState { slices: state, .. }) in &mut self.0 {
            let listings = state.get(VirtualFileSystem::NAME).map(Cell::read::<VirtualFileSystem>);
            // An unreadable listing stays unchanged: a caller that rolls back to it gets the error.
            let Some(Ok(listings)) = listings else { continue };
            let renamed = listings.all().map(|listing| {
                if listing.filesystem_key() == from {
                    Arc::new(listing.owned_by(Some(to.clone())))
                } else {
                    listing.clone()
                }
            });
            let renamed: Items<_> = renamed.collect();
            state.insert(VirtualFileSystem::NAME.into(), Cell::typed(renamed));
        }
    }

    /// Gives each session of a tree its own states.
    pub(crate) fn give_to(self, root: &Session) {
        let sessions: HashMap<_, _> =
            root.walk().into_iter().map(|session| (session.id(), session)).collect();
        for (id, state) in self.0 {
            if let Some(session) = sessions.get(&id) {
                session.adopt(state);
            }
        }
    }
}
