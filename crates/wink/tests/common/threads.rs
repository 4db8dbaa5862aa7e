//! What the threads of a process do, which tells whether it has taken in all that was sent to it.

use std::time::{Duration, Instant};

use rustix::process::Pid;

/// How often in a row a process is found idle that is.
const LOOKS: usize = 5;

/// Waits until no thread of a process has anything to do. The system wakes a thread before it returns from
/// sending something to it, however busy the machine is, so nothing that was sent is still unheard.
pub(crate) fn wait_until_idle(pid: Pid) {
    let mut idle = 0;
    wait_until("it is never idle", || {
        idle = if is_busy(pid) { 0 } else { idle + 1 };
        idle >= LOOKS
    });
}

/// Waits until a thread of a process works.
#[allow(dead_code, reason = "not every program of tests needs it")]
pub(crate) fn wait_until_busy(pid: Pid) {
    wait_until("it never works", || is_busy(pid));
}

fn wait_until(never: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{never}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns whether a thread runs or wants to; one that ends meanwhile does not.
fn is_busy(pid: Pid) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    threads.into_iter().flatten().flatten().any(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The state is what follows the name, which may have any characters in it.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        matches!(state, Some('R' | 'D'))
    })
}
