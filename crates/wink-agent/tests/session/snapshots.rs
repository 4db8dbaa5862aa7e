//! Keeping states and going back to them.

use std::sync::Arc;
use std::time::SystemTime;

use wink_agent::session::{Session, SessionError, Slice, ToolInvoked, reducers};
use wink_fs::{Clock, ErrorKind, SnapshotId};

use crate::session::types::{Fact, Step, facts, session, steps};

#[test]
fn the_state_goes_back_and_forth_between_snapshots() {
    let session = session();
    for number in [1, 2, 3] {
        session.seed([Fact(number)]).unwrap();
        session.snapshot(&format!("s{number}")).unwrap();
    }
    for number in [1, 3, 2] {
        session.rollback(format!("s{number}").as_str()).unwrap();
        assert_eq!(facts(&session), [number]);
    }
}

#[test]
fn logs_are_kept_by_a_rollback() {
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    session.snapshot("before").unwrap();
    session.dispatch(Fact(2)).unwrap();
    session.dispatch(Step(1)).unwrap();
    session.dispatch(ToolInvoked::new("1", "ls", SystemTime::now())).unwrap();
    session.rollback("before").unwrap();
    assert_eq!((facts(&session), steps(&session)), (vec![1], vec![1]));
    assert_eq!(session.query::<ToolInvoked>().unwrap().len(), 1);
}

#[test]
fn a_slice_that_came_later_is_empty_after_a_rollback() {
    let session = session();
    session.snapshot("before").unwrap();
    session.dispatch(Fact(1)).unwrap();
    session.rollback("before").unwrap();
    assert!(facts(&session).is_empty());
    session.dispatch(Fact(2)).unwrap();
    assert_eq!(facts(&session), [2]);
}

#[test]
fn snapshots_are_found_by_tag_and_by_id_and_listed_in_order() {
    let session = session();
    let tagged = session.snapshot("first").unwrap();
    let untagged = session.snapshot_untagged().unwrap();
    assert_eq!(session.snapshots(), [tagged.clone(), untagged.clone()]);
    assert_eq!(session.find_snapshot("first").unwrap(), tagged);
    assert_eq!(session.find_snapshot(untagged.id).unwrap(), untagged);
    assert_eq!(session.rollback(tagged.id.to_string().as_str()).unwrap(), tagged);
    assert_eq!(session.rollback(&untagged).unwrap(), untagged);
}

#[test]
fn an_unknown_snapshot_is_not_found_and_changes_nothing() {
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    for error in [
        session.rollback("never").unwrap_err(),
        session.rollback(SnapshotId::random()).unwrap_err(),
        session.forget_snapshot("never").unwrap_err(),
        session.find_snapshot("never").unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::SnapshotNotFound, "{error}");
    }
    assert_eq!(facts(&session), [1]);
}

#[test]
fn a_repeated_tag_already_exists_and_the_first_stays() {
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    session.snapshot("turn-5").unwrap();
    session.dispatch(Fact(2)).unwrap();
    let error = session.snapshot("turn-5").unwrap_err();
    assert!(matches!(&error, SessionError::SnapshotExists { tag } if tag == "turn-5"));
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    session.rollback("turn-5").unwrap();
    assert_eq!((facts(&session), session.snapshots().len()), (vec![1], 1));
}

#[test]
fn a_tag_that_reads_as_something_else_is_refused() {
    let session = session();
    let id = SnapshotId::random();
    for tag in ["", "a\nb", &"x".repeat(101), &id.to_string(), &id.base32()] {
        assert_eq!(session.snapshot(tag).unwrap_err().kind(), ErrorKind::InvalidArgument, "{tag}");
    }
    session.snapshot(&"ü".repeat(100)).unwrap();
}

#[test]
fn a_forgotten_snapshot_frees_its_tag_and_what_only_it_held() {
    let session = Session::new();
    session.register(reducers::replace_latest::<Fact>).unwrap();
    session.dispatch(Fact(1)).unwrap();
    let held = Arc::downgrade(&session.query::<Fact>().unwrap().latest().unwrap());
    session.snapshot("turn").unwrap();
    session.dispatch(Fact(2)).unwrap();
    assert!(held.upgrade().is_some());
    session.forget_snapshot("turn").unwrap();
    assert!(held.upgrade().is_none());
    assert_eq!(session.rollback("turn").unwrap_err().kind(), ErrorKind::SnapshotNotFound);
    session.snapshot("turn").unwrap();
}

#[test]
fn a_snapshot_shares_what_did_not_change() {
    let session = session();
    session.seed((0..10_000).map(Fact)).unwrap();
    let before = session.query::<Fact>().unwrap();
    session.snapshot("before").unwrap();
    session.dispatch(Fact(10_000)).unwrap();
    session.rollback("before").unwrap();
    let after = session.query::<Fact>().unwrap();
    assert!(before.all().zip(after.all()).all(|(a, b)| Arc::ptr_eq(a, b)));
    assert_eq!(after.len(), 10_000);
}

#[test]
fn a_child_keeps_its_own_snapshots() {
    let (parent, child) = {
        let parent = session();
        (parent.clone(), parent.child())
    };
    parent.snapshot("both").unwrap();
    child.snapshot("both").unwrap();
    child.seed([Fact(1)]).unwrap();
    parent.seed([Fact(2)]).unwrap();
    parent.rollback("both").unwrap();
    assert_eq!((facts(&parent), facts(&child)), (vec![], vec![1]));
}

#[test]
fn the_session_s_clock_tells_when_a_snapshot_was_taken() {
    struct Stopped;
    impl Clock for Stopped {
        fn now(&self) -> SystemTime {
            SystemTime::UNIX_EPOCH
        }
    }
    let session = Session::builder().clock(Arc::new(Stopped)).build();
    assert_eq!(session.created_at(), SystemTime::UNIX_EPOCH);
    let taken = session.child().snapshot("now").unwrap();
    assert_eq!((taken.created_at, Fact::NAME), (SystemTime::UNIX_EPOCH, "fact"));
}
