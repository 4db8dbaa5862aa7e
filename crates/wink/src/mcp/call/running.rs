//! A running call: how it reports progress, and what happens when the client gives up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// How often a long call reports progress.
const BEAT: Duration = Duration::from_millis(500);

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
            _ = beat.tick(), if token.is_some() => tell(name, context, &token, began).await,
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
) {
    let Some(token) = token.clone() else { return };
    let seconds = began.elapsed().as_secs_f64();
    let progress = ProgressNotificationParam::new(token, seconds)
        .with_message(format!("{name} has been at work for {seconds:.1} s"));
    // A client that does not listen any more is no reason to stop.
    let _ = context.peer.notify_progress(progress).await;
}

fn failed() -> ErrorData {
    ErrorData::internal_error("The call failed unexpectedly.", None)
}
