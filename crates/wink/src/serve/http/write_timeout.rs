//! A connection that waits for its client to read, but not for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::serve::http::header_timeout::HeaderTimeout;

/// Passes everything on, and fails when nothing could be written for too long.
///
/// A client that sends requests and never reads would otherwise hold its connection until it goes away: hyper and
/// tower have no timeout for writes. Reading has bounds of its own, measured by the timer that is told of every read.
#[derive(Debug)]
pub(crate) struct WriteTimeout<S> {
    stream: S,
    patience: Duration,
    /// When it gives up, while it waits.
    end: Option<Pin<Box<Sleep>>>,
    timer: HeaderTimeout,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(stream: S, patience: Duration, timer: HeaderTimeout) -> Self {
        Self { stream, patience, end: None, timer }
    }

    /// Turns a wait that lasts too long into a failure.
    fn bounded<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.end = None;
            return written;
        }
        let patience = self.patience;
        let end = || Box::pin(sleep_until(Instant::now() + patience));
        match self.end.get_or_insert_with(end).as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.timer.bytes_came();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.bounded(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bounded(context, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a3_65_a_client_that_does_not_read_is_given_up() {
        let (near, _far) = duplex(4);
        let mut near = WriteTimeout::new(near, Duration::from_millis(30), HeaderTimeout::new());
        let error = near.write_all(b"more than fits").await.expect_err("no client reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_gets_everything() {
        let (near, mut far) = duplex(1);
        let mut near = WriteTimeout::new(near, Duration::from_millis(500), HeaderTimeout::new());
        let reads = tokio::spawn(async move {
            let mut all = Vec::new();
            while let Ok(byte) = far.read_u8().await {
                all.push(byte);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            all
        });
        let text = vec![b'x'; 40];
        near.write_all(&text).await.expect("it is read");
        drop(near);
        assert_eq!(reads.await.expect("reads"), text);
    }
}
