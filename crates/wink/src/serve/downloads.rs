//! Downloads: the files as an archive, and sessions.

use std::io::{self, Write};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use wink_agent::WithoutSpecial;
use wink_agent::session::write_session_tree;
use wink_fs::ErrorKind;
use wink_fs::archive::{self, ExportOptions};

use crate::error::http_status;
use crate::mcp::Endpoint;

/// The path below which everything here is.
const ROOT: &str = "/api/v1";

/// The path of the archive of all files.
pub(crate) const FILES: &str = "/api/v1/files.fs.zip";

/// The path below which the records of sessions are, by their names.
pub(crate) const SESSIONS: &str = "/api/v1/sessions/";

/// The largest answer, which is made in memory.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// How many are made, or are being sent, at the same time; the others wait for their turn.
const MOST_AT_ONCE: usize = 2;

type HttpRefusal = (StatusCode, &'static str);

const TOO_LARGE: HttpRefusal = (
    StatusCode::PAYLOAD_TOO_LARGE,
    "Too large: more than 256 MiB; use `wink export` where the files are.\n",
);
const NO_SESSION: HttpRefusal =
    (StatusCode::NOT_FOUND, "Not found: no call named a session like that.\n");
const FAILED: HttpRefusal = failed(StatusCode::INTERNAL_SERVER_ERROR);

const fn failed(status: StatusCode) -> HttpRefusal {
    (status, "This could not be read.\n")
}

/// Makes the routes over endpoints that have names, and over the first one, which needs none.
pub(crate) fn routes<'e>(
    endpoints: impl Iterator<Item = (Option<&'e str>, &'e Endpoint)>,
) -> Router {
    let slots = Arc::new(Semaphore::new(MOST_AT_ONCE));
    let mut routes = Router::new();
    for (index, (name, endpoint)) in endpoints.enumerate() {
        let source = Source { endpoint: endpoint.clone(), slots: slots.clone() };
        if index == 0 {
            routes = routes.nest(ROOT, of(source.clone()));
        }
        if let Some(name) = name {
            routes = routes.nest(&format!("{ROOT}/workspaces/{name}"), of(source));
        }
    }
    routes
}

fn of(source: Source) -> Router {
    Router::new()
        .route("/files.fs.zip", get(files))
        .route("/sessions/{name}", get(session))
        .with_state(source)
}

/// The source of downloads.
#[derive(Clone, Debug)]
struct Source {
    endpoint: Endpoint,
    slots: Arc<Semaphore>,
}

impl Source {
    /// Makes an answer when a slot is free.
    async fn made(
        &self,
        make: impl FnOnce(&mut Bounded) -> Result<(), ErrorKind> + Send + 'static,
    ) -> Result<Bytes, HttpRefusal> {
        let slot = self.slots.clone().acquire_owned().await.map_err(|_| FAILED)?;
        let made = spawn_blocking(move || {
            let mut out = Bounded::default();
            match make(&mut out) {
                Ok(()) => Ok(Bytes::from_owner(Made { bytes: out.bytes, _slot: slot })),
                Err(_) if out.is_full => Err(TOO_LARGE),
                Err(kind) => Err(StatusCode::from_u16(http_status(kind)).map_or(FAILED, failed)),
            }
        });
        made.await.unwrap_or(Err(FAILED))
    }
}

async fn files(State(source): State<Source>) -> Response {
    let Some(files) = source.endpoint.files() else { return FAILED.into_response() };
    let make = move |out: &mut Bounded| {
        // A workspace that keeps no history excludes nothing.
        match files.heed_exclusions() {
            Err(error) if error.kind() != ErrorKind::Unsupported => return Err(error.kind()),
            _ => {}
        }
        let tree = WithoutSpecial::of(files.tree_without_excluded());
        let exported = archive::write(&tree, out, &ExportOptions::default());
        exported.map(drop).map_err(|error| error.kind())
    };
    answered(source.made(make).await, "application/zip", "files.fs.zip")
}

async fn session(State(source): State<Source>, Path(name): Path<String>) -> Response {
    let Some(session) = source.endpoint.session(&name) else { return NO_SESSION.into_response() };
    let make = move |out: &mut Bounded| {
        write_session_tree(&session, out).map(drop).map_err(|error| error.kind())
    };
    answered(source.made(make).await, "application/jsonl", &format!("{name}.jsonl"))
}

fn answered(written: Result<Bytes, HttpRefusal>, kind: &str, name: &str) -> Response {
    match written {
        Ok(bytes) => {
            let disposition = format!("attachment; filename=\"{name}\"");
            let headers = [(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, disposition)];
            (headers, bytes).into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// An answer that was made, with its slot: that is free when the answer was sent, or given up.
struct Made {
    bytes: Vec<u8>,
    _slot: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Made {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Takes so many bytes and no more.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Write for Bounded {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.is_full |= self.bytes.len() + data.len() > MOST_BYTES;
        if self.is_full { Err(io::ErrorKind::FileTooLarge.into()) } else { self.bytes.write(data) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;
    use tokio::time::timeout;
    use wink_agent::Toolset;
    use wink_fs::Workspace;

    use super::*;

    #[tokio::test]
    async fn a_download_waits_for_its_turn() {
        let endpoint = Endpoint::of_clients(&Workspace::memory(), Toolset::named("all").unwrap());
        let slots = Arc::new(Semaphore::new(0));
        let app = TowerToHyperService::new(of(Source { endpoint, slots: slots.clone() }));
        let request = || Request::get("/files.fs.zip").body(Body::empty()).unwrap();
        assert!(timeout(Duration::from_millis(100), app.call(request())).await.is_err());
        slots.add_permits(1);
        for _ in 0..2 {
            assert_eq!(app.call(request()).await.unwrap().status(), StatusCode::OK);
        }
    }

    #[tokio::test]
    async fn a_download_has_its_turn_until_it_is_sent() {
        let endpoint = Endpoint::of_clients(&Workspace::memory(), Toolset::named("all").unwrap());
        let slots = Arc::new(Semaphore::new(1));
        let app = TowerToHyperService::new(of(Source { endpoint, slots: slots.clone() }));
        let request = || Request::get("/files.fs.zip").body(Body::empty()).unwrap();
        let unsent = app.call(request()).await.unwrap();
        assert!(timeout(Duration::from_millis(100), app.call(request())).await.is_err());
        let sent = to_bytes(unsent.into_body(), usize::MAX).await.unwrap();
        assert_eq!(slots.available_permits(), 0);
        drop(sent);
        assert_eq!(app.call(request()).await.unwrap().status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn a_download_fails_with_the_status_of_its_error() {
        let root = tempfile::tempdir().unwrap();
        let files = Workspace::host(root.path()).unwrap();
        root.close().unwrap();
        let endpoint = Endpoint::of_clients(&files, Toolset::named("all").unwrap());
        let slots = Arc::new(Semaphore::new(1));
        let app = TowerToHyperService::new(of(Source { endpoint, slots }));
        let request = Request::get("/files.fs.zip").body(Body::empty()).unwrap();
        let status = app.call(request).await.unwrap().status();
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "the backend is gone");
    }
}
