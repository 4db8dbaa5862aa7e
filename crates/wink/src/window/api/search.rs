//! Search over all snapshots, the files of now, paths and calls.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use wink_fs::search::{Case, GrepOptions, Stop, grep};
use wink_fs::{Limits, TreePath};

use super::{Shared, json, routes};
use crate::window::calls::CallSummary;
use crate::window::error::ApiError;
use crate::window::run::{LIVE, Run, Source};

routes! {
    get "/api/v1/runs/{run}/search" "Finds text in all snapshots and the files of now, paths, and calls."
        ("q!": "what to look for", "regex": "`true` if it is a regular expression",
         "case": "`true` if upper and lower case differ") => search: Found;
}

/// How many of each kind are listed.
const MOST: usize = 300;

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
struct Asked {
    q: String,
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    case: bool,
}

/// What was found.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Found {
    /// Lines of files, in the order of paths.
    lines: Vec<FoundLine>,
    /// Paths of the files of now.
    paths: Vec<String>,
    calls: Vec<CallSummary>,
    /// Whether more lines were found than are listed.
    truncated: bool,
    /// How many snapshots were searched.
    snapshots: u64,
    /// Why the text of files could not be searched.
    problem: Option<String>,
}

/// One line of a file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FoundLine {
    path: String,
    /// Its number, from 1, in the last state that has it.
    line: u64,
    text: String,
    /// The first and the last snapshot that has it; `@` if the files of now have it.
    first: Option<String>,
    last: Option<String>,
}

async fn search(
    State(window): State<Shared>,
    Path(run): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    json(move || found(&*window.run(&run)?, &asked)).await
}

fn found(run: &Run, asked: &Asked) -> Result<Found, ApiError> {
    let mut found = Found::default();
    let wanted = asked.q.trim();
    if wanted.is_empty() {
        return Ok(found);
    }
    if let Err(error) = lines(run, asked, &mut found) {
        found.problem = Some(error.message().to_owned());
    }
    let lower = wanted.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&lower);
    if let Ok(state) = run.state(LIVE) {
        let listing = run.listing(&state)?;
        found.paths =
            listing.file_paths().filter(|it| has(it)).take(MOST).map(str::to_owned).collect();
    }
    let in_text = |call: &CallSummary| match &run.source {
        Source::Live { calls, .. } => {
            calls.get(&call.id).is_some_and(|it| has(&it.parameters.text) || has(&it.result.text))
        }
        _ => false,
    };
    let calls = run.calls().into_iter();
    let is_wanted = |call: &CallSummary| {
        has(&call.tool)
            || has(&call.about)
            || call.code.as_deref().is_some_and(has)
            || in_text(call)
    };
    found.calls = calls.filter(is_wanted).take(MOST).collect();
    Ok(found)
}

fn lines(run: &Run, asked: &Asked, found: &mut Found) -> Result<(), ApiError> {
    let case = if asked.case { Case::Sensitive } else { Case::Insensitive };
    let options = GrepOptions::default().literal(!asked.regex).case(case);
    let options = options.max_matches(MOST as u64).stop(Stop::after(PATIENCE));
    // By path and text: a line that is in the snapshots and in the files of now is one.
    let mut all: BTreeMap<(String, String), FoundLine> = BTreeMap::new();
    let snapshots = run.snapshots()?;
    if let Some(files) = run.history().filter(|_| !snapshots.is_empty()) {
        let result = files.grep_snapshots(&asked.q, &snapshots, &[], &options)?;
        found.truncated |= result.truncated;
        found.snapshots = snapshots.len() as u64;
        for line in result.lines {
            let id = |at: usize| snapshots.get(at).map(|it| it.id.to_string());
            let (path, text) = (line.path.to_string(), line.line_content);
            all.insert(
                (path.clone(), text.clone()),
                FoundLine {
                    path,
                    line: line.line_number,
                    text,
                    first: id(line.first),
                    last: id(line.last),
                },
            );
        }
    }
    if let Ok(state) = run.state(LIVE) {
        let result = grep(&*state.tree, &asked.q, &TreePath::root(), &options, &Limits::default())?;
        found.truncated |= result.truncated;
        for line in result.matches {
            let (path, text) = (line.path.to_string(), line.line_content);
            let now = Some(LIVE.to_owned());
            let entry = all.entry((path.clone(), text.clone()));
            let at = line.line_number;
            let known = entry.or_insert_with(|| FoundLine {
                path,
                line: at,
                text,
                first: now.clone(),
                last: None,
            });
            (known.line, known.last) = (at, now);
        }
    }
    found.truncated |= all.len() > MOST;
    found.lines = all.into_values().take(MOST).collect();
    Ok(())
}
