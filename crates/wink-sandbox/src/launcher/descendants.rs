//! Ending the program and everything that it started.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// Kills all descendants and waits until none is left.
///
/// This process is their subreaper: a child of a killed process becomes its own child, so killing children again and
/// again reaches all of them.
pub(super) fn end_all() {
    loop {
        kill_all();
        match wait(WaitOptions::NOHANG) {
            Err(Errno::CHILD) => return,
            Ok(Some(_)) => {}
            // Killed, and not gone yet.
            _ => thread::sleep(Duration::from_micros(200)),
        }
    }
}

/// Kills the children that this process has now.
pub(super) fn kill_all() {
    for child in children() {
        // It may have ended meanwhile; until it is waited for, its number belongs to no other process.
        let _ = kill_process(child, Signal::KILL);
    }
}

#[allow(clippy::disallowed_methods, reason = "what the kernel tells is no file of a workspace")]
fn children() -> Vec<Pid> {
    let this = getpid().as_raw_nonzero();
    let tasks = fs::read_dir(format!("/proc/{this}/task"));
    let listed = tasks
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let listed: String = listed.collect();
    listed.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}
