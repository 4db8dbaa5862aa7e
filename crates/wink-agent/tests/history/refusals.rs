//! What is refused, and that it changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use wink_agent::{Family, PathRules, ToolContext, Toolset};
use wink_fs::{Exclusions, MemoryBackend, Workspace};

use crate::history::scene::{call, hash, on_each_backend};
use crate::host_paths;

/// Arguments by which each tool would do something.
fn sensible(tool: &str) -> Value {
    match tool {
        "restore" => json!({"snapshot": "start"}),
        "revert" => json!({"from": "start", "to": "@"}),
        "merge" => json!({"name": "attempt"}),
        "fork" => json!({"name": "other"}),
        _ => json!({}),
    }
}

#[test]
fn rules_that_deny_something_deny_the_history_of_everything() {
    on_each_backend(|files| {
        files.write("prod.env", "KEY=1").unwrap();
        files.snapshot("start").unwrap();
        files.write("prod.env", "KEY=2").unwrap();
        let before = hash(files);
        let rules = PathRules::new().deny(["*.env"]).unwrap();
        let context = ToolContext::over(files).rules(rules);
        for tool in Toolset::HISTORY.tools() {
            let refused = call(&context, tool.name, sensible(tool.name));
            assert_eq!(refused.code(), Some("permission_denied"), "{}", tool.name);
            assert!(!refused.message.contains("KEY"), "{}", refused.message);
        }
        assert_eq!(hash(files), before);
    });
}

#[test]
fn without_a_history_every_tool_says_so() {
    let place = tempfile::tempdir().unwrap();
    let context = ToolContext::over(&Workspace::host(place.path()).unwrap());
    for tool in Toolset::HISTORY.tools().filter(|tool| tool.name != "merge") {
        let refused = call(&context, tool.name, sensible(tool.name));
        assert_eq!(refused.code(), Some("unsupported"), "{}: {}", tool.name, refused.message);
        assert!(refused.message.starts_with("This workspace keeps no history"));
    }
}

#[test]
fn without_files_every_tool_says_so() {
    for tool in Toolset::ALL.tools().filter(|tool| tool.family == Family::History) {
        let result = tool.call(&ToolContext::new(), sensible(tool.name));
        assert_eq!(result.message, "No filesystem available in this context.");
    }
}

#[test]
fn a_snapshot_that_is_not_there_is_named_with_the_next_step() {
    on_each_backend(|files| {
        files.snapshot("start").unwrap();
        let context = ToolContext::over(files);
        for (tool, arguments) in [
            ("restore", json!({"snapshot": "nowhere"})),
            ("revert", json!({"from": "start", "to": "nowhere"})),
            ("diff", json!({"from": "nowhere"})),
            ("fork", json!({"name": "f", "at": "nowhere"})),
        ] {
            let refused = call(&context, tool, arguments);
            assert_eq!(refused.code(), Some("snapshot_not_found"), "{tool}");
            assert_eq!(
                refused.message,
                "There is no snapshot `nowhere`; call history to see which there are."
            );
        }
        let live = call(&context, "restore", json!({"snapshot": "@"}));
        assert_eq!(live.code(), Some("snapshot_not_found"), "{}", live.message);
        assert!(context.forks.names().is_empty());
    });
}

/// Arguments no tool of the family can make sense of.
fn nonsense() -> Vec<Value> {
    let huge = "x".repeat(100_000);
    vec![
        json!([]),
        json!("text"),
        json!({"nosuch": true}),
        json!({"snapshot": 7, "from": 7, "to": 7, "name": 7, "tag": 7}),
        json!({"snapshot": -1}),
        json!({"snapshot": "", "path": "../../etc/passwd"}),
        json!({"snapshot": "start", "path": "../../etc/passwd"}),
        json!({"snapshot": "start", "dry_run": "maybe"}),
        json!({"name": huge}),
        json!({"name": "../a", "at": huge}),
        json!({"from": huge, "to": huge}),
        json!({"from": "start", "to": "start", "on_conflict": "win"}),
        json!({"limit": -1, "of": "everything"}),
        json!({"tag": huge}),
        json!({"tag": "", "message": ""}),
        json!({"tag": "a\nb"}),
    ]
}

