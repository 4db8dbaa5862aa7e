//! Writing sessions to files and reading them back.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use wink_agent::session::{
    LoadOptions, Session, SessionError, dump_session_tree, load_session_tree, read_session_tree,
    reducers, write_session_tree,
};
use wink_fs::ErrorKind;

use crate::session::types::{Fact, Step, facts, session, steps};

pub(crate) fn text(session: &Session) -> String {
    let mut out = Vec::new();
    write_session_tree(session, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn read(text: &str) -> Result<Session, SessionError> {
    read_session_tree(text.as_bytes(), &LoadOptions::default())
}

fn lines(session: &Session) -> Vec<Value> {
    text(session).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_dump_is_named_by_the_session_and_reads_back() {
    let directory = tempfile::tempdir().unwrap();
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    session.dispatch(Step(2)).unwrap();
    let path = dump_session_tree(&session, directory.path()).unwrap().unwrap();
    assert_eq!(path, directory.path().join(format!("{}.jsonl", session.id())));

    let loaded = load_session_tree(&path).unwrap();
    assert_eq!((facts(&loaded), steps(&loaded)), (vec![1], vec![2]));
    assert_eq!((loaded.id(), loaded.created_at()), (session.id(), session.created_at()));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing else is left");
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_file_as_target_says_in_which_directory() {
    let directory = tempfile::tempdir().unwrap();
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    let path = dump_session_tree(&session, directory.path().join("x.jsonl")).unwrap().unwrap();
    assert_eq!(path, directory.path().join(format!("{}.jsonl", session.id())));
    let error = dump_session_tree(&session, directory.path().join("no/x")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!error.to_string().contains(directory.path().to_str().unwrap()), "{error}");
}

#[test]
fn a_second_dump_takes_the_place_of_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let session = session();
    for number in [1, 2] {
        session.dispatch(Fact(number)).unwrap();
        dump_session_tree(&session, directory.path()).unwrap();
    }
    let path = dump_session_tree(&session, directory.path()).unwrap().unwrap();
    assert_eq!(facts(&load_session_tree(path).unwrap()), [1, 2]);
}

#[test]
fn nothing_to_write_writes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let session = session();
    session.child();
    assert_eq!(dump_session_tree(&session, directory.path()).unwrap(), None);
    session.dispatch(Fact(1)).unwrap();
    session.clear::<Fact>().unwrap();
    assert_eq!(dump_session_tree(&session, directory.path()).unwrap(), None);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_tree_is_one_file_root_first_without_those_that_know_nothing() {
    let root = session();
    let (empty, middle) = (root.child(), root.child());
    empty.child();
    let leaf = middle.child();
    leaf.seed([Fact(3)]).unwrap();
    let lines = lines(&root);
    let ids: Vec<_> = lines.iter().map(|line| line["session_id"].as_str().unwrap()).collect();
    assert_eq!(ids, [&root, &middle, &leaf].map(|session| session.id().to_string()));
    assert_eq!((&lines[0]["sessions"], &lines[1]["sessions"]), (&3.into(), &Value::Null));

    let loaded = read(&text(&root)).unwrap();
    let walked = loaded.walk();
    assert_eq!(walked.len(), 3);
    assert!(walked[2].parent().unwrap().is_same(&walked[1]));
    assert_eq!((facts(&walked[2]), walked[2].id()), (vec![3], leaf.id()));
}

#[test]
fn a_part_of_a_tree_remembers_the_parent_that_is_not_in_it() {
    let root = session();
    let child = root.child();
    child.seed([Fact(1)]).unwrap();
    let loaded = read(&text(&child)).unwrap();
    assert_eq!(loaded.parent_id(), Some(root.id()));
    assert!(loaded.parent().is_none());
    assert_eq!(text(&loaded), text(&child));
}

#[test]
fn tags_survive_whatever_is_in_them() {
    let session = Session::builder().tag("quote\"\n", "\u{2028}ü\\").build();
    session.seed([Fact(1)]).unwrap();
    let dump = text(&session);
    assert_eq!(dump.lines().count(), 1);
    assert_eq!(read(&dump).unwrap().tags(), session.tags());
}

#[test]
fn a_loaded_session_goes_on_where_the_dumped_one_was() {
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    let loaded = read(&text(&session)).unwrap();
    loaded.register(reducers::append_all::<Fact>).unwrap();
    loaded.snapshot("loaded").unwrap();
    loaded.dispatch(Fact(2)).unwrap();
    assert_eq!(facts(&loaded), [1, 2]);
    loaded.rollback("loaded").unwrap();
    assert_eq!(facts(&loaded), [1]);
}

#[test]
fn a_slice_that_was_never_read_goes_back_with_a_rollback_and_is_read_then() {
    let session = session();
    session.dispatch(Fact(1)).unwrap();
    let loaded = read(&text(&session)).unwrap();
    loaded.snapshot("raw").unwrap();
    loaded.register(reducers::append_all::<Fact>).unwrap();
    loaded.dispatch(Fact(2)).unwrap();
    loaded.rollback("raw").unwrap();
    loaded.dispatch(Fact(3)).unwrap();
    assert_eq!(facts(&loaded), [1, 3]);
}

#[test]
fn unknown_slices_and_fields_are_written_again_as_they_were() {
    let slice = r#"{"name":"of_the_future","kind":"state","items":[{"n":1.0e2,"big":123456789012345678901234567890}, null],"unit":"m/s"}"#;
    let dump = line(slice, r#","note":{"b":1,"a":[2.50]}"#);
    let loaded = read(&dump).unwrap();
    assert_eq!(text(&loaded), dump);
    loaded.seed([Fact(1)]).unwrap();
    let again = text(&loaded);
    assert!(again.contains(slice) && again.contains(r#""note":{"b":1,"a":[2.50]}"#), "{again}");
}

#[test]
fn a_known_slice_keeps_its_unknown_fields_after_it_was_read() {
    let dump = line(r#"{"name":"fact","kind":"state","items":[1],"unit":"m/s"}"#, "");
    let loaded = read(&dump).unwrap();
    assert_eq!(facts(&loaded), [1]);
    assert_eq!(text(&loaded), dump);
}

#[test]
fn items_that_are_not_of_the_type_are_a_typed_error_and_stay() {
    let dump = line(r#"{"name":"fact","kind":"state","items":["one"]}"#, "");
    let loaded = read(&dump).unwrap();
    let errors = [
        loaded.query::<Fact>().unwrap_err(),
        loaded.register(reducers::append_all::<Fact>).unwrap_err(),
        loaded.seed([Fact(1)]).unwrap_err(),
        loaded.clear::<Fact>().unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(&error, SessionError::SliceUnreadable { slice, .. } if slice == "fact"));
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
    assert_eq!(text(&loaded), dump);
}

#[test]
fn a_log_cannot_become_a_state() {
    let loaded = read(&line(r#"{"name":"fact","kind":"log","items":[1]}"#, "")).unwrap();
    let error = loaded.query::<Fact>().unwrap_err();
    assert!(matches!(error, SessionError::SliceMismatch { .. }), "{error}");
}

#[test]
fn two_sessions_with_one_id_are_not_dumped() {
    let root = session();
    root.seed([Fact(1)]).unwrap();
    let twin = Session::builder().session_id(root.id()).parent(&root).build();
    twin.seed([Fact(2)]).unwrap();
    let error = write_session_tree(&root, Vec::new()).unwrap_err();
    assert!(matches!(error, SessionError::DuplicateSession { id } if id == root.id()));
}

#[test]
fn an_item_without_a_form_in_json_is_named() {
    use std::collections::HashMap;

    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    struct Odd(HashMap<(u8, u8), u8>);
    impl wink_agent::session::Slice for Odd {
        const NAME: &'static str = "odd";
    }
    let directory = tempfile::tempdir().unwrap();
    let session = Session::new();
    session.seed([Odd(HashMap::from([((1, 2), 3)]))]).unwrap();
    let error = dump_session_tree(&session, directory.path()).unwrap_err();
    assert!(matches!(&error, SessionError::NotSerializable { slice, .. } if slice == "odd"));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// Returns a dump of one session with one slice and some more fields.
pub(crate) fn line(slice: &str, more: &str) -> String {
    format!(
        r#"{{"format":"wink session","version":1,"requires":[],"sessions":1,"session_id":"67e55044-10b1-426f-9247-bb680e5fe0c8","parent":null,"created_at":"2026-11-16T05:40:19.123Z","tags":{{}},"slices":[{slice}]{more}}}"#
    ) + "\n"
}
