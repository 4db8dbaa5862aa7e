//! The slices that the tests use.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wink_agent::session::{Items, Session, Slice, SliceKind, View, reducers};

/// A state slice that keeps every item.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Fact(pub(crate) u64);

impl Slice for Fact {
    const NAME: &'static str = "fact";
}

/// A log slice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Step(pub(crate) u64);

impl Slice for Step {
    const NAME: &'static str = "step";
    const KIND: SliceKind = SliceKind::Log;
}

/// An item with a key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Keyed {
    pub(crate) key: String,
    pub(crate) value: u64,
}

impl Slice for Keyed {
    const NAME: &'static str = "keyed";
}

pub(crate) fn keyed(key: &str, value: u64) -> Keyed {
    Keyed { key: key.into(), value }
}

/// An event that is no item.
pub(crate) struct Add(pub(crate) u64);

/// Adds to the newest fact.
pub(crate) fn add(view: &View<'_, Fact>, event: &Arc<Add>) -> Items<Fact> {
    let before = view.latest().map_or(0, |fact| fact.0);
    view.items().clone().with(Fact(before + event.0))
}

/// Returns a session that keeps facts and steps.
pub(crate) fn session() -> Session {
    let session = Session::new();
    session.register(reducers::append_all::<Fact>).unwrap();
    session.register(reducers::append_all::<Step>).unwrap();
    session
}

pub(crate) fn facts(session: &Session) -> Vec<u64> {
    session.query::<Fact>().unwrap().all().map(|fact| fact.0).collect()
}

pub(crate) fn steps(session: &Session) -> Vec<u64> {
    session.query::<Step>().unwrap().all().map(|step| step.0).collect()
}