#[test]
fn nonsense_changes_nothing_and_shows_no_path_of_the_host() {
    on_each_backend(|files| {
        files.write("a.txt", "one").unwrap();
        files.snapshot("start").unwrap();
        files.write("a.txt", "two").unwrap();
        let (before, context) = (hash(files), ToolContext::over(files));
        let snapshots = files.snapshots().unwrap().len();
        for tool in Toolset::HISTORY.tools() {
            for arguments in nonsense() {
                let result = tool.call(&context, arguments.clone());
                let shown = arguments.to_string().chars().take(80).collect::<String>();
                assert!(!result.ok(), "{} took {shown}", tool.name);
                host_paths::assert_none(files, &result);
                assert!(result.message.len() < 600, "{} {shown}", tool.name);
                assert_eq!(hash(files), before, "{} {shown}", tool.name);
            }
        }
        assert_eq!(files.snapshots().unwrap().len(), snapshots);
        assert!(context.forks.names().is_empty());
    });
}

#[test]
fn an_undo_whose_snapshot_is_gone_names_the_operation_and_the_next_step() {
    on_each_backend(|files| {
        let (one, two) = (files.snapshot("one").unwrap(), files.write("a.txt", "two"));
        two.unwrap();
        let two = files.snapshot("two").unwrap();
        let context = ToolContext::over(files);
        for _ in 0..6 {
            files.restore(&one).unwrap();
            files.restore(&two).unwrap();
        }
        for _ in 0..10 {
            assert!(call(&context, "undo", json!({})).ok());
        }
        let before = hash(files);
        let refused = call(&context, "undo", json!({}));
        assert_eq!(refused.code(), Some("snapshot_not_found"), "{}", refused.message);
        let begin = "Nothing was undone: operation 3 (restore) cannot be undone, because snapshot ";
        assert!(refused.message.starts_with(begin), "{}", refused.message);
        assert!(refused.message.ends_with("call history to see which there are."));
        assert_eq!(hash(files), before);
    });
}

#[test]
fn a_path_that_neither_state_has_is_refused_and_not_the_same() {
    on_each_backend(|files| {
        files.write("kept/a.txt", "one").unwrap();
        files.write("gone.txt", "one").unwrap();
        files.snapshot("start").unwrap();
        files.delete("gone.txt").unwrap();
        files.write("new.txt", "one").unwrap();
        let (before, context) = (hash(files), ToolContext::over(files));
        assert!(call(&context, "fork", json!({"name": "attempt"})).ok());
        let snapshots = files.snapshots().unwrap().len();
        for path in ["nope", "kept/nope", "gone.txt/nope"] {
            for state in ["start", "attempt"] {
                let restore =
                    |dry_run| json!({"snapshot": state, "path": path, "dry_run": dry_run});
                for arguments in [restore(false), restore(true)] {
                    let refused = call(&context, "restore", arguments);
                    assert_eq!(refused.code(), Some("not_found"), "{}", refused.message);
                    let expected =
                        format!("`{path}` is neither in the workspace nor in the snapshot; ");
                    assert!(refused.message.starts_with(&expected), "{}", refused.message);
                }
            }
            for mut states in [json!({}), json!({"from": "attempt"}), json!({"fork": "attempt"})] {
                states["path"] = path.into();
                let refused = call(&context, "diff", states);
                assert_eq!(refused.code(), Some("not_found"), "{}", refused.message);
                let expected = format!("`{path}` is in neither of the two states; ");
                assert!(refused.message.starts_with(&expected), "{}", refused.message);
            }
        }
        assert_eq!((hash(files), files.snapshots().unwrap().len()), (before, snapshots));
        for path in ["kept/a.txt", "kept", "gone.txt", "new.txt", "."] {
            assert!(call(&context, "diff", json!({"from": "start", "path": path})).ok(), "{path}");
            let restore = json!({"snapshot": "start", "path": path, "dry_run": true});
            assert!(call(&context, "restore", restore).ok(), "{path}");
        }
    });
}

