//! The two polite ways to end a server.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears of both signals from the moment it is made.
#[derive(Debug)]
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    pub(crate) fn listen() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        Ok(StopSignals { interrupt, terminate })
    }

    /// Waits until one of them comes.
    pub(crate) async fn received(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
