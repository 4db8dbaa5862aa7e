//! Registering, dispatching, asking, seeding, clearing, resetting.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wink_agent::session::{Items, Session, SessionError, Slice, View, reducers};
use wink_fs::ErrorKind;

use crate::session::types::{Add, Fact, Step, add, facts, session, steps};

#[test]
fn a_slice_that_was_never_filled_is_empty() {
    let items = Session::new().query::<Fact>().unwrap();
    assert!(items.is_empty() && items.latest().is_none() && items.all().next().is_none());
}

#[test]
fn events_become_items_and_can_be_asked_for() {
    let session = session();
    for number in [1, 2, 3] {
        assert_eq!(session.dispatch(Fact(number)).unwrap().reducers, 1);
    }
    let items = session.query::<Fact>().unwrap();
    assert_eq!(*items.latest().unwrap(), Fact(3));
    assert_eq!(facts(&session), [1, 2, 3]);
    let odd: Vec<_> = items.filter(|fact| fact.0 % 2 == 1).iter().map(|fact| fact.0).collect();
    assert_eq!(odd, [1, 3]);
}

#[test]
fn what_was_asked_for_stays_as_it_was() {
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    let before = session.query::<Fact>().unwrap();
    session.dispatch(Fact(2)).unwrap();
    session.clear::<Fact>().unwrap();
    assert_eq!((before.len(), facts(&session)), (1, vec![]));
}

#[test]
fn one_event_changes_several_slices_in_the_order_of_registration() {
    let session = Session::new();
    session.register(add).unwrap();
    session
        .register(|view: &View<'_, Step>, _: &Arc<Add>| {
            let fact = view.query::<Fact>().unwrap().latest().unwrap();
            view.items().clone().with(Step(fact.0 * 10))
        })
        .unwrap();
    session.register(add).unwrap();
    assert_eq!(session.dispatch(Add(2)).unwrap().reducers, 3);
    assert_eq!((facts(&session), steps(&session)), (vec![2, 4], vec![20]));
}

#[test]
fn an_event_without_reducers_changes_nothing() {
    let session = session();
    assert_eq!(session.dispatch(Add(1)).unwrap().reducers, 0);
    assert!(facts(&session).is_empty());
}

#[test]
fn a_panicking_reducer_leaves_every_slice_as_it_was() {
    let session = session();
    session.register(add).unwrap();
    session
        .register(|_: &View<'_, Step>, event: &Arc<Add>| -> Items<Step> {
            assert_ne!(event.0, 13, "an unlucky number");
            Items::of([Step(event.0)])
        })
        .unwrap();
    session.dispatch(Add(1)).unwrap();
    let error = session.dispatch(Add(13)).unwrap_err();
    let SessionError::ReducerPanicked { slice, message, .. } = error else { panic!("{error}") };
    assert!(slice == "step" && message.contains("an unlucky number"), "{message}");
    assert_eq!((facts(&session), steps(&session)), (vec![1], vec![1]));
    session.dispatch(Add(2)).unwrap();
    assert_eq!(facts(&session), [1, 3]);
}

#[test]
fn a_reducer_that_uses_its_session_panics_and_does_not_wait_for_itself() {
    let session = session();
    let same = session.clone();
    session
        .register(move |view: &View<'_, Fact>, _: &Arc<Add>| {
            same.clear::<Fact>().unwrap();
            view.items().clone()
        })
        .unwrap();
    let error = session.dispatch(Add(1)).unwrap_err();
    assert!(error.to_string().contains("only with the view"), "{error}");
    session.dispatch(Fact(1)).unwrap();
    assert_eq!(facts(&session), [1]);
}

#[test]
fn two_types_cannot_have_one_name() {
    #[derive(Debug, Serialize, Deserialize)]
    struct OtherFact;
    impl Slice for OtherFact {
        const NAME: &'static str = Fact::NAME;
    }
    let session = session();
    let errors = [
        session.register(reducers::append_all::<OtherFact>).unwrap_err(),
        session.seed([OtherFact]).unwrap_err(),
    ];
    session.dispatch(Fact(1)).unwrap();
    let asked = session.query::<OtherFact>().unwrap_err();
    for error in errors.into_iter().chain([asked]) {
        assert!(matches!(&error, SessionError::SliceMismatch { slice } if slice == "fact"));
        assert_eq!(error.kind(), ErrorKind::Conflict);
    }
    assert_eq!(facts(&session), [1]);
}

#[test]
fn a_seed_replaces_what_is_there() {
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    session.seed([Fact(7), Fact(8)]).unwrap();
    session.dispatch(Fact(9)).unwrap();
    assert_eq!(facts(&session), [7, 8, 9]);
}

#[test]
fn clear_empties_one_slice_alone() {
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    session.dispatch(Step(1)).unwrap();
    session.clear::<Fact>().unwrap();
    assert_eq!((facts(&session), steps(&session)), (vec![], vec![1]));
}

#[test]
fn reset_goes_back_to_the_seeds_and_keeps_the_reducers() {
    let session = session();
    session.seed([Fact(7)]).unwrap();
    session.dispatch(Fact(8)).unwrap();
    session.dispatch(Step(1)).unwrap();
    session.reset();
    assert_eq!((facts(&session), steps(&session)), (vec![7], vec![]));
    session.dispatch(Fact(9)).unwrap();
    assert_eq!(facts(&session), [7, 9]);
}

#[test]
fn a_reset_can_be_taken_back() {
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    session.snapshot("before").unwrap();
    session.reset();
    session.rollback("before").unwrap();
    assert_eq!(facts(&session), [1]);
}
