//! Forks as a program sees them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use wink_agent::ToolContext;
use wink_fs::{Exclusions, Limits, MemoryBackend, Workspace};

use crate::history::scene::{call, done, hash, on_each_backend};

#[test]
fn a_fork_of_a_snapshot_has_its_files_and_leaves_these_alone() {
    on_each_backend(|files| {
        files.write("a.txt", "old").unwrap();
        files.snapshot("old").unwrap();
        files.write("a.txt", "new").unwrap();
        let (context, before) = (ToolContext::over(files), hash(files));
        done(&context, "fork", json!({"name": "from-old", "at": "old"}));
        let fork = context.clone().forks.get("from-old").unwrap();
        assert_eq!(fork.read("a.txt").unwrap().content, "old");
        let inside = ToolContext::over(&fork);
        done(&inside, "write_file", json!({"path": "b.txt", "content": "b"}));
        assert_eq!(hash(files), before);
        done(&context, "merge", json!({"name": "from-old"}));
        assert_eq!(files.read("a.txt").unwrap().content, "new");
        assert_eq!(files.read("b.txt").unwrap().content, "b");
        done(&context, "undo", json!({}));
        assert_eq!(hash(files), before);
    });
}

/// Once, the tools took other names of states than the command line.
#[test]
fn the_name_of_a_fork_is_that_of_its_files() {
    on_each_backend(|files| {
        files.write("a.txt", "one").unwrap();
        let context = ToolContext::over(files);
        done(&context, "fork", json!({"name": "idea"}));
        context.forks.get("idea").unwrap().write("a.txt", "two").unwrap();
        let diff = done(&context, "diff", json!({"from": "idea", "to": "@"}));
        assert!(diff.message.contains("from idea to now") && diff.message.contains("-two"));
        done(&context, "fork", json!({"name": "next", "at": "idea"}));
        let next = context.forks.get("next").unwrap();
        assert_eq!(next.read("a.txt").unwrap().content, "two");
        done(&context, "restore", json!({"snapshot": "idea", "dry_run": true}));
        assert_eq!(files.read("a.txt").unwrap().content, "one");
        done(&context, "restore", json!({"snapshot": "idea"}));
        assert_eq!(files.read("a.txt").unwrap().content, "two");
        done(&context, "undo", json!({}));
        done(&context, "revert", json!({"from": "idea", "to": "@"}));
        assert_eq!(files.read("a.txt").unwrap().content, "two");
    });
}

/// Once, a snapshot of the fork was taken each time.
#[test]
fn a_dry_run_of_a_fork_keeps_nothing() {
    on_each_backend(|files| {
        files.write("a.txt", "one").unwrap();
        let context = ToolContext::over(files);
        done(&context, "fork", json!({"name": "idea"}));
        let fork = context.forks.get("idea").unwrap();
        fork.write("a.txt", "two").unwrap();
        fork.write("b.txt", "new").unwrap();
        let before = files.snapshots().unwrap();
        let dry = done(&context, "restore", json!({"snapshot": "idea", "dry_run": true}));
        let would = "Dry run, nothing was changed. Restoring fork idea would mean 1 file changed back, 1 brought back, \
                     0 removed:\nM a.txt\nA b.txt";
        assert_eq!(dry.message, would);
        assert!(dry.value["snapshot"].is_null());
        let path = json!({"snapshot": "idea", "path": "b.txt", "dry_run": true});
        assert_eq!(done(&context, "restore", path).value["written"], 0);
        for (from, to) in [("idea", "@"), ("@", "idea"), ("idea", "idea")] {
            let step = json!({"from": from, "to": to, "dry_run": true, "on_conflict": "theirs"});
            let reverted = done(&context, "revert", step);
            assert_eq!(reverted.value["change_count"] == 2, to == "@", "{}", reverted.message);
        }
        assert_eq!(files.snapshots().unwrap(), before);
        assert_eq!(files.read("a.txt").unwrap().content, "one");
        done(&context, "restore", json!({"snapshot": "idea"}));
        assert_eq!(files.read("b.txt").unwrap().content, "new");
    });
}

/// Once, they were listed with their lines, and only by comparisons with forks.
#[test]
fn what_a_person_excluded_since_is_in_no_comparison_with_a_fork() {
    let is_excluded = Arc::new(AtomicBool::new(false));
    let source = is_excluded.clone();
    let excluded = move || {
        let is_excluded = source.load(Ordering::Relaxed);
        is_excluded.then(|| Exclusions::parse(["*.log"])).transpose()
    };
    let files = Workspace::builder(MemoryBackend::new()).exclude_by(excluded).build();
    files.write("here.log", "noise").unwrap();
    files.snapshot("before").unwrap();
    let context = ToolContext::over(&files);
    done(&context, "fork", json!({"name": "idea"}));
    let fork = context.forks.get("idea").unwrap();
    fork.write("x.log", "secret").unwrap();
    fork.write("here.log", "more").unwrap();
    fork.write("a.txt", "tried").unwrap();
    is_excluded.store(true, Ordering::Relaxed);
    let states = [("@", "idea"), ("idea", "@"), ("before", "idea")];
    let states = states.map(|(from, to)| json!({"from": from, "to": to}));
    for arguments in states.into_iter().chain([json!({"fork": "idea"})]) {
        let diff = done(&context, "diff", arguments);
        assert_eq!(diff.value["change_count"], 1, "{}", diff.message);
        assert!(diff.message.contains("a.txt"), "{}", diff.message);
        assert!(!diff.message.contains("x.log") && !diff.message.contains("here.log"));
    }
}

