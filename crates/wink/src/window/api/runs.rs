//! What the window shows: the list of runs, one run, and its snapshots.

use axum::extract::{Path, State};
use axum::response::Response;
use serde::Serialize;
use wink_fs::{Snapshot, SnapshotCause, SnapshotOrigin};

use super::{Shared, json, routes};
use crate::json::SkippedEntry;
use crate::window::calls::{CallKind, CallSummary, millis};
use crate::window::error::ApiError;
use crate::window::run::{EMPTY, FORK, LIVE, Run};

routes! {
    get "/api/v1/runs" "All workspaces, dumps, archives and stores that the window shows." () => list: Vec<RunSummary>;
    get "/api/v1/runs/{run}" "One of them, with its snapshots." () => one: RunDetail;
}

/// How many bars the small picture of a run has.
const SPARK: usize = 32;

/// One run in the list.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RunSummary {
    /// Its name in addresses.
    name: String,
    title: String,
    /// `live`, `dump`, `archive` or `store`.
    kind: String,
    /// Where the files are: `memory`, `host` or another backend.
    backend: Option<String>,
    /// Whether the page may change it.
    can_change: bool,
    calls: u64,
    failed: u64,
    snapshots: u64,
    forks: Vec<String>,
    /// When the first and the last call began, in milliseconds since 1970.
    first: Option<i64>,
    last: Option<i64>,
    /// How many calls there were in each part of that time.
    spark: Vec<u32>,
    /// How many calls failed in each part of that time.
    spark_failed: Vec<u32>,
    /// How many calls changed files.
    changing: u64,
}

/// One run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RunDetail {
    #[serde(flatten)]
    summary: RunSummary,
    snapshots_list: Vec<SnapshotSummary>,
    /// What could not be read, and what is not shown.
    notes: Vec<String>,
    /// The states that a page compares at first.
    default_a: String,
    default_b: String,
    /// The id that a stream begins after.
    event: String,
    /// Its directory, which commands to copy name.
    root: Option<String>,
}

/// One snapshot.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SnapshotSummary {
    pub(crate) id: String,
    /// The beginning of its id, as people write it.
    pub(crate) short: String,
    pub(crate) at: i64,
    pub(crate) parent: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) message: Option<String>,
    /// The fork that took it.
    pub(crate) fork: Option<String>,
    /// `user`, `agent`, `auto` or `safety`.
    pub(crate) origin: String,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// How many bytes it added to the store, where that is known.
    pub(crate) stored: Option<u64>,
    pub(crate) excluded: Vec<String>,
    pub(crate) skipped: Vec<SkippedEntry>,
    /// What it should hold and does not.
    pub(crate) missing: Vec<SkippedEntry>,
}

impl SnapshotSummary {
    pub(crate) fn of(snapshot: &Snapshot, stored: Option<u64>) -> Self {
        let origin = match (snapshot.cause, snapshot.asked_by) {
            (SnapshotCause::Safety, _) => "safety",
            (_, SnapshotOrigin::Agent) => "agent",
            (_, SnapshotOrigin::Auto) => "auto",
            _ => "user",
        };
        Self {
            id: snapshot.id.to_string(),
            short: snapshot.id.short(),
            at: millis(snapshot.created_at),
            parent: snapshot.parent.map(|id| id.to_string()),
            tag: snapshot.tag.clone(),
            message: snapshot.message.clone(),
            fork: snapshot.fork.clone(),
            origin: origin.to_owned(),
            files: snapshot.file_count,
            bytes: snapshot.total_bytes,
            stored,
            excluded: snapshot.excluded_by_setting().map(str::to_owned).collect(),
            skipped: snapshot.skipped.iter().filter(|it| !it.is_missing).map(Into::into).collect(),
            missing: snapshot.missing().map(Into::into).collect(),
        }
    }
}

async fn list(State(window): State<Shared>) -> Response {
    json(move || window.runs().iter().map(|run| summary(run)).collect::<Result<Vec<_>, _>>()).await
}

async fn one(State(window): State<Shared>, Path(run): Path<String>) -> Response {
    json(move || {
        // Before the lists are read, so that no event after them is missed.
        let event = window.feed.id(window.feed.newest());
        detail(&*window.run(&run)?, event)
    })
    .await
}

/// Returns the snapshots of a run, oldest first.
pub(super) fn snapshots(run: &Run) -> Result<Vec<SnapshotSummary>, ApiError> {
    let store = run.history().and_then(|files| files.snapshot_store().ok());
    let stored = |it: &Snapshot| store.as_ref().and_then(|store| store.stored_bytes(it));
    Ok(run.snapshots()?.iter().map(|it| SnapshotSummary::of(it, stored(it))).collect())
}

fn summary(run: &Run) -> Result<RunSummary, ApiError> {
    let calls = run.calls();
    let (first, last) = (calls.first().map(|it| it.at), calls.last().map(|it| it.at));
    let failed = |it: &&CallSummary| !it.ok;
    let changing = |it: &&CallSummary| it.changed && it.kind != CallKind::Read;
    Ok(RunSummary {
        name: run.name.clone(),
        title: run.title.clone(),
        kind: run.source.kind().to_owned(),
        backend: run.history().map(|files| files.properties().backend.to_string()),
        can_change: run.can_change(),
        failed: calls.iter().filter(failed).count() as u64,
        changing: calls.iter().filter(changing).count() as u64,
        snapshots: run.snapshots()?.len() as u64,
        forks: run.forks(),
        spark: spark(&calls, first, last, |_| true),
        spark_failed: spark(&calls, first, last, |call| !call.ok),
        calls: calls.len() as u64,
        first,
        last,
    })
}

fn spark(
    calls: &[CallSummary],
    first: Option<i64>,
    last: Option<i64>,
    counts: impl Fn(&CallSummary) -> bool,
) -> Vec<u32> {
    let mut bars = vec![0; SPARK];
    let (Some(first), Some(last)) = (first, last) else { return bars };
    let span = (last - first).max(1) as u64;
    for call in calls.iter().filter(|call| counts(call)) {
        let after = call.at.saturating_sub(first).max(0) as u64;
        let bar = (after.saturating_mul(SPARK as u64) / (span + 1)) as usize;
        bars[bar.min(SPARK - 1)] += 1;
    }
    bars
}

fn detail(run: &Run, event: String) -> Result<RunDetail, ApiError> {
    let snapshots_list = snapshots(run)?;
    let own = snapshots_list.iter().find(|it| it.fork.is_none()).or(snapshots_list.first());
    Ok(RunDetail {
        summary: summary(run)?,
        default_a: own.map_or(EMPTY.to_owned(), |first| first.id.clone()),
        default_b: LIVE.to_owned(),
        snapshots_list,
        notes: run.notes.clone(),
        event,
        root: run.root.as_ref().map(|root| root.display().to_string()),
    })
}

/// Names the files of a fork.
pub(super) fn fork_state(name: &str) -> String {
    format!("{FORK}{name}")
}
