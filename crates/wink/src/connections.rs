//! Accepts connections, within limits, until told to stop.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::head_timer::{self, HeadTimer};
use crate::patient_stream::PatientStream;
use crate::stop_signals::StopSignals;

const MAX_CONNECTIONS: usize = 256;
const MAX_HEADER_BYTES: usize = 16 * 1024;
/// Bounds the wait for a client to read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// Bounds the wait for running requests when the server stops.
const GRACE: Duration = Duration::from_secs(5);
/// Accepting fails when the process has no file handle left; trying at once would only spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Says how to end what would not end with the connections.
pub(crate) struct Ending<E, H> {
    pub(crate) end: E,
    /// Lets that wait for nobody any more.
    pub(crate) hurry: H,
}

/// Serves `app` until it is told to stop, then lets running requests end.
pub(crate) async fn serve<E: Future<Output = ()>, H: FnOnce()>(
    listener: TcpListener,
    app: Router,
    mut stop: StopSignals,
    ending: Ending<E, H>,
) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let graceful = GracefulShutdown::new();
    loop {
        tokio::select! {
            () = stop.received() => break,
            accepted = accept(&listener, &slots) => match accepted {
                Some((stream, slot)) => spawn(stream, slot, app.clone(), graceful.watcher()),
                None => sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    drop(listener);
    // Past the grace period, or told so again, the connections are cut, for which nothing is left to do here.
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

/// Waits for a free slot and then for a connection to fill it.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let slot = slots.clone().acquire_owned().await.ok()?;
    let (stream, _) = listener.accept().await.ok()?;
    Some((stream, slot))
}

fn spawn(stream: TcpStream, slot: OwnedSemaphorePermit, app: Router, watcher: Watcher) {
    let timer = HeadTimer::new();
    let stream = PatientStream::new(stream, WRITE_TIMEOUT, timer.clone());
    let connection = http1::Builder::new()
        .timer(timer)
        .header_read_timeout(head_timer::IDLE)
        .max_header_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    let connection = watcher.watch(connection);
    tokio::spawn(async move {
        // A client that breaks off is no event for the server.
        let _ = connection.await;
        drop(slot);
    });
}
