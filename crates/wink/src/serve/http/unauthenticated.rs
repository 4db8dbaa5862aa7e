//! Connections whose client has not shown the token yet: the oldest is closed if no slot is free.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::sys::lock::lock;

/// All of them, oldest first; a clone is another handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unauthenticated(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    all: BTreeMap<u64, Arc<Notify>>,
}

/// One connection, which may be no stranger's any more.
#[derive(Debug)]
pub(crate) struct Pending {
    number: u64,
    sent_away: Arc<Notify>,
    is_known: AtomicBool,
    among: Unauthenticated,
}

impl Unauthenticated {
    /// Adds a connection that has just begun.
    pub(crate) fn add(&self) -> Arc<Pending> {
        let mut waiting = lock(&self.0);
        let sent_away = Arc::new(Notify::new());
        waiting.last += 1;
        let number = waiting.last;
        waiting.all.insert(number, sent_away.clone());
        let is_known = AtomicBool::new(false);
        let among = self.clone();
        Arc::new(Pending { number, sent_away, is_known, among })
    }

    /// Sends the oldest one away, if there is any.
    pub(crate) fn send_oldest_away(&self) {
        if let Some((_, oldest)) = lock(&self.0).all.pop_first() {
            oldest.notify_one();
        }
    }

    fn remove(&self, number: u64) -> bool {
        lock(&self.0).all.remove(&number).is_some()
    }
}

impl Pending {
    /// Takes note that the token was shown; returns whether that was before it was sent away.
    pub(crate) fn admit(&self) -> bool {
        if !self.is_known.load(Ordering::Relaxed) && self.among.remove(self.number) {
            self.is_known.store(true, Ordering::Relaxed);
        }
        self.is_known.load(Ordering::Relaxed)
    }

    /// Waits until it has to go.
    pub(crate) async fn sent_away(&self) {
        self.sent_away.notified().await;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.among.remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn has_to_go(pending: &Pending) -> bool {
        timeout(Duration::from_millis(20), pending.sent_away()).await.is_ok()
    }

    #[tokio::test]
    async fn the_oldest_goes_first_and_no_authenticated_one() {
        let all = Unauthenticated::default();
        let known = all.add();
        let first = all.add();
        let second = all.add();
        assert!(known.admit() && known.admit());
        all.send_oldest_away();
        assert!(has_to_go(&first).await && !has_to_go(&second).await && !has_to_go(&known).await);
        assert!(!first.admit(), "it is too late");
        all.send_oldest_away();
        all.send_oldest_away();
        assert!(has_to_go(&second).await && !has_to_go(&known).await);
    }

    #[tokio::test]
    async fn a_connection_that_has_ended_is_none_to_send_away() {
        let all = Unauthenticated::default();
        let gone = all.add();
        let stays = all.add();
        drop(gone);
        all.send_oldest_away();
        assert!(has_to_go(&stays).await);
    }
}
