//! Dumps that are not what a dump must be.

use wink_agent::session::{
    LoadOptions, Session, SessionError, load_session_tree, read_session_tree,
};
use wink_fs::ErrorKind;

use crate::session::dump::{line, read, text};
use crate::session::types::{Fact, facts, session};

const FACT: &str = r#"{"name":"fact","kind":"state","items":[1]}"#;

fn problem(dump: &str) -> SessionError {
    read(dump).expect_err(dump)
}

fn assert_malformed(dump: &str, wanted: &str) {
    let error = problem(dump);
    let SessionError::Malformed { line: 1, why } = &error else { panic!("{dump}: {error:?}") };
    assert!(why.contains(wanted), "{why}");
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn a_line_that_is_no_line_of_a_session_is_refused() {
    let good = line(FACT, "");
    assert_eq!(facts(&read(&good).unwrap()), [1]);
    assert_malformed("", "empty");
    assert_malformed("\n", "EOF");
    assert_malformed("[]\n", "an object");
    assert_malformed("{}\n", "`format` is missing");
    assert_malformed(&good[..good.len() / 2], "EOF");
    assert_malformed(&format!("{}}}\n", good.trim_end()), "trailing");
    assert_malformed(&good.replace("wink session", "wink store"), "not the line of a session");
    for field in ["version", "session_id", "created_at", "slices"] {
        let without = good.replace(&format!(r#""{field}""#), r#""x""#);
        assert_malformed(&without, &format!("`{field}` is missing"));
    }
    assert_malformed(&good.replace("67e55044-", ""), "no id of a session");
    assert_malformed(&good.replace("2026-11-16T", "yesterday"), "created_at");
    assert_malformed(&good.replace(r#""tags":{}"#, r#""tags":{"a":1}"#), "tags");
}

#[test]
fn a_slice_that_is_no_slice_is_refused() {
    assert_malformed(&line(r#"{"kind":"state","items":[]}"#, ""), "`name` is missing");
    assert_malformed(&line(&FACT.replace("state", "dream"), ""), "dream");
    assert_malformed(&line(&FACT.replace("[1]", "1"), ""), "the items of `fact`");
    assert_malformed(&line(&format!("{FACT},{FACT}"), ""), "twice");
}

#[test]
fn a_field_that_is_there_twice_is_refused() {
    assert_malformed(&line(FACT, r#","session_id":"x""#), "`session_id` is there twice");
    assert_malformed(&line(FACT, r#","note":1,"note":2"#), "`note` is there twice");
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let mut bytes = line(FACT, "").into_bytes();
    bytes[3] = 0xff;
    let error = read_session_tree(&bytes[..], &LoadOptions::default()).unwrap_err();
    assert!(matches!(error, SessionError::Malformed { line: 1, .. }));
}

#[test]
fn what_must_be_known_and_is_not_is_refused() {
    let good = line(FACT, "");
    for (from, to, named) in [
        (r#""version":1"#, r#""version":2"#, "version 2"),
        (r#""requires":[]"#, r#""requires":["encrypted"]"#, "the feature `encrypted`"),
    ] {
        let error = problem(&good.replace(from, to));
        let SessionError::UnknownFormat { line: 1, what } = &error else { panic!("{error:?}") };
        assert_eq!(what, named);
        assert_eq!(error.kind(), ErrorKind::SnapshotIncompatible);
    }
    // A later version may have anything else.
    let later = r#"{"format":"wink session","version":2,"id":7}"#;
    assert!(matches!(problem(later), SessionError::UnknownFormat { .. }));
}

/// Returns the lines of a tree of three: a root, its child, and the child's child.
fn three() -> (Vec<String>, [Session; 3]) {
    let root = session();
    let child = root.child();
    let grandchild = child.child();
    grandchild.seed([Fact(1)]).unwrap();
    let lines = text(&root).lines().map(|line| format!("{line}\n")).collect();
    (lines, [root, child, grandchild])
}

#[test]
fn a_session_that_is_there_twice_is_refused() {
    let (lines, [_, child, _]) = three();
    let error = problem(&[&*lines[0], &lines[1], &lines[1]].concat());
    assert!(matches!(error, SessionError::DuplicateSession { id } if id == child.id()));
}

#[test]
fn a_parent_that_is_not_there_is_refused() {
    let (lines, [_, child, _]) = three();
    let error = problem(&[&*lines[0], &lines[2]].concat());
    let SessionError::UnknownParent { line: 2, parent } = error else { panic!("{error:?}") };
    assert_eq!(parent, child.id());
}

#[test]
fn circles_and_children_before_parents_are_refused() {
    let (lines, [root, child, grandchild]) = three();
    let out_of_order = problem(&[&*lines[0], &lines[2], &lines[1]].concat());
    assert!(
        matches!(out_of_order, SessionError::ParentNotBefore { line: 2, parent } if parent == child.id())
    );

    let parent = |of: Option<&Session>| match of {
        Some(session) => format!(r#""parent":"{}""#, session.id()),
        None => r#""parent":null"#.to_owned(),
    };
    let itself = lines[1].replace(&parent(Some(&root)), &parent(Some(&child)));
    let error = problem(&[&*lines[0], &itself].concat());
    assert!(matches!(error, SessionError::ParentNotBefore { line: 2, .. }), "{error:?}");

    let circle = lines[0].replace(&parent(None), &parent(Some(&grandchild)));
    let error = problem(&[&*circle, &lines[1], &lines[2]].concat());
    assert!(matches!(error, SessionError::ParentNotBefore { line: 1, .. }), "{error:?}");
}

#[test]
fn a_second_root_is_refused() {
    let (lines, _) = three();
    let other = session();
    other.seed([Fact(1)]).unwrap();
    let error = problem(&[&*lines[0], &text(&other)].concat());
    assert!(error.to_string().contains("only the first line may"), "{error}");
}

#[test]
fn a_dump_that_was_cut_between_two_lines_is_refused() {
    let (lines, _) = three();
    let error = problem(&lines[..2].concat());
    assert!(error.to_string().contains("the dump had 3 lines"), "{error}");
}

#[test]
fn long_lines_and_many_sessions_stop_at_their_bounds() {
    let (lines, _) = three();
    let dump = lines.concat();
    let longest = lines.iter().map(String::len).max().unwrap() as u64 - 1;
    let load = |options: &LoadOptions| read_session_tree(dump.as_bytes(), options);
    load(&LoadOptions::default().max_line_bytes(longest).max_sessions(3)).unwrap();
    let error = load(&LoadOptions::default().max_line_bytes(longest - 1)).unwrap_err();
    assert!(matches!(error, SessionError::LineTooLong { .. }), "{error:?}");
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    let error = load(&LoadOptions::default().max_sessions(2)).unwrap_err();
    assert!(error.to_string().contains("more than 2 sessions"), "{error}");
}

#[test]
fn a_line_without_end_is_not_read_to_its_end() {
    let endless = std::io::BufReader::new(std::io::repeat(b' '));
    let error = read_session_tree(endless, &LoadOptions::default().max_line_bytes(1 << 20));
    assert!(matches!(error.unwrap_err(), SessionError::LineTooLong { line: 1, .. }));
}

#[test]
fn items_that_are_nested_without_measure_are_kept_and_refused_as_a_type() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let dump = line(&format!(r#"{{"name":"fact","kind":"state","items":{deep}}}"#), "");
    let loaded = read(&dump).unwrap();
    assert_eq!(text(&loaded), dump);
    assert!(matches!(loaded.query::<Fact>().unwrap_err(), SessionError::SliceUnreadable { .. }));
}

#[test]
fn a_deep_tree_is_dumped_and_loaded() {
    let root = session();
    let mut last = root.clone();
    for _ in 0..2_000 {
        last = last.child();
    }
    last.seed([Fact(1)]).unwrap();
    let dump = text(&root);
    assert_eq!(dump.lines().count(), 2_001);
    assert_eq!(text(&read(&dump).unwrap()), dump);
}

#[test]
fn what_is_no_file_is_refused_without_its_path() {
    let directory = tempfile::tempdir().unwrap();
    let gone = load_session_tree(directory.path().join("gone.jsonl")).unwrap_err();
    let no_file = load_session_tree(directory.path()).unwrap_err();
    assert_eq!((gone.kind(), no_file.kind()), (ErrorKind::NotFound, ErrorKind::InvalidArgument));
    for error in [gone, no_file] {
        assert!(!error.to_string().contains(directory.path().to_str().unwrap()), "{error}");
    }
}
