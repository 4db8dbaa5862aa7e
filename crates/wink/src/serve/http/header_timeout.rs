//! How long a client has to ask for something, and how long it may ask for nothing.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

use crate::sys::lock::lock;

/// Bounds the time from the first byte of a request, or from the beginning of a connection, to the end of
/// the request's headers.
const HEAD: Duration = Duration::from_secs(5);

/// Bounds the time between two requests.
pub(crate) const IDLE: Duration = Duration::from_secs(60);

/// Measures both times for one connection; a clone measures for the same.
///
/// hyper knows only one time, from the end of a request to the headers of the next, and takes it from a
/// timer that it is given. This one shortens it as soon as something of the next request is there.
#[derive(Clone, Debug)]
pub(crate) struct HeaderTimeout(Arc<Mutex<Begun>>);

/// When the request began whose headers are waited for, if it has begun.
#[derive(Debug)]
struct Begun {
    at: Option<Instant>,
    is_first: bool,
}

impl HeaderTimeout {
    /// Makes the timer of a connection that begins now, and with it its first request.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Begun { at: Some(Instant::now()), is_first: true })))
    }

    /// Takes note that bytes came.
    pub(crate) fn bytes_came(&self) {
        self.begun().at.get_or_insert_with(Instant::now);
    }

    fn begun(&self) -> MutexGuard<'_, Begun> {
        lock(&self.0)
    }
}

impl Timer for HeaderTimeout {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    /// Begins the wait for a request; bytes that came before were of the last one.
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        let mut begun = self.begun();
        if !std::mem::replace(&mut begun.is_first, false) {
            begun.at = None;
        }
        drop(begun);
        let end = Box::pin(tokio::time::sleep_until(deadline.into()));
        Box::pin(Wait { timer: self.clone(), end })
    }
}

/// The wait for the headers of one request.
struct Wait {
    timer: HeaderTimeout,
    end: Pin<Box<tokio::time::Sleep>>,
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let begun = self.timer.begun().at;
        if let Some(end) =
            begun.map(|at| (at + HEAD).into()).filter(|end| *end < self.end.deadline())
        {
            self.end.as_mut().reset(end);
        }
        self.end.as_mut().poll(context)
    }
}

impl Sleep for Wait {}
