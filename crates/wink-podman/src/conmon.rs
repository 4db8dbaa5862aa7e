//! What is left of a container when Podman dies while it starts one.
//!
//! Podman writes a container down once it runs. Killed before that, it leaves `conmon`, which watches the container,
//! and the half of a container below it: `podman rm` knows neither.
#![allow(clippy::disallowed_methods, reason = "the processes of this machine")]

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How long the processes have to be gone.
const PATIENCE: Duration = Duration::from_secs(3);

/// Ends what `conmon` watches for the container of this name, and with it `conmon`.
pub(crate) fn end(name: &str) {
    let deadline = Instant::now() + PATIENCE;
    while let Some(conmon) = find(name).filter(|_| Instant::now() < deadline) {
        // Not itself: the container would stay, and no process would clean up after it.
        children(conmon).into_iter().for_each(kill_child_of(conmon));
        thread::sleep(Duration::from_millis(20));
    }
}

fn find(name: &str) -> Option<i32> {
    let entries = fs::read_dir("/proc").ok()?;
    let pids = entries.flatten().filter_map(|it| it.file_name().to_str()?.parse().ok());
    pids.into_iter().find(|pid| is_conmon_of(*pid, name))
}

fn is_conmon_of(pid: i32, name: &str) -> bool {
    let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) else { return false };
    let words: Vec<_> = line.split(|byte| *byte == 0).collect();
    let program =
        Path::new(std::ffi::OsStr::from_bytes(words.first().copied().unwrap_or_default()));
    program.file_name().is_some_and(|it| it == "conmon")
        && words.windows(2).any(|pair| pair == [&b"-n"[..], name.as_bytes()])
}

fn children(pid: i32) -> Vec<i32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// Kills a process through a handle, so that it is the one that was looked at.
fn kill_child_of(parent: i32) -> impl Fn(i32) {
    move |child| {
        let Some(pid) = Pid::from_raw(child) else { return };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if children(parent).contains(&child) {
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
    }
}
