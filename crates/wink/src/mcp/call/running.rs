//! A running call: how it reports progress, and what happens when the client gives up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use wink_agent::exec::OutputWatch;

use crate::sys::lock::lock;

/// How often a long call reports progress.
const BEAT: Duration = Duration::from_millis(500);

/// The most bytes of a line that are reported.
const MOST_SHOWN: usize = 200;

/// The last line that a running program has printed.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastLine(Arc<Mutex<Vec<u8>>>);

impl LastLine {
    /// Returns what takes in the output of a program.
    pub(crate) fn watch(&self) -> OutputWatch {
        let lines = self.0.clone();
        OutputWatch::new(move |bytes| {
            let tail = &bytes[bytes.len().saturating_sub(2 * MOST_SHOWN)..];
            let mut kept = lock(&lines);
            kept.extend_from_slice(tail);
            let over = kept.len().saturating_sub(2 * MOST_SHOWN);
            kept.drain(..over);
        })
    }

    /// Returns the line, without what acts on a terminal.
    fn get(&self) -> Option<String> {
        let kept = String::from_utf8_lossy(&lock(&self.0)).into_owned();
        let line = kept.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().flat_map(char::escape_debug).take(MOST_SHOWN).collect())
    }
}

/// Sets the flag when the client no longer waits for the work, for whatever reason.
struct GivingUp(Arc<AtomicBool>);

impl Drop for GivingUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs blocking work on a thread for such work, and reports its progress to the client.
///
/// The work is never aborted: it sees by the flag that the client no longer waits, and ends by itself.
pub(crate) async fn run<T: Send + 'static>(
    name: &'static str,
    context: &RequestContext<RoleServer>,
    given_up: Arc<AtomicBool>,
    last_line: Option<LastLine>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ErrorData> {
    if context.ct.is_cancelled() {
        given_up.store(true, Ordering::Relaxed);
    }
    let mut work = spawn_blocking(work);
    let giving_up = GivingUp(given_up);
    let began = Instant::now();
    let token = context.meta.get_progress_token();
    let mut beat = beat();
    loop {
        tokio::select! {
            done = &mut work => return done.map_err(|_| failed()),
            () = context.ct.cancelled() => break,
            _ = beat.tick(), if token.is_some() => tell(name, context, &token, began, last_line.as_ref()).await,
        }
    }
    drop(giving_up);
    work.await.map_err(|_| failed())
}

fn beat() -> Interval {
    let mut beat = interval_at(Instant::now() + BEAT, BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}

/// Reports how long the call has run; a search does not know how much is left.
async fn tell(
    name: &str,
    context: &RequestContext<RoleServer>,
    token: &Option<ProgressToken>,
    began: Instant,
    last_line: Option<&LastLine>,
) {
    let Some(token) = token.clone() else { return };
    let seconds = began.elapsed().as_secs_f64();
    let printed = last_line.and_then(LastLine::get);
    let printed = printed.map_or(String::new(), |line| format!(": {line}"));
    let progress = ProgressNotificationParam::new(token, seconds)
        .with_message(format!("{name} has been at work for {seconds:.1} s{printed}"));
    // A client that does not listen any more is no reason to stop.
    let _ = context.peer.notify_progress(progress).await;
}

fn failed() -> ErrorData {
    ErrorData::internal_error("The call failed unexpectedly.", None)
}
