//! Work on several threads at once: always our own, never those of the embedding program.
//!
//! A rayon thread that waits for work does other work meanwhile. On the threads of a program
//! that calls us from its own parallel work, that other work may be a call of ours again, which waits for
//! the turn that the first one holds, below it on the same stack: for ever. So the work is done on threads
//! of our own, and a thread that is not ours only waits. For the same reason nothing that is done here
//! may wait for a lock that is held for longer than a moment; see [`both`].

use std::sync::OnceLock;
use std::thread;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// As large as that of a main thread.
const STACK_BYTES: usize = 8 * 1024 * 1024;

static THREADS: OnceLock<Option<ThreadPool>> = OnceLock::new();

/// Returns our threads; `None` if the system gives us none.
fn threads() -> Option<&'static ThreadPool> {
    let builder = ThreadPoolBuilder::new().stack_size(STACK_BYTES);
    let builder = builder.thread_name(|number| format!("wink-{number}"));
    THREADS.get_or_init(|| builder.build().ok()).as_ref()
}

/// Does work in which rayon may be used.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if has_one_thread() {
        return work();
    }
    match threads() {
        Some(ours) if ours.current_thread_index().is_some() => work(),
        Some(ours) if rayon::current_thread_index().is_none() => ours.install(work),
        Some(ours) => waiting_for(|| ours.install(work)),
        None => work(),
    }
}

/// Does something with each item.
pub(crate) fn map<'i, I: Sync, T: Send>(
    items: &'i [I],
    work: impl Fn(&'i I) -> T + Sync + Send,
) -> Vec<T> {
    match items.len() {
        0 | 1 => items.iter().map(work).collect(),
        _ => run(|| items.par_iter().map(work).collect()),
    }
}

/// Does something with each item; one that fails ends it.
pub(crate) fn try_map<'i, I: Sync, T: Send, E: Send>(
    items: &'i [I],
    work: impl Fn(&'i I) -> Result<T, E> + Sync + Send,
) -> Result<Vec<T>, E> {
    match items.len() {
        0 | 1 => items.iter().map(work).collect(),
        _ => run(|| items.par_iter().map(work).collect()),
    }
}

/// Does two things at once, of which each may wait for locks; the first on this thread.
pub(crate) fn both<A, B: Send>(
    first: impl FnOnce() -> A,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if has_one_thread() {
        return (first(), second());
    }
    thread::scope(|scope| {
        let second = scope.spawn(second);
        let first = first();
        (first, joined(second))
    })
}

/// Does work that no caller waits for, in the background where possible.
pub(crate) fn later(work: impl FnOnce() + Send + 'static) {
    match threads() {
        Some(ours) if !has_one_thread() => ours.spawn(work),
        _ => work(),
    }
}

/// Returns whether this is the only thread of a program's own pool: then there is no other work, and the
/// program wants to do with one thread.
fn has_one_thread() -> bool {
    rayon::current_thread_index().is_some() && rayon::current_num_threads() == 1
}

/// Does work on another thread; this one does nothing else meanwhile.
fn waiting_for<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| joined(scope.spawn(work)))
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;

    thread_local! {
        static IS_CALLED: Cell<bool> = const { Cell::new(false) };
    }

    fn pause() {
        thread::sleep(Duration::from_millis(2));
    }

    /// Calls us as a program does that holds a lock meanwhile.
    fn call(number: &usize) -> usize {
        assert!(!IS_CALLED.replace(true), "another call is below this one on the same stack");
        let done = run(|| map(&[*number, 1, 2, 3], |number| (pause(), *number + 1).1)[0]);
        IS_CALLED.set(false);
        done
    }

    fn numbers() -> Vec<usize> {
        (0..64).collect()
    }

    #[test]
    fn a_thread_of_the_program_does_nothing_else_while_it_waits() {
        for count in [1, 2, 4] {
            let program = ThreadPoolBuilder::new().num_threads(count).build().unwrap();
            let done: Vec<_> = program.install(|| numbers().par_iter().map(call).collect());
            assert_eq!(done, (1..65).collect::<Vec<_>>());
        }
    }

    #[test]
    fn work_in_work_stays_on_our_threads() {
        let index = || threads().unwrap().current_thread_index();
        assert!(run(|| run(index)).is_some());
        assert_eq!(run(|| try_map(&numbers(), |_| index().ok_or(()))).map(|it| it.len()), Ok(64));
        assert_eq!(index(), None);
    }

    #[test]
    fn a_program_with_one_thread_gets_one() {
        let program = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let here = || thread::current().id();
        let (mine, (first, second), mapped) =
            program.install(|| (here(), both(here, here), map(&[1, 2, 3], |_| here())));
        assert_eq!([vec![first, second], mapped].concat(), vec![mine; 5]);
    }

    #[test]
    fn a_panic_comes_back_to_the_waiting_thread() {
        let program = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let broke = |work: &(dyn Fn() + Sync)| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err()
        };
        assert!(broke(&|| program.install(|| run(|| panic!("on purpose")))));
        assert!(broke(&|| ((), ()) = both(|| (), || panic!("on purpose"))));
    }
}
