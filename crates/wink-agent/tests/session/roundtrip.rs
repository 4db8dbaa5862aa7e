//! Any tree of sessions comes back from its dump.

use std::time::{Duration, SystemTime};

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use wink_agent::session::{
    Encoding, FileChange, FilesChanged, Session, Slice, SliceKind, ToolInvoked, VirtualFileSystem,
};
use wink_fs::TreePath;

use crate::session::dump::{read, text};

/// An item with all that JSON has.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Anything {
    text: String,
    float: f64,
    signed: i64,
    unsigned: u64,
    maybe: Option<bool>,
    nested: Vec<Vec<String>>,
}

impl Slice for Anything {
    const NAME: &'static str = "anything \"quoted\"";
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Happened(Anything);

impl Slice for Happened {
    const NAME: &'static str = "happened";
    const KIND: SliceKind = SliceKind::Log;
}

/// What a session of the tree is made of; its parent is one of those before it.
#[derive(Clone, Debug)]
struct Plan {
    parent: prop::sample::Index,
    tags: Vec<(String, String)>,
    millis: u64,
    state: Vec<Anything>,
    log: Vec<Anything>,
    files: Vec<(String, u64)>,
}

fn anything() -> impl Strategy<Value = Anything> {
    let float = prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL;
    (".*", float, any::<i64>(), any::<u64>(), any::<Option<bool>>(), vec(vec(".*", 0..3), 0..3))
        .prop_map(|(text, float, signed, unsigned, maybe, nested)| Anything {
            text,
            float,
            signed,
            unsigned,
            maybe,
            nested,
        })
}

fn plan() -> impl Strategy<Value = Plan> {
    let tags = btree_map(".*", ".*", 0..3).prop_map(|tags| tags.into_iter().collect());
    let files = vec(("[a-c]/[a-c]|[a-c]{1,2}", any::<u64>()), 0..5);
    let items = || vec(anything(), 0..4);
    (any::<prop::sample::Index>(), tags, 0..4_000_000_000_000u64, items(), items(), files).prop_map(
        |(parent, tags, millis, state, log, files)| Plan {
            parent,
            tags,
            millis,
            state,
            log,
            files,
        },
    )
}

fn build(plans: &[Plan]) -> Session {
    let mut sessions: Vec<Session> = Vec::new();
    for plan in plans {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(plan.millis);
        let mut builder = Session::builder().created_at(at);
        for (name, value) in &plan.tags {
            builder = builder.tag(name, value);
        }
        if !sessions.is_empty() {
            builder = builder.parent(plan.parent.get(&sessions));
        }
        let session = builder.build();
        fill(&session, plan, at);
        sessions.push(session);
    }
    sessions.swap_remove(0)
}

fn fill(session: &Session, plan: &Plan, at: SystemTime) {
    session.seed(plan.state.clone()).unwrap();
    session.seed(plan.log.iter().cloned().map(Happened)).unwrap();
    for item in &plan.log {
        let call = ToolInvoked::new(&item.text, "tool", at).result(&item.text, true);
        session.dispatch(call).unwrap();
    }
    let write = |(path, size): &(String, u64)| {
        FileChange::written(TreePath::parse(path).unwrap(), *size, Some(Encoding::Utf8))
    };
    if !plan.files.is_empty() {
        session.dispatch(FilesChanged::new(at, plan.files.iter().map(write))).unwrap();
    }
}

/// Asks for everything, so that it is dumped from the types.
fn know(session: &Session) {
    for session in session.walk() {
        session.query::<Anything>().unwrap();
        session.query::<Happened>().unwrap();
        session.query::<ToolInvoked>().unwrap();
        session.query::<VirtualFileSystem>().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn dump_load_dump_is_the_same_bytes(plans in vec(plan(), 1..6)) {
        let session = build(&plans);
        let dump = text(&session);
        if dump.is_empty() {
            return Ok(());
        }
        let loaded = read(&dump).unwrap();
        prop_assert_eq!(&text(&loaded), &dump);
        know(&loaded);
        prop_assert_eq!(&text(&loaded), &dump, "after all of it was read as types");
        let values = |session: &Session| -> Vec<Anything> {
            session.query::<Anything>().unwrap().all().map(|item| (**item).clone()).collect()
        };
        prop_assert_eq!(values(&loaded), values(&session));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in vec(any::<u8>(), 0..300), cut in any::<prop::sample::Index>()) {
        let options = wink_agent::session::LoadOptions::default();
        let _ = wink_agent::session::read_session_tree(&bytes[..], &options);
        let golden = include_bytes!("golden/session-v1.jsonl");
        let mut damaged = golden.to_vec();
        damaged.splice(cut.index(golden.len()).., bytes);
        let _ = wink_agent::session::read_session_tree(&damaged[..], &options);
    }
}
