//! Subscribers.

use std::sync::{Arc, Mutex};

use crate::session::types::{Add, Fact, facts, session};
use wink_agent::session::{Session, Subscription};

type Seen = Arc<Mutex<Vec<u64>>>;

fn listen(session: &Session, seen: &Seen) -> Subscription {
    let seen = seen.clone();
    session.subscribe(move |fact: &Fact| seen.lock().unwrap().push(fact.0))
}

fn seen(seen: &Seen) -> Vec<u64> {
    seen.lock().unwrap().clone()
}

#[test]
fn subscribers_are_told_of_their_type_alone_and_after_the_change() {
    let (session, told) = (session(), Seen::default());
    let (same, sink) = (session.clone(), told.clone());
    let _subscription = session.subscribe(move |_: &Fact| {
        sink.lock().unwrap().extend(facts(&same));
    });
    session.dispatch(Fact(1)).unwrap();
    session.dispatch(Add(2)).unwrap();
    assert_eq!(seen(&told), [1]);
}

#[test]
fn a_subscriber_may_dispatch() {
    let session = session();
    let same = session.clone();
    let _subscription = session.subscribe(move |add: &Add| same.dispatch(Fact(add.0)).map(drop));
    let done = session.dispatch(Add(4)).unwrap();
    assert_eq!((done.told.subscribers, done.told.failures.len()), (1, 0));
    assert_eq!(facts(&session), [4]);
}

#[test]
fn a_failing_subscriber_does_not_stop_the_others_and_is_reported() {
    let (session, told) = (session(), Seen::default());
    let panics = session.subscribe(|fact: &Fact| assert_eq!(fact.0, 0, "not zero"));
    let fails = session.subscribe(|_: &Fact| Err("the disk is full"));
    let _listens = listen(&session, &told);
    let done = session.dispatch(Fact(1)).unwrap();
    assert_eq!((done.reducers, done.told.subscribers), (1, 3));
    let failures = done.told.failures;
    assert_eq!([failures[0].subscription, failures[1].subscription], [panics.id(), fails.id()]);
    assert!(failures[0].message.contains("not zero") && failures[0].event.ends_with("Fact"));
    assert_eq!(failures[1].message, "the disk is full");
    assert_eq!((seen(&told), facts(&session)), (vec![1], vec![1]));
}

#[test]
fn no_subscriber_gets_an_event_that_was_not_reduced() {
    let (session, told) = (session(), Seen::default());
    let _listens = listen(&session, &told);
    session
        .register(|_: &wink_agent::session::View<'_, Fact>, _: &Arc<Fact>| panic!("no"))
        .unwrap();
    session.dispatch(Fact(1)).unwrap_err();
    assert!(seen(&told).is_empty() && facts(&session).is_empty());
}

#[test]
fn a_subscription_ends_with_its_guard_unless_it_is_forever() {
    let (session, told) = (session(), Seen::default());
    let first = listen(&session, &told);
    listen(&session, &told).forever();
    session.dispatch(Fact(1)).unwrap();
    drop(first);
    session.dispatch(Fact(2)).unwrap();
    assert_eq!(seen(&told), [1, 1, 2]);
}

#[test]
fn a_subscriber_may_end_its_own_subscription() {
    let session = session();
    let slot: Arc<Mutex<Option<Subscription>>> = Arc::default();
    let own = slot.clone();
    let subscription = session.subscribe(move |_: &Fact| drop(own.lock().unwrap().take()));
    *slot.lock().unwrap() = Some(subscription);
    let told = [1, 2].map(|number| session.dispatch(Fact(number)).unwrap().told.subscribers);
    assert_eq!(told, [1, 0]);
}

#[test]
fn events_of_one_session_are_not_recorded_by_another() {
    let (parent, told) = (session(), Seen::default());
    let child = parent.child();
    child.register(wink_agent::session::reducers::append_all::<Fact>).unwrap();
    let _listens = listen(&parent, &told);
    child.dispatch(Fact(1)).unwrap();
    parent.dispatch(Fact(2)).unwrap();
    assert_eq!((facts(&child), facts(&parent), seen(&told)), (vec![1], vec![2], vec![2]));
}

#[test]
fn publishing_tells_and_records_nothing() {
    let (session, told) = (session(), Seen::default());
    let _listens = listen(&session, &told);
    assert_eq!(session.publish(&Fact(1)).subscribers, 1);
    assert!(facts(&session).is_empty());
    assert_eq!(seen(&told), [1]);
}
