//! Many threads, one session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wink_agent::session::{Session, reducers};

use crate::session::types::{Add, Fact, Keyed, add, facts, keyed, session};

const THREADS: u64 = 16;
const EVENTS: u64 = 1_000;

/// Runs something on each of many threads.
fn on_threads(work: impl Fn(u64) + Sync) {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let work = &work;
            scope.spawn(move || work(thread));
        }
    });
}

#[test]
fn sixteen_threads_of_a_thousand_events_lose_nothing() {
    let (session, told) = (session(), Arc::new(AtomicUsize::new(0)));
    let count = told.clone();
    let tell = move |_: &Fact| {
        count.fetch_add(1, Ordering::Relaxed);
    };
    session.subscribe(tell).forever();
    on_threads(|thread| {
        for event in 0..EVENTS {
            session.dispatch(Fact(thread * EVENTS + event)).unwrap();
        }
    });
    let found = facts(&session);
    let of = |thread: u64| found.iter().copied().filter(move |fact| fact / EVENTS == thread);
    assert!((0..THREADS).all(|thread| of(thread).eq(thread * EVENTS..(thread + 1) * EVENTS)));
    assert_eq!(found.len() as u64, THREADS * EVENTS);
    assert_eq!(told.load(Ordering::Relaxed) as u64, THREADS * EVENTS);
}

#[test]
fn each_event_sees_the_one_before() {
    let session = Session::new();
    session.register(add).unwrap();
    on_threads(|_| (0..EVENTS).for_each(|_| drop(session.dispatch(Add(1)).unwrap())));
    assert!(facts(&session).into_iter().eq(1..=THREADS * EVENTS));
}

#[test]
fn upserts_from_all_sides_leave_one_item_a_key() {
    let session = Session::new();
    session.register(reducers::upsert_by(|item: &Keyed| item.key.clone())).unwrap();
    on_threads(|thread| {
        for event in 0..EVENTS {
            session.dispatch(keyed(&format!("{}", event % 100), thread)).unwrap();
        }
    });
    assert_eq!(session.query::<Keyed>().unwrap().len(), 100);
}

#[test]
fn snapshots_rollbacks_and_readers_among_writers_see_whole_events() {
    let session = Session::new();
    session.register(add).unwrap();
    session
        .register(|view: &wink_agent::session::View<'_, Keyed>, event: &Arc<Add>| {
            let before = view.latest().map_or(0, |item| item.value);
            wink_agent::session::Items::of([keyed("sum", before + event.0)])
        })
        .unwrap();
    session.dispatch(Add(1)).unwrap();
    on_threads(|thread| {
        for event in 0..100 {
            match thread % 4 {
                0 => drop(session.snapshot(&format!("{thread}-{event}")).unwrap()),
                1 => {
                    let snapshots = session.snapshots();
                    if let Some(snapshot) = snapshots.last() {
                        session.rollback(snapshot).unwrap();
                    }
                }
                _ => drop(session.dispatch(Add(1)).unwrap()),
            }
        }
    });
    let sum = session.query::<Keyed>().unwrap().latest().unwrap().value;
    assert_eq!(facts(&session).last(), Some(&sum), "both slices are of one moment");
    for snapshot in session.snapshots() {
        session.rollback(&snapshot).unwrap();
        let sum = session.query::<Keyed>().unwrap().latest().unwrap().value;
        assert_eq!(facts(&session).last(), Some(&sum));
    }
}
