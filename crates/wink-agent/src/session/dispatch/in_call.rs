//! Refuses direct changes of a session by its tools: the call may still fail.

use std::cell::Cell;
use std::sync::Arc;

use crate::session::Session;
use crate::session::error::SessionError;

thread_local! {
    /// The address of the session whose tool runs on this thread, or 0.
    static CALLED: Cell<usize> = const { Cell::new(0) };
}

/// Ends a call, or the time outside of one, when it is dropped, also after a panic.
#[must_use]
pub(crate) struct InCall {
    before: usize,
}

impl Drop for InCall {
    fn drop(&mut self) {
        CALLED.set(self.before);
    }
}

/// Lets subscribers change the session: they are not part of the call.
pub(crate) fn outside_calls<T>(work: impl FnOnce() -> T) -> T {
    let _outside = InCall { before: CALLED.replace(0) };
    work()
}

impl Session {
    /// Begins a call of a tool; until it ends, the session refuses to be changed from this thread.
    pub(crate) fn begin_call(&self) -> InCall {
        InCall { before: CALLED.replace(self.address()) }
    }

    /// Fails within a call of a tool of this session.
    pub(crate) fn check_outside_call(&self) -> Result<(), SessionError> {
        if CALLED.get() == self.address() { Err(SessionError::DuringCall) } else { Ok(()) }
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}
