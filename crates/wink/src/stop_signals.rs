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

    /// Waits until one of them comes, for the first time or again.
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Lets this process be told to stop when the one that started it is gone; fails where it is gone already.
pub(crate) fn end_with_parent(parent: u32) -> io::Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::TERM))?;
    match getppid().is_some_and(|pid| pid.as_raw_nonzero().get().cast_unsigned() == parent) {
        true => Ok(()),
        false => Err(io::Error::other("the process that started this server is gone")),
    }
}
