//! The routes of the page: one table, from which the router and `docs/openapi.json` are made.

mod actions;
mod calls;
mod changes;
mod documents;
mod files;
#[cfg(test)]
mod openapi;
mod runs;
mod search;
mod sessions;
mod stats;
mod store;
mod stream;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::spawn_blocking;
use wink_fs::{ErrorKind, TreePath};

use crate::window::Window;
use crate::window::error::ApiError;
use crate::window::run::Run;

/// What the handlers share.
pub(super) type Shared = Arc<Window>;

/// One route: what it is for, what it takes, and what handles it.
pub(super) struct Route {
    #[cfg_attr(not(test), allow(dead_code, reason = "only the description of the API has it"))]
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    /// One sentence for its description.
    #[cfg_attr(not(test), allow(dead_code, reason = "only the description of the API has it"))]
    pub(super) about: &'static str,
    /// Parameters in the query, each with what it is; a name that ends in `!` must be there.
    #[cfg_attr(not(test), allow(dead_code, reason = "only the description of the API has it"))]
    pub(super) query: &'static [(&'static str, &'static str)],
    /// The schema of the body that it wants.
    #[cfg(test)]
    pub(super) body: Option<fn(&mut schemars::SchemaGenerator) -> schemars::Schema>,
    /// The schema of its answer; none if that is no JSON.
    #[cfg(test)]
    pub(super) answer: Option<fn(&mut schemars::SchemaGenerator) -> schemars::Schema>,
    pub(super) handler: fn() -> MethodRouter<Shared>,
}

/// Makes the table of routes of one file.
macro_rules! routes {
    ($($method:ident $path:literal $about:literal
       ($($name:literal: $what:literal),* $(,)?) $(body $body:ty)? => $handler:ident $(: $answer:ty)?;)+) => {
        pub(super) const ROUTES: &[$crate::window::api::Route] = &[$($crate::window::api::Route {
            method: stringify!($method),
            path: $path,
            about: $about,
            query: &[$(($name, $what)),*],
            #[cfg(test)]
            body: $crate::window::api::schema_of!($($body)?),
            #[cfg(test)]
            answer: $crate::window::api::schema_of!($($answer)?),
            handler: || axum::routing::$method($handler),
        }),+];
    };
}

#[cfg(test)]
macro_rules! schema_of {
    () => {
        None
    };
    ($type:ty) => {
        Some(|generator: &mut schemars::SchemaGenerator| generator.subschema_for::<$type>())
    };
}

pub(super) use routes;
#[cfg(test)]
pub(super) use schema_of;

/// All routes, a table for each file.
pub(super) const ALL: &[&[Route]] = &[
    documents::ROUTES,
    runs::ROUTES,
    calls::ROUTES,
    files::ROUTES,
    changes::ROUTES,
    sessions::ROUTES,
    search::ROUTES,
    stats::ROUTES,
    store::ROUTES,
    actions::ROUTES,
    stream::ROUTES,
];

/// Makes the router of all routes.
pub(super) fn router(window: Shared) -> Router {
    let mut router = Router::new();
    for route in ALL.iter().copied().flatten() {
        router = router.route(route.path, (route.handler)());
    }
    router.with_state(window)
}

/// Answers with JSON that a thread of its own makes, because it reads files.
async fn json<T: Serialize + Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Response {
    json_that_stays(move || work().map(|document| (document, false))).await
}

/// Answers with JSON; the work says whether the answer will always be the same.
async fn json_that_stays<T: Serialize + Send + 'static>(
    work: impl FnOnce() -> Result<(T, bool), ApiError> + Send + 'static,
) -> Response {
    let made = spawn_blocking(move || {
        let (document, is_fixed) = work()?;
        let bytes = serde_json::to_vec(&document).map_err(|_| ApiError::failed())?;
        Ok((bytes, is_fixed))
    });
    match made.await.unwrap_or_else(|_| Err(ApiError::failed())) {
        Ok((bytes, is_fixed)) => {
            let response = ([(CONTENT_TYPE, "application/json")], bytes).into_response();
            if is_fixed { staying(response) } else { response }
        }
        Err(error) => error.into_response(),
    }
}

/// Lets the browser keep an answer that never changes. Not for ever: a path may be taken out of all snapshots.
fn staying(mut response: Response) -> Response {
    let value = HeaderValue::from_static("private, max-age=3600, immutable");
    response.headers_mut().insert(CACHE_CONTROL, value);
    response
}

/// Reads the body of an action.
fn body_of<T: DeserializeOwned>(body: &Bytes) -> Result<T, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::of(ErrorKind::InvalidArgument, format!("the body: {error}")))
}

/// Parses a path of a request, by the rules of every path.
fn path_of(run: &Run, text: &str) -> Result<TreePath, ApiError> {
    match run.history() {
        Some(files) => Ok(files.path(text)?),
        None => Ok(TreePath::parse(text)?),
    }
}