#[test]
fn a_name_of_a_tag_and_a_fork_is_none() {
    let files = Workspace::memory();
    let context = ToolContext::over(&files);
    done(&context, "fork", json!({"name": "idea"}));
    // Another process that gives this name to a tag knows nothing of the fork.
    files.snapshot("idea").unwrap();
    let refused = call(&context, "restore", json!({"snapshot": "idea"}));
    assert_eq!(refused.code(), Some("invalid_argument"));
    assert!(refused.message.contains("the tag of a snapshot and the name of a fork"));
}

/// Once, both were made, and the name was none from then on.
#[test]
fn what_is_the_name_of_a_state_is_given_to_no_other() {
    let files = Workspace::memory();
    let mut context = ToolContext::over(&files);
    let elsewhere = done(&context, "snapshot", json!({"tag": "before"})).value["id"].clone();
    let elsewhere = elsewhere.as_str().unwrap().parse().unwrap();
    let find = move |name: &str| Ok((name == "attempt").then_some(elsewhere));
    context.forks = context.forks.and_elsewhere(find);
    done(&context, "fork", json!({"name": "idea"}));
    for (tool, arguments, why) in [
        ("fork", json!({"name": "before"}), "is the tag of snapshot"),
        ("fork", json!({"name": "idea"}), "There is a fork `idea` already; choose"),
        ("fork", json!({"name": "attempt"}), "which a person created or an earlier server kept"),
        ("snapshot", json!({"tag": "idea"}), "`idea` is the name of a fork"),
        ("snapshot", json!({"tag": "attempt"}), "`attempt` is the name of a fork"),
    ] {
        let refused = call(&context, tool, arguments);
        assert_eq!(refused.code(), Some("already_exists"), "{}", refused.message);
        assert!(refused.message.contains(why), "{}", refused.message);
    }
    assert_eq!((context.forks.names().len(), files.snapshots().unwrap().len()), (1, 2));
    done(&context, "fork", json!({"name": "idea", "remove": true}));
    done(&context, "snapshot", json!({"tag": "idea"}));
}

#[test]
fn there_are_never_too_many_forks() {
    let files = Workspace::memory();
    let context = ToolContext::over(&files);
    for n in 0..64 {
        done(&context, "fork", json!({"name": format!("f{n}")}));
    }
    let over = call(&context, "fork", json!({"name": "one-more"}));
    assert_eq!(over.code(), Some("too_large"), "{}", over.message);
    done(&context, "fork", json!({"name": "f0", "remove": true}));
    done(&context, "fork", json!({"name": "one-more"}));
    assert_eq!(context.forks.names().len(), 64);
}

/// Once, they went on in the files that the fork was made of.
#[test]
fn the_next_calls_of_a_call_in_a_fork_go_on_in_it() {
    let mut limits = Limits::default();
    (limits.max_grep_matches, limits.page_lines, limits.max_read_bytes) = (1, 1, 8);
    let files = Workspace::builder(MemoryBackend::new()).limits(limits).build();
    files.write("a.txt", "one\ntwo\nthree\n").unwrap();
    files.write("long.txt", "a line longer than a page\nand another\n").unwrap();
    files.write_bytes("z.bin", &b"\xff\xfe\xfd"[..]).unwrap();
    done(&ToolContext::over(&files), "fork", json!({"name": "idea"}));
    let mut inside = ToolContext::over(&files);
    inside.fork = Some("idea".to_owned());
    for (tool, arguments) in [
        ("ls", json!({})),
        ("glob", json!({"pattern": "*"})),
        ("grep", json!({"pattern": "o"})),
        ("read_file", json!({"path": "a.txt"})),
        ("read_file", json!({"path": "long.txt"})),
        ("read_file", json!({"path": "long.txt", "column": 20})),
        ("read_file", json!({"path": "z.bin"})),
        ("read_file", json!({"path": "a.txt", "encoding": "base64", "limit": 2})),
    ] {
        let mut says = |parameters| {
            inside.caller_parameters = parameters;
            call(&inside, tool, arguments.clone()).message
        };
        let (named, unnamed) = (says(&["fork"]), says(&[]));
        assert!(named.contains(r#""fork":"idea""#), "{tool}: {named}");
        assert!(!unnamed.contains("idea"), "no tool takes it there: {unnamed}");
    }
}

/// A model was told to give tools a parameter that they did not have.
#[test]
fn where_no_tool_takes_a_fork_it_is_said_that_a_model_cannot_work_in_it() {
    let files = Workspace::memory();
    let mut context = ToolContext::over(&files);
    let none = "No tool has a `fork` parameter here";
    assert!(done(&context, "fork", json!({"name": "one"})).message.contains(none));
    let unknown = call(&context, "write_file", json!({"path": "a", "content": "a", "fork": "one"}));
    assert!(unknown.message.starts_with("There is no parameter `fork`"), "{}", unknown.message);
    context.are_forks_reachable = true;
    assert!(!done(&context, "fork", json!({"name": "two"})).message.contains(none));
}
