//! The store of a run: what it takes, what it keeps, whether it is whole; and this computer.

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use wink_fs::{ErrorKind, VerifyOptions};

use super::{Shared, json, routes};
use crate::commands::doctor;
use crate::json::SkippedEntry;
use crate::window::calls::millis;
use crate::window::error::ApiError;
use crate::window::run::Run;

routes! {
    get "/api/v1/runs/{run}/store" "What the history takes and keeps." () => store: StoreInfo;
    get "/api/v1/runs/{run}/verify" "Checks the history for damage; changes nothing."
        ("data": "`true` also reads the contents of all files") => verify: Verified;
    get "/api/v1/doctor" "Checks this computer." () => examine: Vec<doctor::Check>;
}

/// The history of a run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StoreInfo {
    /// Where it is, if it is on a disk.
    directory: Option<String>,
    strategy: String,
    bytes: u64,
    packs: u64,
    /// The most bytes that it may take.
    max_bytes: Option<u64>,
    max_count: Option<u64>,
    max_age_seconds: Option<u64>,
    keep_tagged: bool,
    snapshots: u64,
    tagged: u64,
    /// What a setting keeps out of every snapshot.
    excluded: Vec<String>,
    /// What the newest snapshot could not hold.
    skipped: Vec<SkippedEntry>,
    missing: Vec<SkippedEntry>,
    /// When the newest snapshot was taken.
    newest: Option<i64>,
}

/// What a check of the history found.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Verified {
    ok: bool,
    snapshots: u64,
    packs: u64,
    objects: u64,
    bytes_checked: u64,
    problems: Vec<String>,
}

#[derive(Deserialize)]
struct How {
    #[serde(default)]
    data: bool,
}

async fn store(State(window): State<Shared>, Path(run): Path<String>) -> Response {
    json(move || info(&*window.run(&run)?)).await
}

fn no_history() -> ApiError {
    ApiError::of(ErrorKind::Unsupported, "no history is kept here")
}

fn info(run: &Run) -> Result<StoreInfo, ApiError> {
    let files = run.history().ok_or_else(no_history)?;
    let store = files.snapshot_store()?;
    let usage = store.usage()?;
    let retention = files.retention()?;
    let snapshots = files.snapshots()?;
    let newest = snapshots.last();
    let skipped = newest.map(|it| it.skipped.clone()).unwrap_or_default();
    let of = |is_missing: bool| {
        let found = skipped.iter().filter(|it| it.is_missing == is_missing);
        found.map(SkippedEntry::from).collect()
    };
    Ok(StoreInfo {
        directory: store.directory().map(|it| it.display().to_string()),
        strategy: store.strategy().to_owned(),
        bytes: usage.bytes,
        packs: usage.packs,
        max_bytes: retention.max_bytes,
        max_count: retention.max_count.map(|count| count as u64),
        max_age_seconds: retention.max_age.map(|age| age.as_secs()),
        keep_tagged: retention.keep_tagged,
        snapshots: snapshots.len() as u64,
        tagged: snapshots.iter().filter(|it| it.tag.is_some()).count() as u64,
        excluded: files.excluded().patterns().map(str::to_owned).collect(),
        skipped: of(false),
        missing: of(true),
        newest: newest.map(|it| millis(it.created_at)),
    })
}

async fn verify(
    State(window): State<Shared>,
    Path(run): Path<String>,
    Query(how): Query<How>,
) -> Response {
    json(move || {
        let files = window.run(&run)?.history().ok_or_else(no_history)?;
        let found = files.snapshot_store()?.verify(&VerifyOptions::default().data(how.data))?;
        Ok(Verified {
            ok: found.problems.is_empty(),
            snapshots: found.snapshots,
            packs: found.packs,
            objects: found.objects,
            bytes_checked: found.bytes_checked,
            problems: found.problems.iter().map(|it| it.what.clone()).collect(),
        })
    })
    .await
}

async fn examine() -> Response {
    json(|| Ok(doctor::computer())).await
}
