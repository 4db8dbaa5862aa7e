//! Signals that interrupt a command.

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
        // If this fails, the signal ends the process.
        let _ = signal_hook::flag::register(signal, flag.clone());
    }
    flag
}

/// Tells programs in one line that the command was interrupted, and ends with the code for it.
///
/// Its work stops as if it had been killed; the next command recovers.
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

/// Lets a write past the size limit (`ulimit -f`) fail instead of killing the process.
///
/// If this fails, the process is killed, and the next command recovers.
pub(crate) fn survive_limits() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}