#[test]
fn a_path_that_is_only_in_the_files_of_now_is_in_neither_of_two_snapshots() {
    on_each_backend(|files| {
        files.snapshot("one").unwrap();
        files.write("a.txt", "a").unwrap();
        files.snapshot("two").unwrap();
        files.write("now.txt", "now").unwrap();
        let arguments = json!({"from": "one", "to": "two", "path": "now.txt"});
        let refused = call(&ToolContext::over(files), "diff", arguments);
        assert_eq!(refused.code(), Some("not_found"), "{}", refused.message);
    });
}

#[test]
fn a_path_that_is_excluded_is_refused_as_such() {
    let is_excluded = Arc::new(AtomicBool::new(false));
    let told = is_excluded.clone();
    let excluded = move || {
        let patterns: &[&str] = if told.load(Ordering::Relaxed) { &["target/"] } else { &[] };
        Exclusions::parse(patterns.iter().copied()).map(Some)
    };
    let files = Workspace::builder(MemoryBackend::new()).exclude_by(excluded).build();
    files.write("target/old", "built").unwrap();
    files.snapshot("with").unwrap();
    files.delete("target/old").unwrap();
    files.write("target/new", "built").unwrap();
    is_excluded.store(true, Ordering::Relaxed);
    files.snapshot("without").unwrap();
    let context = ToolContext::over(&files);
    let refused = |tool: &str, arguments: Value| {
        let refused = call(&context, tool, arguments);
        assert_eq!(refused.code(), Some("invalid_argument"), "{}", refused.message);
        assert!(refused.message.contains("` is excluded from snapshots"), "{}", refused.message);
    };
    for (snapshot, path) in [("with", "target/old"), ("with", "target"), ("without", "target/new")]
    {
        refused("diff", json!({"from": snapshot, "path": path}));
        for dry_run in [true, false] {
            let restore = json!({"snapshot": snapshot, "path": path, "dry_run": dry_run});
            refused("restore", restore);
        }
    }
    is_excluded.store(false, Ordering::Relaxed);
    refused("restore", json!({"snapshot": "without", "path": "target/new"}));
    assert!(call(&context, "restore", json!({"snapshot": "with", "path": "target/old"})).ok());
}

#[test]
fn what_is_cancelled_before_files_are_replaced_replaces_none() {
    let files = Workspace::memory();
    files.write("a.txt", "one").unwrap();
    let before = files.snapshot("before").unwrap().id;
    files.write("a.txt", "two").unwrap();
    files.snapshot("after").unwrap();
    let (flag, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let mut context = ToolContext::over(&files).cancelled(flag.clone());
    // The client cancels while the state is looked up, which may take long.
    let find = {
        let (flag, seen) = (flag.clone(), seen.clone());
        move |name: &str| {
            flag.store(true, Ordering::Relaxed);
            seen.store(true, Ordering::Relaxed);
            Ok((name == "attempt").then_some(before))
        }
    };
    context.forks = context.forks.and_elsewhere(find);
    for (tool, arguments) in [
        ("restore", json!({"snapshot": "attempt"})),
        ("revert", json!({"from": "attempt", "to": "after"})),
    ] {
        flag.store(false, Ordering::Relaxed);
        let refused = call(&context, tool, arguments);
        assert!(seen.swap(false, Ordering::Relaxed), "{tool} was cancelled on its way");
        assert_eq!(refused.code(), Some("cancelled"), "{}", refused.message);
        assert_eq!(files.read("a.txt").unwrap().content, "two");
    }
}
