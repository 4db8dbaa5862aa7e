//! Files of a state: directories one by one, rows of the whole tree, and contents in ranges.

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, RANGE,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use wink_fs::{ErrorKind, Kind};

use super::{Shared, json_that_stays, path_of, routes, staying};
use crate::window::error::ApiError;
use crate::window::listing::Row;
use crate::window::run::{LIVE, Run};

routes! {
    get "/api/v1/runs/{run}/tree" "The entries of one directory of a state."
        ("at": "state; `@` by default", "path": "directory; the root by default") => directory: Directory;
    get "/api/v1/runs/{run}/rows" "Some rows of all entries of a state, or of the files that a filter finds."
        ("at": "state", "filter": "words that paths have in them", "offset": "how many rows to leave out",
         "limit": "how many rows to list at most; 500 by default") => rows: Rows;
    get "/api/v1/runs/{run}/file" "What a file is: its kind, size and type."
        ("at": "state", "path!": "path of the file") => about: FileInfo;
    get "/api/v1/runs/{run}/raw" "The bytes of a file, or of a range of them; never as a page that runs."
        ("at": "state", "path!": "path of the file") => raw;
}

/// The largest file that is sent as a whole.
pub(super) const MOST_TEXT: u64 = 64 * 1024 * 1024;

/// How many rows are sent at once.
const MOST_ROWS: usize = 1_000;

/// How many entries of one directory are sent at once.
const MOST_ENTRIES: usize = 5_000;

/// How much of a file is looked at to tell its type.
const TELLING: u64 = 8 * 1024;

/// A raw file is data: as an image it is shown, and otherwise downloaded.
const SANDBOX: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

#[derive(Deserialize)]
struct At {
    #[serde(default = "live")]
    at: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    filter: String,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

fn live() -> String {
    LIVE.to_owned()
}

/// One directory.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Directory {
    path: String,
    /// Directories first, then the rest, each sorted by name.
    entries: Vec<TreeEntry>,
    /// How many entries it has in all.
    total: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TreeEntry {
    name: String,
    path: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

/// Some rows of the tree.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Rows {
    /// How many rows there are.
    total: u64,
    /// How many files and links the state has.
    files: u64,
    offset: u64,
    rows: Vec<Row>,
}

/// What a file is.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileInfo {
    path: String,
    kind: String,
    size: u64,
    executable: bool,
    /// `text`, `binary` or `image`.
    shown_as: String,
    /// The target of a link.
    target: Option<String>,
}

async fn directory(
    State(window): State<Shared>,
    Path(run): Path<String>,
    Query(query): Query<At>,
) -> Response {
    json_that_stays(move || {
        let run = window.run(&run)?;
        let state = run.state(&query.at)?;
        Ok((listed(&run, &*state.tree, &query.path)?, state.is_fixed))
    })
    .await
}

fn listed(run: &Run, tree: &dyn wink_fs::Tree, path: &str) -> Result<Directory, ApiError> {
    let path = path_of(run, path)?;
    let mut found = tree.list(&path)?;
    let total = found.len() as u64;
    found.sort_by_key(|entry| entry.kind != Kind::Directory);
    found.truncate(MOST_ENTRIES);
    let mut entries = Vec::new();
    for entry in found {
        let at = path.join(&entry.name)?;
        let is_file = entry.kind == Kind::File;
        let size = is_file.then(|| tree.stat(&at).ok().map(|stat| stat.size_bytes)).flatten();
        let name = at.to_string();
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        entries.push(TreeEntry { name, path: at.to_string(), kind: entry.kind.to_string(), size });
    }
    Ok(Directory { path: path.to_string(), entries, total })
}

async fn rows(
    State(window): State<Shared>,
    Path(run): Path<String>,
    Query(query): Query<At>,
) -> Response {
    json_that_stays(move || {
        let run = window.run(&run)?;
        let state = run.state(&query.at)?;
        let listing = run.listing(&state)?;
        let limit = query.limit.unwrap_or(500).min(MOST_ROWS);
        let (total, rows) = listing.rows(&*state.tree, &query.filter, query.offset, limit);
        let total = total as u64;
        let offset = query.offset as u64;
        Ok((Rows { total, files: listing.files(), offset, rows }, state.is_fixed))
    })
    .await
}

async fn about(
    State(window): State<Shared>,
    Path(run): Path<String>,
    Query(query): Query<At>,
) -> Response {
    json_that_stays(move || {
        let run = window.run(&run)?;
        let state = run.state(&query.at)?;
        Ok((info(&run, &*state.tree, &query.path)?, state.is_fixed))
    })
    .await
}

