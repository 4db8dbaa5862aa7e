//! Keeping a tool from changing its session past the call, which may yet fail.

use std::cell::Cell;
use std::sync::Arc;

use crate::session::Session;
use crate::session::error::SessionError;

thread_local! {
    /// Where the session is whose tool runs on this thread; nowhere is 0.
    static CALLED: Cell<usize> = const { Cell::new(0) };
}

/// Puts back what was there before, also after a panic.
struct Before(usize);

impl Drop for Before {
    fn drop(&mut self) {
        CALLED.set(self.0);
    }
}

/// Lets subscribers do what they like: the call is not theirs.
pub(crate) fn outside_calls<T>(work: impl FnOnce() -> T) -> T {
    let _before = Before(CALLED.replace(0));
    work()
}

impl Session {
    /// Runs a tool of the session, which meanwhile refuses to be changed from this thread.
    pub(crate) fn in_call<T>(&self, work: impl FnOnce() -> T) -> T {
        let _before = Before(CALLED.replace(self.address()));
        work()
    }

    /// Refuses what a tool must leave to the end of its call.
    pub(crate) fn check_outside_call(&self) -> Result<(), SessionError> {
        if CALLED.get() == self.address() { Err(SessionError::DuringCall) } else { Ok(()) }
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}
