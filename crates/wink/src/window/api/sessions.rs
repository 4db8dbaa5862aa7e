//! Sessions: their slices, the items of each, and the raw line of a dump.

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use wink_agent::session::{Session, write_session_tree};
use wink_fs::ErrorKind;

use super::{Shared, json, routes};
use crate::ui::format;
use crate::window::dump::{DumpSession, ItemsPage};
use crate::window::error::ApiError;
use crate::window::run::{Run, Source};

routes! {
    get "/api/v1/runs/{run}/sessions" "The sessions of a run, each after its parent." () => list: Vec<SessionSummary>;
    get "/api/v1/runs/{run}/sessions/{session}/items" "The items of one slice, as JSON text."
        ("slice!": "name of the slice", "offset": "how many to leave out",
         "limit": "how many to list at most; 100 by default") => items: ItemsPage;
    get "/api/v1/runs/{run}/sessions/{session}/raw" "A part of the line of a session in its dump."
        ("offset": "how many bytes to leave out", "limit": "how many bytes at most; 64 KiB by default") => raw: RawLine;
}

/// How many items are listed at once.
const MOST_ITEMS: usize = 1_000;

/// How many bytes of a raw line are sent at once.
const MOST_BYTES: u64 = 1024 * 1024;

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    slice: String,
    #[serde(default)]
    offset: u64,
    limit: Option<u64>,
}

/// One session.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SessionSummary {
    /// Its place in the list, from 0, by which it is named in addresses.
    number: u64,
    id: String,
    parent: Option<String>,
    created_at: String,
    tags: std::collections::BTreeMap<String, String>,
    slices: Vec<SliceSummary>,
    /// Its line in the dump, from 1, and how long that is.
    line: Option<u64>,
    line_bytes: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SliceSummary {
    name: String,
    /// `state` or `log`: a rollback restores state.
    kind: String,
    items: u64,
}

/// A part of a line.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RawLine {
    offset: u64,
    /// How many bytes the line has.
    total: u64,
    text: String,
}

async fn list(State(window): State<Shared>, Path(run): Path<String>) -> Response {
    json(move || {
        let run = window.run(&run)?;
        match &run.source {
            Source::Dump { dump, .. } => {
                let numbered = dump.sessions.iter().enumerate();
                Ok(numbered.map(|(number, it)| of_dump(number, it)).collect())
            }
            _ => {
                let numbered = live(&run).into_iter().enumerate();
                numbered.map(|(number, it)| of_live(number, &it)).collect::<Result<Vec<_>, _>>()
            }
        }
    })
    .await
}

/// Returns the sessions of a workspace that is served.
fn live(run: &Run) -> Vec<Session> {
    match &run.source {
        Source::Live { endpoint, .. } => endpoint.all_sessions(),
        _ => Vec::new(),
    }
}

fn of_dump(number: usize, session: &DumpSession) -> SessionSummary {
    let slice = |it: &crate::window::dump::DumpSlice| SliceSummary {
        name: it.name.clone(),
        kind: it.kind.clone(),
        items: it.count(),
    };
    SessionSummary {
        number: number as u64,
        id: session.id.clone(),
        parent: session.parent.clone(),
        created_at: session.created_at.clone(),
        tags: session.tags.clone(),
        slices: session.slices.iter().map(slice).collect(),
        line: Some(session.line),
        line_bytes: session.bytes(),
    }
}

/// The line that a session would have in a dump.
fn line(session: &Session) -> Result<String, ApiError> {
    let mut bytes = Vec::new();
    write_session_tree(session, &mut bytes)
        .map_err(|error| ApiError::of(error.kind(), error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    slices: Vec<LineSlice>,
}

#[derive(Deserialize)]
struct LineSlice {
    name: String,
    kind: String,
    items: Vec<Box<serde_json::value::RawValue>>,
}

fn slices(line: &str) -> Vec<LineSlice> {
    serde_json::from_str::<Line>(line).map(|it| it.slices).unwrap_or_default()
}

fn of_live(number: usize, session: &Session) -> Result<SessionSummary, ApiError> {
    let line = line(session)?;
    let slice =
        |it: LineSlice| SliceSummary { name: it.name, kind: it.kind, items: it.items.len() as u64 };
    Ok(SessionSummary {
        number: number as u64,
        id: session.id().to_string(),
        parent: session.parent_id().map(|id| id.to_string()),
        created_at: format::utc(session.created_at()),
        tags: session.tags().clone(),
        slices: slices(&line).into_iter().map(slice).collect(),
        line: None,
        line_bytes: line.len() as u64,
    })
}

fn unknown() -> ApiError {
    ApiError::of(ErrorKind::NotFound, "there is no such session or slice")
}

async fn items(
    State(window): State<Shared>,
    Path((run, session)): Path<(String, usize)>,
    Query(part): Query<Part>,
) -> Response {
    json(move || {
        let run = window.run(&run)?;
        let limit = part.limit.map_or(100, |limit| usize::try_from(limit).unwrap_or(MOST_ITEMS));
        let limit = limit.min(MOST_ITEMS);
        let offset = usize::try_from(part.offset).unwrap_or(usize::MAX);
        if let Source::Dump { dump, .. } = &run.source {
            let page = dump.items(session, &part.slice, offset, limit).ok_or_else(unknown)?;
            return Ok(page?);
        }
        let sessions = live(&run);
        let line = line(sessions.get(session).ok_or_else(unknown)?)?;
        let found = slices(&line).into_iter().find(|it| it.name == part.slice);
        let items = found.ok_or_else(unknown)?.items;
        let shown = items.iter().skip(offset).take(limit).map(|it| it.get().to_owned());
        Ok(ItemsPage { total: items.len() as u64, offset: part.offset, items: shown.collect() })
    })
    .await
}

async fn raw(
    State(window): State<Shared>,
    Path((run, session)): Path<(String, usize)>,
    Query(part): Query<Part>,
) -> Response {
    json(move || {
        let run = window.run(&run)?;
        let limit = part.limit.unwrap_or(64 * 1024).min(MOST_BYTES);
        if let Source::Dump { dump, .. } = &run.source {
            let bytes = dump.raw(session, part.offset, limit).ok_or_else(unknown)??;
            let total = dump.sessions.get(session).map_or(0, DumpSession::bytes);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            return Ok(RawLine { offset: part.offset, total, text });
        }
        let sessions = live(&run);
        let line = line(sessions.get(session).ok_or_else(unknown)?)?;
        let from = line.floor_char_boundary(usize::try_from(part.offset).unwrap_or(usize::MAX));
        let to = from.saturating_add(usize::try_from(limit).unwrap_or(usize::MAX));
        let text = line[from..line.floor_char_boundary(to)].to_owned();
        Ok(RawLine { offset: from as u64, total: line.len() as u64, text })
    })
    .await
}
