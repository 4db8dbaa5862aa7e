//! What a page can change: only with POST and JSON, and only in a workspace that is served.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use wink_fs::{MergeOptions, RestoreOptions, SnapshotOptions, TreePath, Undone};

use super::runs::SnapshotSummary;
use super::{Shared, body_of, json, routes};
use crate::json::{ChangedEntry, SkippedEntry};
use crate::window::error::ApiError;
use crate::window::run::Source;

routes! {
    post "/api/v1/runs/{run}/restore" "Makes the files those of a snapshot; what is there is saved first."
        () body Restore => restore: Restored;
    post "/api/v1/runs/{run}/undo" "Undoes one operation, or the last one." () body Undo => undo: Stepped;
    post "/api/v1/runs/{run}/redo" "Redoes what was undone last." () body Nothing => redo: Stepped;
    post "/api/v1/runs/{run}/revert" "Takes the changes between two states out, and keeps what came later."
        () body Revert => revert: Reverted;
    post "/api/v1/runs/{run}/fork" "Makes a fork of a state; nothing else changes." () body Fork => fork: Forked;
    post "/api/v1/runs/{run}/snapshot" "Takes a snapshot." () body Take => snapshot: SnapshotSummary;
}

/// What to restore.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Restore {
    /// The snapshot.
    to: String,
    /// Only these paths, with everything below them.
    #[serde(default)]
    paths: Vec<String>,
    /// Only say what would change.
    #[serde(default)]
    dry_run: bool,
}

/// What a restore did, or would do.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Restored {
    dry_run: bool,
    /// The snapshot that has what was there before.
    saved: Option<String>,
    written: u64,
    brought_back: u64,
    removed: u64,
    unchanged: u64,
    changes: Vec<ChangedEntry>,
    /// What was replaced although other programs had changed it since the last snapshot.
    changed_outside: Vec<String>,
    /// What the snapshot should hold and does not; it is left as it is.
    missing: Vec<SkippedEntry>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Undo {
    /// The number of the operation; the last one by default.
    operation: Option<u64>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// What was undone or redone.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Stepped {
    /// The number and the name of the operation.
    operation: u64,
    name: String,
    /// The paths that changed.
    paths: Vec<String>,
    /// The paths that were left alone, because they changed since.
    conflicts: Vec<String>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Revert {
    /// The states before and after the changes to take out.
    from: String,
    to: String,
    #[serde(default)]
    dry_run: bool,
}

/// What a revert did, or would do.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Reverted {
    /// Whether anything was changed; nothing is where there are conflicts.
    applied: bool,
    changes: Vec<ChangedEntry>,
    conflicts: Vec<String>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Fork {
    /// The name of the fork: letters, digits, - and _.
    name: String,
    /// The state; the files of now by default.
    at: Option<String>,
}

/// A new fork.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Forked {
    name: String,
    /// The name of its files, for a comparison.
    state: String,
    message: String,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Take {
    tag: Option<String>,
}

async fn restore(State(window): State<Shared>, Path(run): Path<String>, body: Bytes) -> Response {
    json(move || {
        let asked: Restore = body_of(&body)?;
        let files = window.run(&run)?.writable()?;
        let mut options = RestoreOptions::default().dry_run(asked.dry_run).report_external(true);
        for path in &asked.paths {
            options = options.path(files.path(path)?);
        }
        let receipt = files.restore_with(&*asked.to, &options)?;
        Ok(Restored {
            dry_run: asked.dry_run,
            saved: receipt.saved.map(|id| id.to_string()),
            written: receipt.written,
            brought_back: receipt.brought_back,
            removed: receipt.removed,
            unchanged: receipt.unchanged,
            changes: receipt.changes.iter().map(ChangedEntry::from).collect(),
            changed_outside: texts(&receipt.changed_outside),
            missing: receipt.missing.iter().map(SkippedEntry::from).collect(),
        })
    })
    .await
}

fn texts(paths: &[TreePath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

fn stepped(undone: &Undone) -> Stepped {
    Stepped {
        operation: undone.operation.sequence,
        name: undone.operation.name.clone(),
        paths: texts(&undone.paths),
        conflicts: texts(&undone.conflicts),
    }
}

async fn undo(State(window): State<Shared>, Path(run): Path<String>, body: Bytes) -> Response {
    json(move || {
        let asked: Undo = body_of(&body)?;
        let files = window.run(&run)?.writable()?;
        let undone = match asked.operation {
            Some(number) => files.undo_operation(number)?,
            None => files.undo()?,
        };
        Ok(stepped(&undone))
    })
    .await
}

async fn redo(State(window): State<Shared>, Path(run): Path<String>, body: Bytes) -> Response {
    json(move || {
        let Nothing {} = body_of(&body)?;
        Ok(stepped(&window.run(&run)?.writable()?.redo()?))
    })
    .await
}

async fn revert(State(window): State<Shared>, Path(run): Path<String>, body: Bytes) -> Response {
    json(move || {
        let asked: Revert = body_of(&body)?;
        let files = window.run(&run)?.writable()?;
        let options = MergeOptions::default().dry_run(asked.dry_run);
        let reverted = files.revert_with(&*asked.from, &*asked.to, &options)?;
        Ok(Reverted {
            applied: reverted.applied,
            changes: reverted.changes.iter().map(ChangedEntry::from).collect(),
            conflicts: reverted.conflicts.iter().map(|it| it.path.to_string()).collect(),
        })
    })
    .await
}

async fn fork(State(window): State<Shared>, Path(run): Path<String>, body: Bytes) -> Response {
    json(move || {
        let asked: Fork = body_of(&body)?;
        let run = window.run(&run)?;
        run.writable()?;
        let Source::Live { endpoint, .. } = &run.source else { return Err(ApiError::failed()) };
        let at = asked.at.as_deref().filter(|at| *at != crate::window::run::LIVE);
        let result = endpoint.fork(&asked.name, at);
        if !result.ok() {
            return Err(result.into());
        }
        run.feed.snapshots();
        let state = super::runs::fork_state(&asked.name);
        Ok(Forked { name: asked.name, state, message: result.message })
    })
    .await
}

async fn snapshot(State(window): State<Shared>, Path(run): Path<String>, body: Bytes) -> Response {
    json(move || {
        let asked: Take = body_of(&body)?;
        let files = window.run(&run)?.writable()?;
        let mut options = SnapshotOptions::default();
        if let Some(tag) = asked.tag {
            options = options.tag(tag);
        }
        Ok(SnapshotSummary::of(&files.snapshot_with(&options)?, None))
    })
    .await
}
