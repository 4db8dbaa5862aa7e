//! How long calls took, and how large files and snapshots are.

use std::collections::BTreeMap;

use axum::extract::{Path, State};
use axum::response::Response;
use serde::Serialize;
use wink_fs::TreePath;

use super::runs::{self, SnapshotSummary};
use super::{Shared, json, routes};
use crate::window::calls::CallSummary;
use crate::window::error::ApiError;
use crate::window::run::{LIVE, Run};

routes! {
    get "/api/v1/runs/{run}/stats" "How long the calls of each tool took, and the largest files." () => stats: Stats;
}

/// How many slow calls and large files are listed.
const LISTED: usize = 10;

/// Figures of a run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Stats {
    /// Sorted by the time that all calls of a tool took, longest first.
    tools: Vec<ToolStats>,
    slowest: Vec<CallSummary>,
    largest: Vec<LargeFile>,
    snapshots: Vec<SnapshotSummary>,
}

/// Figures of a tool; times are in microseconds.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ToolStats {
    tool: String,
    calls: u64,
    failed: u64,
    p50: u64,
    p95: u64,
    max: u64,
    total: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LargeFile {
    path: String,
    size: u64,
}

async fn stats(State(window): State<Shared>, Path(run): Path<String>) -> Response {
    json(move || {
        let run = window.run(&run)?;
        let calls = run.calls();
        let mut slowest = calls.clone();
        slowest.sort_by_key(|call| std::cmp::Reverse(call.us));
        slowest.truncate(LISTED);
        let snapshots = runs::snapshots(&run)?;
        Ok(Stats { tools: tools(&calls), slowest, largest: largest(&run)?, snapshots })
    })
    .await
}

fn tools(calls: &[CallSummary]) -> Vec<ToolStats> {
    let mut times: BTreeMap<&str, (Vec<u64>, u64)> = BTreeMap::new();
    for call in calls {
        let of_tool = times.entry(&call.tool).or_default();
        of_tool.0.push(call.us);
        of_tool.1 += u64::from(!call.ok);
    }
    let mut tools: Vec<_> = times.into_iter().map(of_times).collect();
    tools.sort_by_key(|it| std::cmp::Reverse(it.total));
    tools
}

fn of_times((tool, (mut times, failed)): (&str, (Vec<u64>, u64))) -> ToolStats {
    times.sort_unstable();
    let share = |percent: usize| {
        // The smallest time that is not below this share of all.
        let place = (times.len() * percent).div_ceil(100).max(1);
        times.get(place - 1).copied().unwrap_or_default()
    };
    ToolStats {
        tool: tool.to_owned(),
        calls: times.len() as u64,
        failed,
        p50: share(50),
        p95: share(95),
        max: times.last().copied().unwrap_or_default(),
        total: times.iter().sum(),
    }
}

fn largest(run: &Run) -> Result<Vec<LargeFile>, ApiError> {
    let Ok(state) = run.state(LIVE) else { return Ok(Vec::new()) };
    let listing = run.listing(&state)?;
    let mut all = Vec::new();
    for path in listing.file_paths() {
        // A file may be gone since it was listed.
        let Ok(stat) = state.tree.stat(&TreePath::parse(path)?) else { continue };
        all.push(LargeFile { path: path.to_owned(), size: stat.size_bytes });
    }
    all.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.path.cmp(&b.path)));
    all.truncate(LISTED);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_times_that_were_measured() {
        let of = |times: Vec<u64>| {
            let stats = of_times(("ls", (times, 0)));
            (stats.p50, stats.p95, stats.max)
        };
        assert_eq!(of((1..=100).rev().collect()), (50, 95, 100));
        assert_eq!(of(vec![7]), (7, 7, 7));
        assert_eq!(of(vec![1, 2]), (1, 2, 2));
    }
}
