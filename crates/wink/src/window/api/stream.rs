//! The stream of events, by which a page shows what happens while it happens.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use http_body_util::StreamBody;
use hyper::body::Frame;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::{Shared, routes};
use crate::window::feed::Feed;

routes! {
    get "/api/v1/stream" "Events of all runs as they happen, as server-sent events; `Last-Event-ID` resumes."
        ("after": "the id of the last event that the page knows") => stream;
}

/// How long events are collected before they are sent together.
const COLLECT: Duration = Duration::from_millis(100);

/// How long the stream may be silent.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How many events are sent together; a page that cannot keep up reads more slowly, and in the end gets a gap.
const MOST: usize = 1_000;

#[derive(Deserialize)]
struct From {
    after: Option<String>,
}

async fn stream(
    State(window): State<Shared>,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Response {
    let last = headers.get("last-event-id").and_then(|it| it.to_str().ok());
    let after = last.or(from.after.as_deref());
    let feed = window.feed.clone();
    let (known, is_lost) = match after {
        None => (feed.newest(), false),
        Some(id) => feed.number(id).map_or((feed.newest(), true), |number| (number, false)),
    };
    // Small, so that a page that does not read stops this task, and not the memory of the server.
    let (to, parts) = mpsc::channel(4);
    tokio::spawn(send(feed, known, is_lost, to));
    let body = Body::new(StreamBody::new(Parts(parts)));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// Sends events until the page or the server ends.
async fn send(feed: Feed, mut known: u64, is_lost: bool, to: mpsc::Sender<Bytes>) {
    let hello = if is_lost { gap(&feed, known) } else { format!(": {known}\nretry: 1000\n\n") };
    if to.send(hello.into()).await.is_err() {
        return;
    }
    loop {
        let waited = tokio::select! {
            waited = timeout(HEARTBEAT, feed.after(known)) => waited,
            () = to.closed() => return,
        };
        let text = match waited {
            Ok(false) => return,
            Err(_) => ": still here\n\n".to_owned(),
            Ok(true) => {
                sleep(COLLECT).await;
                let batch = feed.batch(known, MOST);
                known = batch.last;
                if batch.gap {
                    gap(&feed, known)
                } else {
                    let id = feed.id(known);
                    format!("id: {id}\nevent: batch\ndata: [{}]\n\n", batch.events.join(","))
                }
            }
        };
        if to.send(text.into()).await.is_err() {
            return;
        }
    }
}

/// Tells the page to fetch everything again.
fn gap(feed: &Feed, known: u64) -> String {
    format!("id: {}\nevent: gap\ndata: {{}}\n\n", feed.id(known))
}

/// The parts of the answer, as they come.
struct Parts(mpsc::Receiver<Bytes>);

impl futures_core::Stream for Parts {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|part| part.map(|bytes| Ok(Frame::data(bytes))))
    }
}
