//! Accepts connections, within limits, until told to stop.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::serve::http::header_timeout::{self, HeaderTimeout};
use crate::serve::http::unauthenticated::{Pending, Unauthenticated};
use crate::serve::http::write_timeout::WriteTimeout;
use crate::sys::stop_signals::StopSignals;

const MAX_CONNECTIONS: usize = 256;
const MAX_HEADER_BYTES: usize = 16 * 1024;
/// Bounds the wait for a client to read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// Bounds the wait for running requests when the server stops.
const GRACE: Duration = Duration::from_secs(5);
/// Accepting fails when the process has no file handle left; trying at once would only spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How to end work that would not end with the connections.
pub(crate) struct Ending<E, H> {
    pub(crate) end: E,
    /// Makes `end` stop waiting for requests that are still running.
    pub(crate) hurry: H,
}

/// Serves `app` until it is told to stop, then lets running requests end.
pub(crate) async fn serve<E: Future<Output = ()>, H: FnOnce()>(
    listeners: Vec<TcpListener>,
    app: Router,
    mut stop: StopSignals,
    ending: Ending<E, H>,
) {
    let places = ConnectionLimit::default();
    let graceful = GracefulShutdown::new();
    loop {
        tokio::select! {
            () = stop.received() => break,
            accepted = places.accept(&listeners) => match accepted {
                Some((stream, place)) => spawn(stream, place, app.clone(), graceful.watcher()),
                None => sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    drop(listeners);
    // Past the grace period, or at another stop signal, the connections are cut.
    let cut = Notify::new();
    let requests = async {
        tokio::select! {
            () = graceful.shutdown() => {}
            () = cut.notified() => {}
        }
    };
    let all = async { tokio::join!(requests, ending.end) };
    let hurry = || {
        cut.notify_one();
        (ending.hurry)();
    };
    stop.ended(async { drop(timeout(GRACE, all).await) }, hurry).await;
}

/// The connections that there can be at the same time.
///
/// tower's limit counts requests, not connections, and cannot close an idle connection to make room.
struct ConnectionLimit {
    free: Arc<Semaphore>,
    unauthenticated: Unauthenticated,
}

/// The slot of one connection.
struct Place {
    _taken: OwnedSemaphorePermit,
    pending: Arc<Pending>,
}

impl Default for ConnectionLimit {
    fn default() -> Self {
        let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        Self { free, unauthenticated: Unauthenticated::default() }
    }
}

impl ConnectionLimit {
    /// Waits for a connection. If no slot is free, closes the oldest one whose client has not shown the
    /// token, so that such clients cannot keep others out.
    async fn accept(&self, listeners: &[TcpListener]) -> Option<(TcpStream, Place)> {
        let stream = accept(listeners).await.ok()?;
        Some((stream, self.place().await?))
    }

    async fn place(&self) -> Option<Place> {
        if self.free.available_permits() == 0 {
            self.unauthenticated.send_oldest_away();
        }
        let taken = self.free.clone().acquire_owned().await.ok()?;
        Some(Place { _taken: taken, pending: self.unauthenticated.add() })
    }
}

/// Waits for a connection at any address.
async fn accept(listeners: &[TcpListener]) -> io::Result<TcpStream> {
    poll_fn(|context| {
        let mut accepted = listeners.iter().map(|listener| listener.poll_accept(context));
        let first = accepted.find(Poll::is_ready).unwrap_or(Poll::Pending);
        first.map_ok(|(stream, _)| stream)
    })
    .await
}

fn spawn(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    place: Place,
    app: Router,
    watcher: Watcher,
) {
    let timer = HeaderTimeout::new();
    let stream = WriteTimeout::new(stream, WRITE_TIMEOUT, timer.clone());
    let pending = place.pending.clone();
    let app = TowerToHyperService::new(app);
    let connection = http1::Builder::new()
        .timer(timer)
        .header_read_timeout(header_timeout::IDLE)
        .max_header_size(MAX_HEADER_BYTES)
        .serve_connection(
            TokioIo::new(stream),
            service_fn(move |mut request| {
                request.extensions_mut().insert(pending.clone());
                app.call(request)
            }),
        );
    let connection = watcher.watch(connection);
    tokio::spawn(async move {
        // A client that breaks off is no event for the server.
        tokio::select! {
            _ = connection => {}
            () = place.pending.sent_away() => {}
        }
        drop(place);
    });
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::Instant;

    use super::*;

    /// The clock is paused, and advances when no task has work to do.
    #[tokio::test(start_paused = true)]
    async fn a3_65_a_client_that_asks_for_nothing_more_is_given_up_after_a_minute() {
        let (near, mut far) = duplex(1 << 16);
        let places = ConnectionLimit::default();
        let graceful = GracefulShutdown::new();
        let app = Router::new().route("/", get(async || "hello"));
        spawn(near, places.place().await.expect("a place"), app, graceful.watcher());
        far.write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").await.expect("it listens");
        let mut all = String::new();
        let began = Instant::now();
        far.read_to_string(&mut all).await.expect("it is closed");
        assert!(all.starts_with("HTTP/1.1 200 ") && all.ends_with("hello"), "{all}");
        let took = began.elapsed();
        assert!((Duration::from_secs(59)..Duration::from_secs(62)).contains(&took), "{took:?}");
        sleep(Duration::from_secs(1)).await;
        assert_eq!(places.free.available_permits(), MAX_CONNECTIONS, "its place is free");
    }
}
