//! How much of its calls a session remembers.

use std::sync::Arc;

use wink_agent::session::{Items, Session, ToolInvoked, View};

/// How many records of calls a session holds; then the older half goes.
const MOST: usize = 1_000;

/// Has a new session forget its older records whenever they are too many, before they fill the memory.
pub(crate) fn bound(session: &Session) {
    // A new session has no other type under the name of these records, so nothing is refused.
    let _ = session.register(newer);
}

/// Runs after the record of a call was added, in the same turn.
fn newer(records: &View<'_, ToolInvoked>, _: &Arc<ToolInvoked>) -> Items<ToolInvoked> {
    let all = records.items();
    if all.len() > MOST { all.all().skip(all.len() / 2).cloned().collect() } else { all.clone() }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::SystemTime;

    use super::*;

    fn bounded() -> Session {
        let session = Session::new();
        bound(&session);
        session
    }

    fn call(session: &Session, number: usize) {
        let call = ToolInvoked::new(number.to_string(), "ls", SystemTime::now());
        session.dispatch(call).expect("a record");
    }

    #[test]
    fn the_newer_half_of_many_calls_stays() {
        let session = bounded();
        (0..=MOST).for_each(|number| call(&session, number));
        let left = session.query::<ToolInvoked>().expect("records");
        assert_eq!(left.len(), MOST / 2 + 1);
        assert_eq!(left.latest().expect("the last").call_id, MOST.to_string());
    }

    #[test]
    fn parallel_calls_lose_no_record() {
        let session = bounded();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..MOST / 2).for_each(|number| call(&session, number)));
            }
        });
        // The calls 1001 and 1501 each leave 501 records, and 499 calls come after them.
        assert_eq!(session.query::<ToolInvoked>().expect("records").len(), MOST);
    }

    #[test]
    fn a_reset_brings_no_record_back() {
        let session = bounded();
        (0..=MOST).for_each(|number| call(&session, number));
        session.reset();
        assert!(session.query::<ToolInvoked>().expect("records").is_empty());
    }
}
