//! Signals that stop a server.

use std::io;
use std::path::Path;
use std::pin::pin;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::sys::disk;

/// Listens for the signals from its creation on.
#[derive(Debug)]
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    /// The terminal was closed; a user who started the server with `nohup` wants it to go on.
    hangup: Option<Signal>,
}

impl StopSignals {
    pub(crate) fn listen() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        let hangup = (!ignores_hangup()).then(|| signal(SignalKind::hangup())).transpose()?;
        Ok(StopSignals { interrupt, terminate, hangup })
    }

    /// Waits for the next signal.
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hung_up(self.hangup.as_mut()) => {}
        }
    }

    /// Waits until a server has ended: the next signal hurries it, and the one after that ends the wait.
    pub(crate) async fn ended(&mut self, end: impl Future<Output = ()>, hurry: impl FnOnce()) {
        let mut end = pin!(end);
        tokio::select! {
            () = &mut end => return,
            () = self.received() => hurry(),
        }
        tokio::select! {
            () = end => {}
            () = self.received() => {}
        }
    }
}

async fn hung_up(hangup: Option<&mut Signal>) {
    match hangup {
        Some(hangup) => drop(hangup.recv().await),
        None => std::future::pending().await,
    }
}

/// Returns whether the process was started with `nohup`.
fn ignores_hangup() -> bool {
    let status = disk::read(Path::new("/proc/self/status")).ok().flatten().unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    // The first bit is that of the first signal, which is this one.
    ignored.is_some_and(|bits| bits & 1 == 1)
}

/// Lets this process be told to stop when the one that started it is gone; fails if it is gone already.
pub(crate) fn end_with_parent(parent: u32) -> io::Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::TERM))?;
    if getppid().is_some_and(|pid| pid.as_raw_nonzero().get().cast_unsigned() == parent) {
        Ok(())
    } else {
        Err(io::Error::other("the process that started this server is gone"))
    }
}
