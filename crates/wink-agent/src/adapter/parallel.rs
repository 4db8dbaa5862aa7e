//! Work on several threads, with results in order.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Applies `work` to each item, on at most `threads` threads.
///
/// They are not threads of a shared pool: one of those could, while it waits for a part of a
/// call, begin another call, which would wait for the turn of the first.
pub(super) fn in_order<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        items.get(at).map(|item| (at, work(item)))
    };
    let worker = || std::iter::from_fn(take).collect::<Vec<_>>();
    let mut done = thread::scope(|scope| {
        let others = 1..threads.min(items.len());
        // The caller works too, so if no thread can be started it does everything.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, worker).ok();
        let others: Vec<_> = others.filter_map(spawn).collect();
        let mut done = worker();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::in_order;

    #[test]
    fn results_come_in_the_order_of_the_items_however_many_threads_there_are() {
        let items: Vec<u64> = (0..1000).collect();
        let doubled: Vec<u64> = items.iter().map(|item| item * 2).collect();
        for threads in [0, 1, 2, 16, 5000] {
            assert_eq!(in_order(&items, threads, |item| item * 2), doubled);
        }
        assert!(in_order(&[], 4, |item: &u64| *item).is_empty());
    }

    #[test]
    fn items_are_worked_on_at_the_same_time() {
        // Each waits for all others: one after the other they would wait for ever.
        let all = Barrier::new(8);
        assert_eq!(in_order(&[(); 8], 8, |()| all.wait().is_leader()).len(), 8);
    }
}
