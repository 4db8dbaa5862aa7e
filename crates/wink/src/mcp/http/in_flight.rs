//! Requests that are being answered, so that a server ends after its last answer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// More than there are connections.
const MOST: u32 = 1 << 16;

/// Counts the requests that are being answered; a clone counts the same ones.
#[derive(Clone, Debug)]
pub(super) struct InFlight(Arc<Semaphore>);

/// One of them.
#[derive(Debug)]
pub(super) struct Request {
    _counted: OwnedSemaphorePermit,
}

impl Default for InFlight {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST as usize)))
    }
}

impl InFlight {
    /// Counts a request; none if the server accepts no more of them.
    pub(super) fn begin(&self) -> Option<Request> {
        self.0.clone().try_acquire_owned().ok().map(|_counted| Request { _counted })
    }

    /// Waits until all are answered, up to a moment; from here on none begins.
    pub(super) async fn answered(&self, until: Instant) {
        let _ = timeout_at(until, self.0.acquire_many(MOST)).await;
        self.0.close();
    }

    /// Waits for none any more.
    pub(super) fn hurry(&self) {
        self.0.close();
    }

    /// Returns whether the server no longer waits for answers.
    pub(super) fn is_over(&self) -> bool {
        self.0.is_closed()
    }
}

impl Request {
    /// Counts it until its answer was taken to the last byte.
    pub(super) fn until_sent(self, answer: Response) -> Response {
        answer.map(|body| Body::new(Counted { body, _request: self }))
    }
}

/// The body of an answer, with the request that it is of.
struct Counted {
    body: Body,
    _request: Request,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::to_bytes;

    use super::*;

    #[tokio::test]
    async fn a_request_is_under_way_until_the_last_byte_of_its_answer_was_taken() {
        let all = InFlight::default();
        let answer = all.begin().expect("not over").until_sent(Response::new(Body::from("done")));
        let ended = tokio::spawn({
            let all = all.clone();
            async move { all.answered(Instant::now() + Duration::from_secs(60)).await }
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!ended.is_finished() && !all.is_over());
        assert!(all.begin().is_none(), "none begins while the last ones are waited for");
        to_bytes(answer.into_body(), usize::MAX).await.expect("an answer");
        ended.await.expect("ends");
        assert!(all.is_over());
    }

    #[tokio::test]
    async fn the_wait_for_answers_has_a_bound_and_an_end_for_who_hurries() {
        let all = InFlight::default();
        let _stays = all.begin().expect("not over");
        all.answered(Instant::now() + Duration::from_millis(20)).await;
        assert!(all.is_over() && all.begin().is_none());
        let all = InFlight::default();
        let _stays = all.begin().expect("not over");
        all.hurry();
        all.answered(Instant::now() + Duration::from_secs(3600)).await;
    }
}
