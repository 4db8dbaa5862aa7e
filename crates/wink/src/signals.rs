//! Signals that would end the process in the middle of its work.

/// Asks the system to refuse a write past the limit of size (`ulimit -f`) instead of killing who makes it.
///
/// Where it does not listen, the process dies as it would have: what it leaves is mended by the next.
pub(crate) fn survive_limits() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}
