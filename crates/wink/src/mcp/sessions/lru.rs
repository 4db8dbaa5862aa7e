//! When sessions of older clients were used, and which of them can go.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rmcp::transport::streamable_http_server::SessionId;

use crate::sys::lock::lock;

/// Remembers when sessions were used last; a clone remembers the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionLru(Arc<Mutex<HashMap<SessionId, Used>>>);

/// When a session was used last. A request that uses it now holds a second handle.
type Used = Arc<Mutex<Instant>>;

/// Goes with a request of a session, which is in use until the request is done.
#[derive(Debug)]
pub(crate) struct InUse(Used);

impl Drop for InUse {
    fn drop(&mut self) {
        *lock(&self.0) = Instant::now();
    }
}

impl SessionLru {
    /// Remembers a session that has begun.
    pub(crate) fn add(&self, id: &str) {
        lock(&self.0).insert(id.into(), now());
    }

    /// Begins a use of a session; none if it was forgotten, because it is about to end.
    pub(crate) fn begin(&self, id: &str) -> Option<Arc<InUse>> {
        lock(&self.0).get(id).map(|used| Arc::new(InUse(used.clone())))
    }

    /// Returns how many sessions are remembered.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        lock(&self.0).len()
    }

    /// Remembers the sessions that are there, and no others.
    pub(crate) fn remember_only<'s>(&self, there: impl Iterator<Item = &'s SessionId>) {
        let mut uses = lock(&self.0);
        let used = |id: &SessionId| uses.get(id).cloned().unwrap_or_else(now);
        *uses = there.map(|id| (id.clone(), used(id))).collect();
    }

    /// Forgets the session that has been idle for longest and that no request uses now: from here on, no request
    /// begins to use it.
    pub(crate) fn forget_longest_idle(&self) -> Option<SessionId> {
        let mut uses = lock(&self.0);
        let idle = uses.iter().filter(|(_, used)| Arc::strong_count(used) == 1);
        let longest = idle.min_by_key(|(_, used)| *lock(used)).map(|(id, _)| id.clone())?;
        uses.remove(&longest);
        Some(longest)
    }
}

fn now() -> Used {
    Arc::new(Mutex::new(Instant::now()))
}
