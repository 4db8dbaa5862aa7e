//! The routes of the source documents: the manifest, the listing and the text of files.

use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use wink_fs::{ErrorKind, Kind};

use super::{Shared, json, path_of, routes};
use crate::ui::format;
use crate::window::error::ApiError;
use crate::window::run::{LIVE, Run};

routes! {
    get "/api/filesystem/meta" "The manifest of the files of a run, and of the first run by default."
        ("run": "name of the run") => meta: Manifest;
    get "/api/filesystem/tree" "All files, sorted by path; none where there is no archive."
        ("run": "name of the run") => tree: Vec<FileSize>;
    get "/api/filesystem/file" "The text of a file."
        ("run": "name of the run", "path!": "path of the file") => file;
}

#[derive(Deserialize)]
struct Of {
    run: Option<String>,
    #[serde(default)]
    path: String,
}

/// The manifest, as it is in an archive.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Manifest {
    version: String,
    created_at: String,
    file_count: u64,
    total_bytes: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileSize {
    path: String,
    size_bytes: u64,
}

async fn meta(State(window): State<Shared>, Query(of): Query<Of>) -> Response {
    json(move || manifest(&*window.run_or_first(of.run.as_deref())?)).await
}

fn manifest(run: &Run) -> Result<Manifest, ApiError> {
    let version = "1".to_owned();
    if let Some(archive) = run.archive() {
        return Ok(Manifest {
            version,
            created_at: format::utc(archive.created_at()),
            file_count: archive.file_count(),
            total_bytes: archive.total_bytes(),
        });
    }
    let files = sizes(run)?;
    Ok(Manifest {
        version,
        created_at: format::utc(std::time::SystemTime::now()),
        file_count: files.len() as u64,
        total_bytes: files.iter().map(|file| file.size_bytes).sum(),
    })
}

async fn tree(State(window): State<Shared>, Query(of): Query<Of>) -> Response {
    json(move || sizes(&*window.run_or_first(of.run.as_deref())?)).await
}

fn sizes(run: &Run) -> Result<Vec<FileSize>, ApiError> {
    let state = match run.state(LIVE) {
        Ok(state) => state,
        // A dump without an archive has no files.
        Err(_) if run.history().is_none() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let listing = run.listing(&state)?;
    let mut files = Vec::new();
    for path in listing.file_paths() {
        let stat = state.tree.stat(&wink_fs::TreePath::parse(path)?)?;
        files.push(FileSize { path: path.to_owned(), size_bytes: stat.size_bytes });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

async fn file(State(window): State<Shared>, Query(of): Query<Of>) -> Response {
    let read = tokio::task::spawn_blocking(move || {
        let run = window.run_or_first(of.run.as_deref())?;
        text(&run, &of.path)
    });
    match read.await.unwrap_or_else(|_| Err(ApiError::failed())) {
        Ok(text) => ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response(),
        Err(error) => error.into_response(),
    }
}

fn text(run: &Run, path: &str) -> Result<String, ApiError> {
    let path = path_of(run, path)?;
    let tree = run.state(LIVE)?.tree;
    if tree.stat(&path)?.kind != Kind::File {
        return Err(ApiError::of(ErrorKind::NotFound, format!("`{path}` is not a file")));
    }
    let content = tree.open(&path)?;
    if content.len() > super::files::MOST_TEXT {
        let message = "this file is larger than 64 MiB; read it in parts from /api/v1/runs/RUN/raw";
        return Err(ApiError::of(ErrorKind::TooLarge, message));
    }
    let bytes = content.read_all()?;
    String::from_utf8(bytes.into()).map_err(|_| {
        let message = format!("`{path}` is binary; its bytes are at /api/v1/runs/RUN/raw");
        ApiError::of(ErrorKind::NotText, message)
    })
}
