//! When sessions of older clients were used, and which of them can go.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rmcp::transport::streamable_http_server::SessionId;

/// Remembers when sessions were used last; a clone remembers the same ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses(Arc<Mutex<HashMap<SessionId, Used>>>);

/// When a session was used last. Whoever uses it now holds a second handle.
type Used = Arc<Mutex<Instant>>;

/// Goes with a request of a session, which is in use until the request is done.
#[derive(Debug)]
pub(super) struct InUse(Used);

impl Drop for InUse {
    fn drop(&mut self) {
        *lock(&self.0) = Instant::now();
    }
}

impl Uses {
    /// Begins a use of a session.
    pub(super) fn begin(&self, id: &str) -> Arc<InUse> {
        Arc::new(InUse(lock(&self.0).entry(id.into()).or_insert_with(now).clone()))
    }

    /// Returns how many sessions are remembered.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        lock(&self.0).len()
    }

    /// Forgets the sessions that are not there any more, and returns which of those that are nobody has
    /// used for longest, and nobody uses now.
    pub(super) fn longest_idle<'s>(
        &self,
        there: impl Iterator<Item = &'s SessionId>,
    ) -> Option<SessionId> {
        let mut uses = lock(&self.0);
        let used = |id: &SessionId| uses.get(id).cloned().unwrap_or_else(now);
        *uses = there.map(|id| (id.clone(), used(id))).collect();
        let idle = uses.iter().filter(|(_, used)| Arc::strong_count(used) == 1);
        idle.min_by_key(|(_, used)| *lock(used)).map(|(id, _)| id.clone())
    }
}

fn now() -> Used {
    Arc::new(Mutex::new(Instant::now()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
