//! No session overwrites what it has not read.

use std::sync::Arc;

use serde_json::json;
use wink_agent::file_index::Follower;
use wink_agent::session::Session;
use wink_agent::{ToolContext, call};
use wink_fs::Workspace;

use crate::engine::scene::{done, on_each_backend, refused};

fn of_a_session(files: &Workspace) -> ToolContext {
    files.write("a.txt", "one").unwrap();
    ToolContext::over(files).session(&Session::new())
}

fn overwrite(context: &ToolContext, content: &str) -> Option<&'static str> {
    call(context, "write_file", json!({"path": "a.txt", "content": content})).code()
}

#[test]
fn a_file_that_was_not_read_is_not_overwritten() {
    on_each_backend(|files| {
        let context = of_a_session(files);
        assert_eq!(overwrite(&context, "two"), Some("conflict"));
        assert_eq!(files.read("a.txt").unwrap().content, "one");
        done(&context, "read_file", json!({"path": "a.txt"}));
        assert_eq!(overwrite(&context, "two"), None);
        assert_eq!(files.read("a.txt").unwrap().content, "two");
    });
}

/// A child could overwrite what only its parent had read.
#[test]
fn another_session_has_not_read_what_the_first_one_read() {
    on_each_backend(|files| {
        let context = of_a_session(files);
        let session = context.session.clone().unwrap();
        done(&context, "read_file", json!({"path": "a.txt"}));
        let child = context.clone().session(&session.child());
        assert_eq!(overwrite(&child, "two"), Some("conflict"));
        done(&child, "read_file", json!({"path": "a.txt"}));
        assert_eq!(overwrite(&child, "two"), None);
        // The same session again is the same context.
        assert_eq!(overwrite(&context.clone().session(&session), "three"), Some("conflict"));
        done(&context, "read_file", json!({"path": "a.txt"}));
        assert_eq!(overwrite(&context.session(&session), "three"), None);
    });
}

#[test]
fn another_session_is_not_followed_by_the_first_ones_follower() {
    let session = Session::new();
    let builder = Workspace::builder(wink_fs::MemoryBackend::new());
    let (files, follower) = Follower::begin(&session, builder).unwrap();
    let context = ToolContext::over(&files).session(&session).follower(Arc::new(follower));
    assert!(context.clone().session(&session).follower.is_some());
    assert!(context.session(&session.child()).follower.is_none());
}

#[test]
fn a_look_past_the_end_shows_nothing_and_is_no_read() {
    on_each_backend(|files| {
        let context = of_a_session(files);
        for past in [
            json!({"offset": 2}),
            json!({"offset": 9, "limit": 1}),
            json!({"offset": 0, "column": 3}),
            json!({"offset": 9, "column": 1}),
            json!({"offset": 3, "encoding": "base64"}),
        ] {
            let mut arguments = past;
            arguments["path"] = "a.txt".into();
            let read = done(&context, "read_file", arguments);
            assert!(read.message.starts_with("Nothing to show: "), "{}", read.message);
            assert_eq!(overwrite(&context, "two"), Some("conflict"));
        }
    });
}

#[test]
fn a_part_of_a_file_and_a_file_without_anything_are_read() {
    on_each_backend(|files| {
        files.write("empty", "").unwrap();
        for (path, part) in [
            ("a.txt", json!({"offset": 1, "limit": 1})),
            ("a.txt", json!({"offset": 2, "column": 1})),
            ("a.txt", json!({"offset": 4, "limit": 1, "encoding": "base64"})),
            ("empty", json!({})),
            ("empty", json!({"offset": 7})),
            ("empty", json!({"encoding": "base64"})),
        ] {
            let context = of_a_session(files);
            files.write("a.txt", "one\ntwo\nthree").unwrap();
            let mut arguments = part;
            arguments["path"] = path.into();
            done(&context, "read_file", arguments);
            done(&context, "write_file", json!({"path": path, "content": ""}));
        }
    });
}

#[test]
fn a_write_of_the_session_counts_as_a_read() {
    on_each_backend(|files| {
        let context = of_a_session(files);
        done(&context, "write_file", json!({"path": "b.txt", "content": "one"}));
        done(&context, "write_file", json!({"path": "b.txt", "content": "two"}));
        let edit = json!({"path": "b.txt", "old_string": "two", "new_string": "three"});
        done(&context, "edit_file", edit);
        done(&context, "write_file", json!({"path": "b.txt", "content": "four"}));
    });
}

