//! How much of its calls a session remembers.

use wink_agent::session::{Session, SessionError, ToolInvoked};

/// How many records of calls a session holds; then the older half goes.
const MOST: usize = 1_000;

/// Forgets the older records of a session that was called for long, before they fill the memory.
pub(super) fn forget_old(session: &Session) {
    // It can only fail where nobody could look at them.
    let _ = forget_half(session);
}

fn forget_half(session: &Session) -> Result<(), SessionError> {
    let all = session.query::<ToolInvoked>()?;
    if all.len() <= MOST {
        return Ok(());
    }
    let newer: Vec<_> = all.all().skip(all.len() / 2).map(|call| (**call).clone()).collect();
    session.seed(newer)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn the_newer_half_of_many_calls_stays() {
        let session = Session::new();
        for number in 0..=MOST {
            let call = ToolInvoked::new(number.to_string(), "ls", SystemTime::now());
            session.dispatch(call).expect("a record");
            forget_old(&session);
        }
        let left = session.query::<ToolInvoked>().expect("records");
        assert_eq!(left.len(), MOST / 2 + 1);
        assert_eq!(left.latest().expect("the last").call_id, MOST.to_string());
    }
}
