//! Calls of tools: the list in pages, and one call in full.

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use wink_fs::{ErrorKind, OperationCause, OperationRecord};

use super::{Shared, json, routes};
use crate::json::ChangedEntry;
use crate::window::calls::{CallSummary, millis};
use crate::window::error::ApiError;
use crate::window::run::{Run, Source};

routes! {
    get "/api/v1/runs/{run}/calls" "The calls of tools, oldest first."
        ("offset": "how many to leave out", "limit": "how many to list at most; 5,000 by default") => list: CallsPage;
    get "/api/v1/runs/{run}/calls/{call}" "One call, with its parameters, its result and what it changed." () => one: CallDetail;
}

/// How many calls are listed at once.
const MOST: usize = 5_000;

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

/// A part of the list of calls.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CallsPage {
    total: u64,
    offset: u64,
    calls: Vec<CallSummary>,
}

/// One call.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CallDetail {
    #[serde(flatten)]
    summary: CallSummary,
    /// The beginning of its parameters, as JSON.
    parameters: String,
    /// How many bytes they have in all.
    parameters_bytes: u64,
    /// The beginning of the answer that the model got.
    result: String,
    result_bytes: u64,
    /// The client, session and process that made it.
    by: Option<String>,
    /// What it changed, as far as the log still knows.
    operations: Vec<OperationSummary>,
}

/// One operation of the log.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OperationSummary {
    sequence: u64,
    at: i64,
    name: String,
    by: Option<String>,
    /// The names of the states before and after it, for a comparison.
    a: String,
    b: String,
    /// Whether it was undone later.
    undone: bool,
    changes: Vec<ChangedEntry>,
}

async fn list(
    State(window): State<Shared>,
    Path(run): Path<String>,
    Query(part): Query<Part>,
) -> Response {
    json(move || {
        let calls = window.run(&run)?.calls();
        let limit = part.limit.unwrap_or(MOST).min(MOST);
        let total = calls.len() as u64;
        let calls = calls.into_iter().skip(part.offset).take(limit).collect();
        Ok(CallsPage { total, offset: part.offset as u64, calls })
    })
    .await
}

async fn one(State(window): State<Shared>, Path((run, call)): Path<(String, String)>) -> Response {
    json(move || detail(&*window.run(&run)?, &call)).await
}

fn detail(run: &Run, id: &str) -> Result<CallDetail, ApiError> {
    let unknown = || ApiError::of(ErrorKind::NotFound, format!("no call `{id}` is kept"));
    match &run.source {
        Source::Dump { dump, .. } => {
            let record = dump.call(id).ok_or_else(unknown)?;
            let summary = dump.calls.iter().find(|it| it.id == id).ok_or_else(unknown)?;
            Ok(CallDetail {
                summary: summary.clone(),
                parameters_bytes: record.parameters.full_bytes,
                parameters: record.parameters.text,
                result_bytes: record.result.full_bytes,
                result: record.result.text,
                by: None,
                operations: Vec::new(),
            })
        }
        Source::Live { calls, .. } => match id.strip_prefix("op:") {
            Some(number) => {
                let number: u64 = number.parse().map_err(|_| unknown())?;
                let all = run.history().ok_or_else(unknown)?.operations()?;
                let found = all.iter().find(|it| it.sequence == number).ok_or_else(unknown)?;
                Ok(CallDetail {
                    summary: CallSummary::of_operation(found),
                    parameters: "{}".to_owned(),
                    parameters_bytes: 2,
                    result: String::new(),
                    result_bytes: 0,
                    by: found.by.clone(),
                    operations: vec![operation(found, None, &all)],
                })
            }
            None => {
                let call = calls.get(id).ok_or_else(unknown)?;
                let all = run.history().and_then(|it| it.operations().ok()).unwrap_or_default();
                let operations = run.operations_of(&call);
                let fork = call.summary.fork.as_deref();
                Ok(CallDetail {
                    operations: operations.iter().map(|it| operation(it, fork, &all)).collect(),
                    summary: call.summary,
                    parameters: call.parameters.text,
                    parameters_bytes: call.parameters.full_bytes,
                    result: call.result.text,
                    result_bytes: call.result.full_bytes,
                    by: Some(call.by),
                })
            }
        },
        _ => Err(unknown()),
    }
}

fn operation(
    operation: &OperationRecord,
    fork: Option<&str>,
    all: &[OperationRecord],
) -> OperationSummary {
    let of = fork.map(|fork| format!("{}/", super::runs::fork_state(fork))).unwrap_or_default();
    OperationSummary {
        sequence: operation.sequence,
        at: millis(operation.at),
        name: operation.name.clone(),
        by: operation.by.clone(),
        a: format!("{of}op:{}^", operation.sequence),
        b: format!("{of}op:{}", operation.sequence),
        undone: fork.is_none() && is_undone(operation.sequence, all),
        changes: operation.changes.iter().map(ChangedEntry::from).collect(),
    }
}

fn is_undone(sequence: u64, all: &[OperationRecord]) -> bool {
    all.iter().fold(false, |undone, it| match it.cause {
        OperationCause::Undo { of } if of == sequence => true,
        OperationCause::Redo { of } if of == sequence => false,
        _ => undone,
    })
}
