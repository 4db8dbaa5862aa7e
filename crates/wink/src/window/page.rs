//! The files of the page, which are part of the program.
//!
//! `web/` has their sources; `scripts/test` builds them and compares.

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, IF_NONE_MATCH,
};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// What the page may load and run: its own files, and nothing inline. A file of a workspace is only ever an image.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
    img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// One file of the page.
struct Asset {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($path:literal: $kind:literal;)+) => {
        const ASSETS: &[Asset] = &[$(Asset {
            path: concat!("/assets/", $path),
            kind: $kind,
            bytes: include_bytes!(concat!("dist/assets/", $path)),
        }),+];
    };
}

assets! {
    "app.js": "text/javascript";
    "app.css": "text/css";
    "editor.js": "text/javascript";
    "plot.js": "text/javascript";
    "licenses.txt": "text/plain; charset=utf-8";
    "inter.woff2": "font/woff2";
    "mono.woff2": "font/woff2";
}

const INDEX: &[u8] = include_bytes!("dist/index.html");

/// The addresses of the page; the page itself finds out what they mean.
const SCREENS: &[&str] = &[
    "/",
    "/run/{run}",
    "/compare",
    "/session/{run}",
    "/search/{run}",
    "/stats/{run}",
    "/store/{run}",
];

/// Makes the routes of the page.
pub(super) fn routes() -> Router {
    let mut router = Router::new();
    for screen in SCREENS {
        router = router.route(screen, get(async |headers: HeaderMap| index(&headers)));
    }
    for asset in ASSETS {
        let answer = async |headers: HeaderMap| answered(&headers, asset.kind, asset.bytes);
        router = router.route(asset.path, get(answer));
    }
    router
}

fn index(headers: &HeaderMap) -> Response {
    let mut response = answered(headers, "text/html; charset=utf-8", INDEX);
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, axum::http::HeaderValue::from_static(POLICY));
    response
}

/// Answers with a file, which a browser asks for again after every start of the program.
fn answered(headers: &HeaderMap, kind: &'static str, bytes: &'static [u8]) -> Response {
    let tag = format!("\"{}\"", &blake3::hash(bytes).to_hex()[..16]);
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|it| it.as_bytes() == tag.as_bytes());
    let caching = [(CACHE_CONTROL, "private, no-cache".to_owned()), (ETAG, tag)];
    if is_known {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    (caching, [(CONTENT_TYPE, kind)], bytes).into_response()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "compares the table with the directory")]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_was_built_is_served() {
        let built = concat!(env!("CARGO_MANIFEST_DIR"), "/src/window/dist/assets");
        let built = std::fs::read_dir(built).expect("a directory");
        let mut built: Vec<_> = built
            .map(|entry| {
                format!("/assets/{}", entry.expect("an entry").file_name().to_string_lossy())
            })
            .collect();
        built.sort();
        let mut served: Vec<_> = ASSETS.iter().map(|asset| asset.path.to_owned()).collect();
        served.sort();
        assert_eq!(built, served);
    }
}
