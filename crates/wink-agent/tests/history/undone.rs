//! `undo` gives back the tree of before, whatever was called.

use proptest::prelude::*;
use serde_json::{Value, json};
use wink_agent::ToolContext;
use wink_agent::session::Session;
use wink_fs::Workspace;

use crate::history::scene::{call, done, hash, on_each_backend};

/// Prepares something for every tool to work on.
fn prepared(files: &Workspace) -> ToolContext {
    for path in ["a.txt", "d/b.txt", "d/e/c.txt"] {
        files.write(path, "one\ntwo\nthree\n").unwrap();
    }
    let context = ToolContext::over(files).session(&Session::new());
    files.snapshot("start").unwrap();
    done(&context, "fork", json!({"name": "attempt"}));
    let attempt = context.forks.get("attempt").unwrap();
    attempt.write("d/b.txt", "one\ntwo\n3\n").unwrap();
    attempt.write("fork.txt", "fork").unwrap();
    done(&context, "export", json!({"path": "all.fs.zip"}));
    files.write("a.txt", "ONE\ntwo\nthree\n").unwrap();
    files.snapshot("later").unwrap();
    files.delete("d/e/c.txt").unwrap();
    for path in ["a.txt", "d/b.txt"] {
        done(&context, "read_file", json!({ "path": path }));
    }
    context
}

/// Every call that changes files, with some that fail depending on what came before.
fn calls() -> Vec<(&'static str, Value)> {
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-two\n+2\n--- /dev/null\n+++ b/p/q\n@@ -0,0 +1 @@\n+q\n";
    vec![
        ("write_file", json!({"path": "new/deep/file", "content": "new"})),
        ("write_file", json!({"path": "a.txt", "content": "all new\n"})),
        ("write_file", json!({"path": "d/b.txt", "content": "more\n", "mode": "append"})),
        ("write_file", json!({"path": "bin", "content": "/wA=", "encoding": "base64"})),
        ("edit_file", json!({"path": "d/b.txt", "old_string": "two", "new_string": "2"})),
        (
            "multi_edit",
            json!({"path": "a.txt", "edits": [{"old_string": "t", "new_string": "T", "replace_all": true}]}),
        ),
        ("apply_patch", json!({ "patch": patch })),
        ("mkdir", json!({"path": "empty/directory"})),
        ("mv", json!({"from": "d", "to": "moved/d"})),
        ("mv", json!({"from": "a.txt", "to": "d/b.txt", "overwrite": true})),
        ("rm", json!({"path": "d"})),
        ("rm", json!({"path": "a.txt"})),
        ("export", json!({})),
        ("import", json!({"path": "all.fs.zip", "replace_everything": true})),
        ("restore", json!({"snapshot": "start"})),
        ("restore", json!({"snapshot": "later", "path": "d"})),
        ("revert", json!({"from": "start", "to": "later", "on_conflict": "theirs"})),
        ("merge", json!({"name": "attempt", "on_conflict": "ours"})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn undo_after_any_call_gives_the_tree_of_before(
        chosen in prop::collection::vec(0..calls().len(), 1..6)
    ) {
        let calls = calls();
        on_each_backend(|files| {
            let context = prepared(files);
            let mut states = vec![hash(files)];
            for (tool, arguments) in chosen.iter().map(|at| &calls[*at]) {
                let result = call(&context, tool, arguments.clone());
                let now = hash(files);
                assert!(result.ok() || states.last() == Some(&now), "{tool} failed by half");
                if states.last() != Some(&now) {
                    states.push(now);
                }
            }
            while let Some(state) = states.pop() {
                assert_eq!(hash(files), state);
                if !states.is_empty() {
                    done(&context, "undo", json!({}));
                }
            }
        });
    }
}

#[test]
fn every_call_of_the_property_does_something_by_itself() {
    for (tool, arguments) in calls() {
        let files = Workspace::memory();
        let context = prepared(&files);
        let before = hash(&files);
        done(&context, tool, arguments);
        assert!(hash(&files) != before, "{tool}");
    }
}
