//! Signals that would end the process in the middle of its work.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[cfg(unix)]
use signal_hook::consts::{SIGINT, SIGTERM};
#[cfg(unix)]
use signal_hook::iterator::Signals;

use crate::ui::answer;

/// Returns a flag that is set when the process is asked to end, which it then does by itself.
pub(crate) fn give_up() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [SIGINT, SIGTERM] {
        // Where it cannot be heard, the signal ends the process as it would have.
        let _ = signal_hook::flag::register(signal, flag.clone());
    }
    flag
}

/// Tells programs in one line that the command was interrupted, and ends with the code for it.
///
/// What it was doing stops as if it had been killed: what that leaves is mended by the next command.
pub(crate) fn tell_programs() {
    #[cfg(unix)]
    if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) {
        std::thread::spawn(move || {
            if signals.forever().next().is_some() {
                answer::interrupted();
            }
        });
    }
}

/// Asks the system to refuse a write past the limit of size (`ulimit -f`) instead of killing who makes it.
///
/// Where it does not listen, the process dies as it would have: what it leaves is mended by the next.
pub(crate) fn survive_limits() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}
