//! What a session costs, which must not depend on how much is in it.

use std::time::Instant;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use wink_agent::session::{Session, Slice, reducers};

use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::measure::{Measured, alone, check_equal, side_by_side};
use crate::stats::{Samples, short};

pub(crate) const DISPATCH: Case = Case::new(
    "session-dispatch",
    "an event that adds an item to a session: ours at 100,000 items, theirs at 100",
    0.5,
    |_| {
        let (ours, theirs) = side_by_side(|| dispatch(MANY), || dispatch(FEW))?;
        Ok(Outcome {
            peer: Peer::Measured {
                name: "self",
                command: format!("the same at {FEW} items"),
                samples: theirs,
            },
            ours,
            unit: "µs",
            place: "memory".into(),
            note: format!("Session::dispatch with append_all; medians of {OPERATIONS}"),
        })
    },
);

pub(crate) const SNAPSHOT: Case = Case::new(
    "session-snapshot",
    "the slowest of snapshot and rollback of a session, at 100 and at 100,000 items",
    1.0,
    |_: &Context| {
        let mut last = String::new();
        let ours = alone(&(), || {
            let (few, many) = (go_back_and_forth(FEW)?, go_back_and_forth(MANY)?);
            last = format!("at {FEW} items {}, at {MANY} {}", worded(few), worded(many));
            Ok(Measured { value: few.into_iter().chain(many).fold(0.0, f64::max), result: () })
        })?;
        let note = format!("the last repetition: {last}; medians of {OPERATIONS}");
        let (peer, place) = (Peer::Budget(SNAPSHOT_BUDGET), "memory".into());
        Ok(Outcome { peer, ours, unit: "µs", place, note })
    },
);

const FEW: u64 = 100;
const MANY: u64 = 100_000;
const OPERATIONS: usize = 2_000;
const SNAPSHOT_BUDGET: f64 = 2.0;

#[derive(Debug, Serialize, Deserialize)]
struct Item(u64);

impl Slice for Item {
    const NAME: &'static str = "item";
}

fn worded([snapshot, rollback]: [f64; 2]) -> String {
    format!("snapshot {}, rollback {}", short(snapshot), short(rollback))
}

fn filled(items: u64) -> Result<Session> {
    let session = Session::new();
    session.register(reducers::append_all::<Item>)?;
    session.seed((0..items).map(Item))?;
    Ok(session)
}

/// Returns the microseconds of an event, and how many items the events added.
fn dispatch(items: u64) -> Result<Measured<u64>> {
    /// How many events come before the session goes back to its size.
    const AT_ONCE: u64 = 50;
    let session = filled(items)?;
    session.snapshot("filled")?;
    let (mut times, mut added) = (Vec::new(), 0);
    while times.len() < OPERATIONS {
        for number in 0..AT_ONCE {
            timed_us(&mut times, || session.dispatch(Item(number)))?;
        }
        added += session.query::<Item>()?.len() as u64 - items;
        session.rollback("filled")?;
    }
    Ok(Measured { value: median(times)?, result: added })
}

/// Returns the microseconds of a snapshot and of a rollback, each after an event.
fn go_back_and_forth(items: u64) -> Result<[f64; 2]> {
    let session = filled(items)?;
    let (mut snapshots, mut rollbacks) = (Vec::new(), Vec::new());
    for number in 0..OPERATIONS as u64 {
        session.dispatch(Item(number))?;
        let taken = timed_us(&mut snapshots, || session.snapshot("kept"))?;
        session.dispatch(Item(number))?;
        timed_us(&mut rollbacks, || session.rollback(&taken))?;
        check_equal(&(session.query::<Item>()?.len() as u64), &(items + number + 1))?;
        session.forget_snapshot(&taken)?;
    }
    Ok([median(snapshots)?, median(rollbacks)?])
}

fn timed_us<T, E>(times: &mut Vec<f64>, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let start = Instant::now();
    let done = work();
    times.push(start.elapsed().as_secs_f64() * 1e6);
    done
}

fn median(times: Vec<f64>) -> Result<f64> {
    Ok(Samples::new(times).context("no measurement")?.median())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_does_not_depend_on_the_number_of_items() {
        assert_eq!(dispatch(10).unwrap().result, dispatch(1_000).unwrap().result);
    }
}