#[test]
fn a_file_that_changed_since_is_a_conflict_with_the_current_hash() {
    on_each_backend(|files| {
        let context = of_a_session(files);
        done(&context, "read_file", json!({"path": "a.txt"}));
        let theirs = files.write("a.txt", "theirs").unwrap().content_hash;
        let refused = call(&context, "write_file", json!({"path": "a.txt", "content": "mine"}));
        assert_eq!(refused.code(), Some("conflict"));
        assert_eq!(refused.value["current_hash"], theirs.to_string());
        assert_eq!(files.read("a.txt").unwrap().content, "theirs");
    });
}

#[test]
fn a_rollback_and_an_equal_rewrite_make_nothing_unread() {
    on_each_backend(|files| {
        let context = of_a_session(files);
        let before = files.snapshot("before").unwrap();
        done(&context, "read_file", json!({"path": "a.txt"}));
        assert_eq!(overwrite(&context, "two"), None);
        files.restore(&before).unwrap();
        assert_eq!(overwrite(&context, "three"), None);
        files.write("a.txt", "x").unwrap();
        files.write("a.txt", "three").unwrap();
        assert_eq!(overwrite(&context, "four"), None);
    });
}

#[test]
fn what_another_session_read_was_not_read_here() {
    on_each_backend(|files| {
        let context = of_a_session(files);
        done(&context, "read_file", json!({"path": "a.txt"}));
        assert_eq!(overwrite(&of_a_session(files), "two"), Some("conflict"));
    });
}

#[test]
fn without_a_session_the_hash_is_asked_for() {
    on_each_backend(|files| {
        files.write("a.txt", "one").unwrap();
        let context = ToolContext::over(files);
        let read = done(&context, "read_file", json!({"path": "a.txt"}));
        let write = json!({"path": "a.txt", "content": "two"});
        assert_eq!(refused(&context, "write_file", write.clone()), "conflict");
        let mut write = write;
        write["expected_hash"] = read.value["content_hash"].clone();
        done(&context, "write_file", write);
    });
}

/// It replaced any file.
#[test]
fn a_file_that_was_not_read_is_not_replaced_by_a_move_either() {
    on_each_backend(|files| {
        let context = of_a_session(files);
        let replacing = json!({"from": "new.txt", "to": "a.txt", "overwrite": true});
        files.write("new.txt", "new").unwrap();
        let refused = call(&context, "mv", replacing.clone());
        assert_eq!(refused.code(), Some("conflict"), "{}", refused.message);
        assert!(refused.message.contains("read a.txt with read_file first"), "{}", refused.message);
        assert_eq!(files.read("a.txt").unwrap().content, "one");
        done(&context, "read_file", json!({"path": "a.txt"}));
        files.write("a.txt", "changed since").unwrap();
        assert_eq!(call(&context, "mv", replacing.clone()).code(), Some("conflict"));
        done(&context, "read_file", json!({"path": "a.txt"}));
        done(&context, "mv", replacing);
        assert_eq!(files.read("a.txt").unwrap().content, "new");
    });
}

#[test]
fn without_a_session_a_move_replaces_the_file_whose_hash_is_given() {
    on_each_backend(|files| {
        let context = ToolContext::over(files);
        files.write("a.txt", "one").unwrap();
        files.write("new.txt", "new").unwrap();
        let mut replacing = json!({"from": "new.txt", "to": "a.txt", "overwrite": true});
        let refused = call(&context, "mv", replacing.clone());
        assert!(refused.message.contains("repeat this call with expected_hash"));
        replacing["expected_hash"] = refused.value["current_hash"].clone();
        files.write("a.txt", "changed since").unwrap();
        let stale = call(&context, "mv", replacing.clone());
        assert_eq!(stale.code(), Some("conflict"), "{}", stale.message);
        replacing["expected_hash"] = stale.value["current_hash"].clone();
        done(&context, "mv", replacing);
        assert_eq!(files.read("a.txt").unwrap().content, "new");
    });
}

#[test]
fn a_move_needs_to_have_read_nothing_where_no_file_is_replaced() {
    on_each_backend(|files| {
        let context = ToolContext::over(files);
        files.write("a.txt", "one").unwrap();
        files.write("b.txt", "two").unwrap();
        files.symlink("link", b"b.txt").unwrap();
        files.mkdir("empty").unwrap();
        files.mkdir("other").unwrap();
        for (from, to) in [("a.txt", "a.txt"), ("a.txt", "link"), ("empty", "other")] {
            done(&context, "mv", json!({"from": from, "to": to, "overwrite": true}));
        }
        let wrong = json!({"from": "other", "to": "b.txt", "overwrite": true});
        assert_eq!(refused(&context, "mv", wrong), "not_a_directory");
    });
}
