//! What the built-in reducers keep.

use std::collections::BTreeMap;

use wink_agent::session::{Session, reducers};

use crate::session::types::{Fact, Keyed, facts, keyed};

fn all(session: &Session) -> Vec<(String, u64)> {
    let items = session.query::<Keyed>().unwrap();
    items.all().map(|item| (item.key.clone(), item.value)).collect()
}

fn fill(session: &Session, items: &[(&str, u64)]) {
    for (key, value) in items {
        session.dispatch(keyed(key, *value)).unwrap();
    }
}

#[test]
fn append_all_keeps_equal_items_too() {
    let session = Session::new();
    session.register(reducers::append_all::<Fact>).unwrap();
    for number in [1, 1, 2] {
        session.dispatch(Fact(number)).unwrap();
    }
    assert_eq!(facts(&session), [1, 1, 2]);
}

#[test]
fn replace_latest_keeps_one_item() {
    let session = Session::new();
    session.register(reducers::replace_latest::<Fact>).unwrap();
    session.seed([Fact(1), Fact(2)]).unwrap();
    session.dispatch(Fact(3)).unwrap();
    assert_eq!(facts(&session), [3]);
}

#[test]
fn replace_latest_by_keeps_the_newest_of_each_key_and_orders_by_time() {
    let session = Session::new();
    session.register(reducers::replace_latest_by(|item: &Keyed| item.key.clone())).unwrap();
    fill(&session, &[("a", 1), ("b", 2), ("c", 3), ("a", 4)]);
    assert_eq!(all(&session), [("b".into(), 2), ("c".into(), 3), ("a".into(), 4)]);
}

#[test]
fn upsert_by_keeps_one_of_each_key_in_its_place() {
    let session = Session::new();
    session.register(reducers::upsert_by(|item: &Keyed| item.key.clone())).unwrap();
    fill(&session, &[("a", 1), ("b", 2), ("c", 3), ("a", 4)]);
    assert_eq!(all(&session), [("a".into(), 4), ("b".into(), 2), ("c".into(), 3)]);
}

/// Once a reducer that remembers places would have been wrong after anything but its own changes.
#[test]
fn upsert_by_finds_keys_after_changes_that_it_did_not_make() {
    let session = Session::new();
    session.register(reducers::upsert_by(|item: &Keyed| item.key.clone())).unwrap();
    let numbered: Vec<_> = (0..300).map(|number| format!("key {number}")).collect();
    for key in &numbered {
        session.dispatch(keyed(key, 0)).unwrap();
    }
    session.snapshot("all").unwrap();
    session.seed(numbered.iter().rev().map(|key| keyed(key, 1))).unwrap();
    session.dispatch(keyed("key 0", 2)).unwrap();
    assert_eq!(all(&session)[299], ("key 0".into(), 2));
    session.rollback("all").unwrap();
    session.dispatch(keyed("key 0", 3)).unwrap();
    assert_eq!((all(&session)[0].clone(), all(&session).len()), (("key 0".into(), 3), 300));
    session.clear::<Keyed>().unwrap();
    session.dispatch(keyed("key 5", 4)).unwrap();
    assert_eq!(all(&session), [("key 5".into(), 4)]);
}

#[test]
fn upsert_by_agrees_with_a_map_over_many_keys() {
    let session = Session::new();
    session.register(reducers::upsert_by(|item: &Keyed| item.key.clone())).unwrap();
    let mut model = BTreeMap::new();
    for number in 0..5_000u64 {
        let key = format!("{:03}", number * number % 701);
        model.insert(key.clone(), number);
        session.dispatch(keyed(&key, number)).unwrap();
    }
    assert_eq!(all(&session).into_iter().collect::<BTreeMap<_, _>>(), model);
    assert_eq!(session.query::<Keyed>().unwrap().len(), model.len());
}
