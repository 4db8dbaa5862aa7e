//! What can be taken home from a server: the files in one archive, and the record of a session.

use std::io::{self, Write};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::task::spawn_blocking;
use wink_agent::session::write_session_tree;
use wink_fs::archive::{self, ExportOptions};

use crate::mcp::Endpoint;

/// The path of the archive of all files.
pub(crate) const FILES: &str = "/api/v1/files.fs.zip";

/// The path below which the records of sessions are, by their names.
pub(crate) const SESSIONS: &str = "/api/v1/sessions/";

/// The largest answer, which is made in memory.
const MOST_BYTES: usize = 256 * 1024 * 1024;

type Refusal = (StatusCode, &'static str);

const TOO_LARGE: Refusal = (
    StatusCode::PAYLOAD_TOO_LARGE,
    "Too large: more than 256 MiB; use `wink export` where the files are.\n",
);
const NO_SESSION: Refusal =
    (StatusCode::NOT_FOUND, "Not found: no call named a session like that.\n");
const FAILED: Refusal = (StatusCode::INTERNAL_SERVER_ERROR, "This could not be read.\n");

/// Makes the routes over one endpoint.
pub(crate) fn routes(endpoint: Endpoint) -> Router {
    Router::new()
        .route(FILES, get(files))
        .route(&format!("{SESSIONS}{{name}}"), get(session))
        .with_state(endpoint)
}

async fn files(State(endpoint): State<Endpoint>) -> Response {
    let Some(files) = endpoint.files() else { return FAILED.into_response() };
    let written = spawn_blocking(move || {
        let mut out = Bounded::default();
        archive::write(&*files.tree(), &mut out, &ExportOptions::default())
            .map(|_| out.bytes)
            .map_err(|_| if out.is_full { TOO_LARGE } else { FAILED })
    });
    answered(written.await, "application/zip", "files.fs.zip")
}

async fn session(State(endpoint): State<Endpoint>, Path(name): Path<String>) -> Response {
    let Some(session) = endpoint.session(&name) else { return NO_SESSION.into_response() };
    let written = spawn_blocking(move || {
        let mut out = Bounded::default();
        write_session_tree(&session, &mut out)
            .map(|_| out.bytes)
            .map_err(|_| if out.is_full { TOO_LARGE } else { FAILED })
    });
    answered(written.await, "application/jsonl", &format!("{name}.jsonl"))
}

fn answered<E>(written: Result<Result<Vec<u8>, Refusal>, E>, kind: &str, name: &str) -> Response {
    match written.unwrap_or(Err(FAILED)) {
        Ok(bytes) => {
            let disposition = format!("attachment; filename=\"{name}\"");
            let headers = [(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, disposition)];
            (headers, bytes).into_response()
        }
        Err(refusal) => refusal.into_response(),
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
        match self.is_full {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => self.bytes.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