fn info(run: &Run, tree: &dyn wink_fs::Tree, path: &str) -> Result<FileInfo, ApiError> {
    let path = path_of(run, path)?;
    let stat = tree.stat(&path)?;
    let is_link = stat.kind == Kind::Symlink;
    let target = is_link.then(|| tree.read_link(&path)).transpose()?;
    let shown_as = if stat.kind == Kind::File {
        let beginning = tree.open(&path)?.read_range(0, TELLING)?;
        if image_type(&path.to_string()).is_some() {
            "image"
        } else if is_text(&beginning) {
            "text"
        } else {
            "binary"
        }
    } else {
        "none"
    };
    Ok(FileInfo {
        path: path.to_string(),
        kind: stat.kind.to_string(),
        size: stat.size_bytes,
        executable: stat.mode.executable,
        shown_as: shown_as.to_owned(),
        target: target.map(|it| String::from_utf8_lossy(&it).into_owned()),
    })
}

/// Returns whether the beginning of a file is text; it may end within a character.
fn is_text(beginning: &[u8]) -> bool {
    !beginning.contains(&0)
        && match std::str::from_utf8(beginning) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none(),
        }
}

/// Returns the type of an image that browsers show, by the end of its name.
fn image_type(path: &str) -> Option<&'static str> {
    let (_, end) = path.rsplit_once('.')?;
    Some(match end.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "bmp" => "image/bmp",
        "ico" => "image/x-icon",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

async fn raw(
    State(window): State<Shared>,
    Path(run): Path<String>,
    Query(query): Query<At>,
    headers: HeaderMap,
) -> Response {
    let range = headers.get(RANGE).and_then(|it| it.to_str().ok()).map(str::to_owned);
    let read = spawn_blocking(move || {
        let run = window.run(&run)?;
        let state = run.state(&query.at)?;
        let path = path_of(&run, &query.path)?;
        let content = state.tree.open(&path)?;
        let len = content.len();
        let wanted = range.as_deref().map(|range| range_of(range, len));
        let (start, end) = match wanted {
            Some(None) => return Ok(unsatisfiable(len)),
            Some(Some(range)) => range,
            None if len > MOST_TEXT => {
                let message = "this file is larger than 64 MiB; ask for a range of it";
                return Err(ApiError::of(ErrorKind::TooLarge, message));
            }
            None => (0, len),
        };
        let bytes = content.read_range(start, (end - start).min(MOST_TEXT))?;
        let end = start + bytes.len() as u64;
        let kind = image_type(&path.to_string()).unwrap_or("application/octet-stream");
        let fixed_headers = [
            (CONTENT_TYPE, kind),
            (CONTENT_SECURITY_POLICY, SANDBOX),
            (CONTENT_DISPOSITION, "attachment"),
            (ACCEPT_RANGES, "bytes"),
        ];
        let mut response = (fixed_headers, Body::from(bytes)).into_response();
        if wanted.is_some() && end > start {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            let value = format!("bytes {start}-{}/{len}", end - 1);
            if let Ok(value) = value.parse() {
                response.headers_mut().insert(CONTENT_RANGE, value);
            }
        }
        Ok(if state.is_fixed { staying(response) } else { response })
    });
    match read.await.unwrap_or_else(|_| Err(ApiError::failed())) {
        Ok(response) => response,
        Err(error) => error.into_response(),
    }
}

/// Returns the bytes of a range such as `bytes=0-99`; `None` if there are none.
fn range_of(range: &str, len: u64) -> Option<(u64, u64)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    if first.is_empty() {
        let count: u64 = last.parse().ok()?;
        return (count > 0 && len > 0).then(|| (len.saturating_sub(count), len));
    }
    let first: u64 = first.parse().ok()?;
    let end = if last.is_empty() { len } else { last.parse::<u64>().ok()?.saturating_add(1) };
    (first < len && first < end).then(|| (first, end.min(len)))
}

fn unsatisfiable(len: u64) -> Response {
    let range = [(CONTENT_RANGE, format!("bytes */{len}"))];
    (StatusCode::RANGE_NOT_SATISFIABLE, range).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_http() {
        assert_eq!(range_of("bytes=0-99", 1_000), Some((0, 100)));
        assert_eq!(range_of("bytes=990-", 1_000), Some((990, 1_000)));
        assert_eq!(range_of("bytes=-10", 1_000), Some((990, 1_000)));
        assert_eq!(range_of("bytes=0-5000", 1_000), Some((0, 1_000)));
        assert_eq!(range_of(&format!("bytes=0-{}", u64::MAX), 10), Some((0, 10)));
        for wrong in
            ["bytes=1000-", "bytes=5-4", "bytes=-0", "items=0-1", "bytes=a-b", "bytes=0-1,3-4"]
        {
            assert_eq!(range_of(wrong, 1_000), None, "{wrong}");
        }
    }

    #[test]
    fn text_may_be_cut_within_a_character_and_no_other() {
        assert!(is_text("größe".as_bytes()) && is_text(&"größe".as_bytes()[..3]));
        assert!(!is_text(b"a\0b") && !is_text(b"a\xffb"));
    }
}
