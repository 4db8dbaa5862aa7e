//! Sessions below sessions.

use std::sync::Arc;

use wink_agent::session::{Session, SessionId};

use crate::session::types::Fact;

#[test]
fn a_tree_is_walked_from_its_root_each_before_its_children() {
    let root = Session::new();
    let (a, b) = (root.child(), root.child());
    let (a1, a2) = (a.child(), a.child());
    let ids: Vec<_> = root.walk().iter().map(Session::id).collect();
    assert_eq!(ids, [&root, &a, &a1, &a2, &b].map(Session::id));
    assert_eq!(a2.root().id(), root.id());
    assert_eq!((a1.parent_id(), root.parent_id()), (Some(a.id()), None));
    assert!(a1.parent().unwrap().is_same(&a) && !a1.is_same(&a2));
}

#[test]
fn a_tree_goes_with_its_root() {
    let held = Arc::new(Fact(1));
    let root = Session::new();
    let child = root.child();
    let grandchild = child.child();
    let item = held.clone();
    grandchild.subscribe(move |_: &u8| assert_eq!(item.0, 1)).forever();
    drop((child, grandchild));
    assert_eq!((root.walk().len(), Arc::strong_count(&held)), (3, 2));
    drop(root);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_child_outlives_its_parent_and_still_knows_its_id() {
    let root = Session::new();
    let (child, id) = (root.child(), root.id());
    drop(root);
    assert!(child.parent().is_none() && child.root().is_same(&child));
    assert_eq!(child.parent_id(), Some(id));
}

#[test]
fn a_child_can_be_taken_out_of_the_tree() {
    let root = Session::new();
    let (first, second) = (root.child(), root.child());
    assert!(root.forget_child(first.id()).unwrap().is_same(&first));
    assert!(root.forget_child(first.id()).is_none());
    assert_eq!(root.children().iter().map(Session::id).collect::<Vec<_>>(), [second.id()]);
}

#[test]
fn a_very_deep_tree_is_walked_and_freed() {
    let root = Session::new();
    let mut last = root.clone();
    for _ in 0..50_000 {
        last = last.child();
    }
    assert_eq!(root.walk().len(), 50_001);
    assert!(last.root().is_same(&root));
    drop(last);
    drop(root);
}

#[test]
fn tags_and_id_are_what_the_builder_was_told() {
    let id: SessionId = "67e55044-10b1-426f-9247-bb680e5fe0c8".parse().unwrap();
    let parent = Session::new();
    let session =
        Session::builder().session_id(id).tag("a", "1").tag("a", "2").parent(&parent).build();
    assert_eq!((session.id(), session.tags()["a"].as_str()), (id, "2"));
    assert!(parent.children()[0].is_same(&session));
    assert_eq!(format!("{session:?}"), "Session(67e55044-10b1-426f-9247-bb680e5fe0c8)");
}
