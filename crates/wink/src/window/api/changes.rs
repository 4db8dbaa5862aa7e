//! Differences of two states: which files changed, and the changed lines of one.

use std::time::{Duration, Instant};

use axum::extract::{Path, Query, State as Extract};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use wink_fs::{Changed, Kind, Tree, TreePath};

use super::{Shared, json_that_stays, path_of, routes};
use crate::window::error::ApiError;
use crate::window::lines::{self, LineDiff, LineRow};
use crate::window::run::{Pair, Run};

routes! {
    get "/api/v1/runs/{run}/changes" "The files that differ between two states."
        ("a!": "the first state; `op:N^` with `op:N` are the files before and after an operation",
         "b!": "the second state", "in": "run of the second state, if it is another one") => changes: ChangeList;
    get "/api/v1/runs/{run}/diff" "The changed lines of one file between two states."
        ("a!": "the first state", "b!": "the second state", "path!": "path of the file",
         "from": "its path in the first state, if it was renamed", "blanks": "`ignore` ignores blanks around lines",
         "in": "run of the second state, if it is another one") => diff: FileDiff;
    get "/api/v1/runs/{run}/lines" "Some lines of a file."
        ("at!": "state", "path!": "path of the file", "offset": "how many lines to leave out",
         "limit": "how many lines to list at most; 1,000 by default") => some_lines: LinesPage;
}

/// How many changed files are listed.
const MOST: usize = 5_000;

/// Of how many files the changed lines are counted, and for how long.
const COUNTED: usize = 400;
const PATIENCE: Duration = Duration::from_secs(1);

/// Files up to this size are counted.
const MOST_COUNTED: u64 = 2 * 1024 * 1024;

#[derive(Deserialize)]
struct Of {
    a: String,
    b: String,
    #[serde(default)]
    path: String,
    from: Option<String>,
    blanks: Option<String>,
    #[serde(rename = "in")]
    other: Option<String>,
}

#[derive(Deserialize)]
struct Part {
    at: String,
    path: String,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

/// The files that differ.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ChangeList {
    /// Sorted by path; at most 5,000.
    files: Vec<ChangedFile>,
    /// How many there are.
    total: u64,
    unchanged: u64,
    /// Paths of which it is not known any more what an operation left there.
    unknown: Vec<String>,
}

/// One file that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ChangedFile {
    path: String,
    /// `A`, `M`, `D` or `R`.
    status: char,
    /// Its path before it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// `file`, `directory` or `symlink`, in the second state or else in the first.
    kind: String,
    /// How many lines were added and removed, where that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<u64>,
}

/// The difference of one file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileDiff {
    path: String,
    a: Option<Side>,
    b: Option<Side>,
    /// The changed lines, if both sides are text and not too large.
    lines: Option<LineDiff>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// A file on one side.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Side {
    kind: String,
    size: u64,
    executable: bool,
    /// The target of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

/// Some lines of a file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LinesPage {
    offset: u64,
    rows: Vec<LineRow>,
}

async fn changes(
    Extract(window): Extract<Shared>,
    Path(run): Path<String>,
    Query(of): Query<Of>,
) -> Response {
    json_that_stays(move || {
        let run = window.run(&run)?;
        let pair = pair(&window, &run, &of)?;
        let is_fixed = pair.a.is_fixed && pair.b.is_fixed;
        Ok((list(&run, &pair)?, is_fixed))
    })
    .await
}

/// Finds the states to compare; the second one may be of another run.
fn pair(window: &Shared, run: &Run, of: &Of) -> Result<Pair, ApiError> {
    match &of.other {
        Some(other) if *other != run.name => {
            let (a, b) = (run.state(&of.a)?, window.run(other)?.state(&of.b)?);
            Ok(Pair { a, b, scope: None, unknown: Vec::new() })
        }
        _ => run.pair(&of.a, &of.b),
    }
}

fn list(run: &Run, pair: &Pair) -> Result<ChangeList, ApiError> {
    let diff = run.diff(pair)?;
    let deadline = Instant::now() + PATIENCE;
    let mut files: Vec<ChangedFile> = Vec::new();
    let of = |status: char, it: &Changed| ChangedFile {
        path: it.path.to_string(),
        status,
        from: None,
        kind: it.after.or(it.before).map(|kind| kind.to_string()).unwrap_or_default(),
        added: None,
        removed: None,
    };
    files.extend(diff.added.iter().map(|it| of('A', it)));
    files.extend(diff.modified.iter().map(|it| of('M', it)));
    files.extend(diff.deleted.iter().map(|it| of('D', it)));
    files.extend(diff.renamed.iter().map(|it| ChangedFile {
        path: it.to.to_string(),
        status: 'R',
        from: Some(it.from.to_string()),
        kind: Kind::File.to_string(),
        added: Some(0),
        removed: Some(0),
    }));
    files.sort_by(|x, y| x.path.cmp(&y.path));
    let total = files.len() as u64;
    files.truncate(MOST);
    for file in files.iter_mut().filter(|it| it.status != 'R').take(COUNTED) {
        if Instant::now() > deadline {
            break;
        }
        if let Some((added, removed)) = counted(pair, file, deadline) {
            (file.added, file.removed) = (Some(added), Some(removed));
        }
    }
    Ok(ChangeList { files, total, unchanged: diff.unchanged_count, unknown: pair.unknown.clone() })
}

