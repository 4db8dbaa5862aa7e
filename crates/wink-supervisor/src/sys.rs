//! The system calls that the standard library does not have.
//!
//! Unsafe code, because the program is compiled without any other crate: `build.rs` says why. Every call
//! takes numbers and returns one; the only pointer is to a local variable.
#![allow(unsafe_code, reason = "three system calls without another crate")]

use std::ffi::{c_int, c_ulong};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

const SIGKILL: c_int = 9;
const PR_SET_DUMPABLE: c_int = 4;

unsafe extern "C" {
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn prctl(option: c_int, ...) -> c_int;
}

/// Keeps other processes of the same user from tracing this one and from opening its files in `/proc`.
pub(crate) fn hide() -> io::Result<()> {
    // SAFETY: numbers only.
    let done =
        unsafe { prctl(PR_SET_DUMPABLE, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Kills every other process of the container.
///
/// The kernel does it under the lock that `fork` takes, so that none escapes by forking.
pub(crate) fn kill_all() {
    // Elsewhere it would be every process of the machine.
    if std::process::id() == 1 {
        // SAFETY: numbers only. It fails if there is no other process.
        unsafe { kill(-1, SIGKILL) };
    }
}

/// Waits until any child ends; an error if there is none.
pub(crate) fn wait_any() -> io::Result<(u32, ExitStatus)> {
    loop {
        let mut status = 0;
        // SAFETY: the pointer is to a local variable, which outlives the call.
        let pid = unsafe { waitpid(-1, &mut status, 0) };
        if pid > 0 {
            return Ok((pid.unsigned_abs(), ExitStatus::from_raw(status)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