/// Counts the changed lines of a file, if it is text of a usual size.
fn counted(pair: &Pair, file: &ChangedFile, deadline: Instant) -> Option<(u64, u64)> {
    let path = TreePath::parse(&file.path).ok()?;
    let read = |tree: &dyn Tree, is_there: bool| {
        if is_there { text(tree, &path, MOST_COUNTED).ok()? } else { Some(String::new()) }
    };
    let old = read(&*pair.a.tree, file.status != 'A')?;
    let new = read(&*pair.b.tree, file.status != 'D')?;
    Some(lines::counts(&old, &new, deadline))
}

/// Reads a text; `None` if it is none, or too large.
fn text(tree: &dyn Tree, path: &TreePath, most: u64) -> Result<Option<String>, ApiError> {
    if tree.stat(path)?.kind != Kind::File {
        return Ok(None);
    }
    let content = tree.open(path)?;
    if content.len() > most {
        return Ok(None);
    }
    let bytes = content.read_all()?;
    let is_text = !bytes.contains(&0);
    Ok(String::from_utf8(bytes.into()).ok().filter(|_| is_text))
}

async fn diff(
    Extract(window): Extract<Shared>,
    Path(run): Path<String>,
    Query(of): Query<Of>,
) -> Response {
    json_that_stays(move || {
        let run = window.run(&run)?;
        let pair = pair(&window, &run, &of)?;
        let is_fixed = pair.a.is_fixed && pair.b.is_fixed;
        Ok((compared(&run, &pair, &of)?, is_fixed))
    })
    .await
}

fn compared(run: &Run, pair: &Pair, of: &Of) -> Result<FileDiff, ApiError> {
    let path = path_of(run, &of.path)?;
    let from = of.from.as_deref().map(|from| path_of(run, from)).transpose()?;
    let from = from.as_ref().unwrap_or(&path);
    let (a, b) = (side(&*pair.a.tree, from)?, side(&*pair.b.tree, &path)?);
    if a.is_none() && b.is_none() {
        let message = format!("`{path}` is in neither of the two states");
        return Err(ApiError::of(wink_fs::ErrorKind::NotFound, message));
    }
    let read = |tree: &dyn Tree, path: &TreePath, side: &Option<Side>| match side {
        None => Ok(Some(String::new())),
        Some(_) => text(tree, path, lines::MOST_BYTES),
    };
    let old = read(&*pair.a.tree, from, &a)?;
    let new = read(&*pair.b.tree, &path, &b)?;
    let is_large =
        |side: &Option<Side>| side.as_ref().is_some_and(|it| it.size > lines::MOST_BYTES);
    let (lines, why) = match (old, new) {
        (Some(old), Some(new)) => {
            let ignores_blanks = of.blanks.as_deref() == Some("ignore");
            (Some(lines::compare(&old, &new, ignores_blanks)), None)
        }
        _ if is_large(&a) || is_large(&b) => (None, Some("larger than 64 MiB")),
        _ => (None, Some("not text")),
    };
    Ok(FileDiff { path: path.to_string(), a, b, lines, why: why.map(str::to_owned) })
}

fn side(tree: &dyn Tree, path: &TreePath) -> Result<Option<Side>, ApiError> {
    let stat = match tree.stat(path) {
        Ok(stat) => stat,
        Err(error) if error.is_absence() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_link = stat.kind == Kind::Symlink;
    let target = is_link.then(|| tree.read_link(path)).transpose()?;
    Ok(Some(Side {
        kind: stat.kind.to_string(),
        size: stat.size_bytes,
        executable: stat.mode.executable,
        target: target.map(|it| String::from_utf8_lossy(&it).into_owned()),
    }))
}

async fn some_lines(
    Extract(window): Extract<Shared>,
    Path(run): Path<String>,
    Query(part): Query<Part>,
) -> Response {
    json_that_stays(move || {
        let run = window.run(&run)?;
        // An operation's states come in pairs.
        let of_operation = part.at.contains("op:");
        let other = if part.at.ends_with('^') {
            part.at.trim_end_matches('^').to_owned()
        } else {
            format!("{}^", part.at)
        };
        let state = match (of_operation, part.at.ends_with('^')) {
            (true, true) => run.pair(&part.at, &other)?.a,
            (true, false) => run.pair(&other, &part.at)?.b,
            (false, _) => run.state(&part.at)?,
        };
        let path = path_of(&run, &part.path)?;
        let text = text(&*state.tree, &path, lines::MOST_BYTES)?;
        let text = text.ok_or_else(|| {
            ApiError::of(wink_fs::ErrorKind::NotText, format!("`{path}` is not text"))
        })?;
        let limit = part.limit.unwrap_or(1_000).min(lines::MOST_ROWS);
        let rows = lines::lines(&text, part.offset, limit);
        Ok((LinesPage { offset: part.offset as u64, rows }, state.is_fixed))
    })
    .await
}
