//! What a session is told of calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_agent::file_index::Follower;
use wink_agent::session::{FilesChanged, Session, ToolInvoked, VirtualFileSystem};
use wink_agent::{Effect, Tool, ToolContext, ToolError, Toolset};
use wink_fs::ops::{self, ReadOptions};
use wink_fs::{ErrorKind, Limits, MemoryBackend, SnapshotOptions, TreePath, Workspace};

use crate::engine::scene::{done, on_each_backend, refused};

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

#[test]
fn a_session_is_told_of_every_call_whether_it_went_well_or_not() {
    on_each_backend(|files| {
        let session = Session::new();
        let context = ToolContext::over(files).session(&session).turn(3);
        done(&context, "write_file", json!({"path": "a.txt", "content": "one", "mode": "create"}));
        refused(&context, "read_file", json!({"path": "missing.txt"}));
        let calls = session.query::<ToolInvoked>().unwrap();
        let calls: Vec<_> = calls.all().collect();
        let [written, missing] = &calls[..] else { panic!("{calls:?}") };
        assert_eq!((written.tool.as_str(), written.turn, written.success), ("write_file", 3, true));
        assert_eq!(written.path.as_deref(), Some("a.txt"));
        assert_eq!(written.mode.as_deref(), Some("create"));
        assert!(!missing.success && written.call_id != missing.call_id);
    });
}

#[test]
fn a_call_is_written_down_with_its_path_and_no_state_is_taken_for_one() {
    let (files, session) = (Workspace::memory(), Session::new());
    files.write("a.txt", "one").unwrap();
    files.snapshot("start").unwrap();
    let context = ToolContext::over(&files).session(&session);
    for (name, arguments, path) in [
        ("read_file", json!({"filePath": "a.txt"}), Some("a.txt")),
        ("mv", json!({"source": "a.txt", "destination": "b.txt"}), Some("a.txt")),
        ("diff", json!({"from": "start"}), None),
        ("diff", json!({"from": "start", "path": "b.txt"}), Some("b.txt")),
        ("revert", json!({"from": "start", "to": "@", "dry_run": true}), None),
    ] {
        let result = Toolset::ALL.call(&context, name, arguments);
        assert!(result.ok(), "{name}: {}", result.message);
        let calls = session.query::<ToolInvoked>().unwrap();
        assert_eq!(calls.latest().unwrap().path.as_deref(), path, "{name}");
    }
}

/// Without a `mode` among the arguments there was none in the record.
#[test]
fn a_call_is_written_down_with_the_mode_that_it_had() {
    let (files, session) = (Workspace::memory(), Session::new());
    let context = ToolContext::over(&files).session(&session);
    for (name, arguments, mode) in [
        ("write_file", json!({"path": "a.txt", "content": "one\n"}), Some("overwrite")),
        ("write_file", json!({"path": "a.txt", "content": "", "mode": "append"}), Some("append")),
        ("read_file", json!({"path": "a.txt"}), None),
    ] {
        done(&context, name, arguments);
        let calls = session.query::<ToolInvoked>().unwrap();
        assert_eq!(calls.latest().unwrap().mode.as_deref(), mode, "{name}");
    }
}

#[test]
fn a_patch_of_one_file_is_written_down_with_its_path() {
    let (files, session) = (Workspace::memory(), Session::new());
    let context = ToolContext::over(&files).session(&session);
    let made = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+new\n");
    let moved = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: d.txt\n@@\n-new\n+old\n*** End Patch";
    for (patch, path) in [
        (json!({"patch": made("a.txt")}), Some("a.txt")),
        (json!({"diff": made("a.txt")}), Some("a.txt")),
        (json!({"patch": moved}), Some("a.txt")),
        (json!({"patch": made("b.txt") + &made("c.txt")}), None),
        (json!({"patch": "nonsense"}), None),
    ] {
        wink_agent::call(&context, "apply_patch", patch);
        let calls = session.query::<ToolInvoked>().unwrap();
        assert_eq!(calls.latest().unwrap().path.as_deref(), path);
    }
}

#[test]
fn a_call_is_written_down_with_the_states_before_and_after_it() {
    on_each_backend(|files| {
        let session = Session::new();
        let context = ToolContext::over(files).session(&session);
        let call = |name, arguments| Toolset::ALL.call(&context, name, arguments);
        assert!(call("write_file", json!({"path": "a.txt", "content": "one"})).ok());
        assert!(call("snapshot", json!({"tag": "first"})).ok());
        let first = files.find_snapshot("first").unwrap().id.to_string();
        assert!(call("snapshot", json!({"tag": "second"})).ok());
        let second = files.find_snapshot("second").unwrap().id.to_string();
        assert!(call("read_file", json!({"path": "a.txt"})).ok());
        assert!(call("restore", json!({"snapshot": "first"})).ok());
        assert!(!call("restore", json!({"snapshot": "missing"})).ok());
        assert!(!call("no_such_tool", json!({})).ok());
        let (first, second) = (Some(first), Some(second));
        let written = Some("op:1".to_owned());
        let calls = session.query::<ToolInvoked>().unwrap();
        let kept: Vec<_> = calls
            .all()
            .map(|call| (call.snapshot_before.clone(), call.snapshot_after.clone()))
            .collect();
        let expected = [
            (Some("op:1-".to_owned()), written.clone()),
            (written, first.clone()),
            (first.clone(), second.clone()),
            (second.clone(), second.clone()),
            (second, first.clone()),
            (first.clone(), first.clone()),
            (first.clone(), first),
        ];
        assert_eq!(kept, expected);
    });
}

/// Once, a write had the snapshot before it on both sides, and nothing joined it to its operation.
#[test]
fn a_call_is_joined_to_its_operations_and_its_states_can_be_opened() {
    on_each_backend(|files| {
        let session = Session::new();
        let context = ToolContext::over(files).session(&session);
        files.write("a.txt", "zero").unwrap();
        files.snapshot("start").unwrap();
        done(&context, "write_file", json!({"path": "a.txt", "content": "one", "mode": "append"}));
        // Not by a call.
        files.write("b.txt", "b").unwrap();
        done(&context, "read_file", json!({"path": "a.txt"}));
        done(&context, "rm", json!({"path": "a.txt"}));
        let restored = Toolset::ALL.call(&context, "restore", json!({"snapshot": "start"}));
        assert!(restored.ok(), "{}", restored.message);
        refused(&context, "rm", json!({"path": "missing"}));
        let calls = session.query::<ToolInvoked>().unwrap();
        let calls: Vec<_> = calls.all().cloned().collect();
        let numbers: Vec<_> = calls.iter().map(|it| it.operations.clone()).collect();
        assert_eq!(numbers, [vec![2], vec![], vec![4], vec![5], vec![]]);
        let operations = files.operations().unwrap();
        for call in &calls {
            for number in &call.operations {
                let operation = operations.iter().find(|it| it.sequence == *number).unwrap();
                assert_eq!(operation.call.as_deref(), Some(&*call.call_id));
            }
        }
        assert_eq!(operations.iter().filter(|it| it.call.is_some()).count(), 3);
        let text = |state: &Option<String>, path: &str| {
            let tree = files.tree_at(state.as_deref().unwrap()).unwrap();
            let page = ops::read_bytes(
                &*tree,
                &TreePath::parse(path).unwrap(),
                &ReadOptions::default(),
                &Limits::default(),
            );
            page.ok().map(|page| String::from_utf8(page.content.to_vec()).unwrap())
        };
        let around = |path: &str| {
            let at = |call: &Arc<ToolInvoked>| {
                (text(&call.snapshot_before, path), text(&call.snapshot_after, path))
            };
            calls.iter().map(at).collect::<Vec<_>>()
        };
        let is = |text: &str| Some(text.to_owned());
        let a = [
            (is("zero"), is("zeroone")),
            (is("zeroone"), is("zeroone")),
            (is("zeroone"), None),
            (None, is("zero")),
            (is("zero"), is("zero")),
        ];
        assert_eq!(around("a.txt"), a);
        let b =
            [(None, None), (is("b"), is("b")), (is("b"), is("b")), (is("b"), None), (None, None)];
        assert_eq!(around("b.txt"), b);
    });
}

/// What a failed call did is rolled back, so it did nothing.
#[test]
fn a_call_that_was_rolled_back_has_no_operations() {
    on_each_backend(|files| {
        let session = Session::new();
        let context = ToolContext::over(files).session(&session);
        done(&context, "write_file", json!({"path": "a.txt", "content": "one"}));
        let twice = Tool::new("twice", "Writes, and fails.", Effect::Writes, |call, _: Nothing| {
            let path = call.path("b.txt")?;
            call.change(|fs| fs.create_dir(&path))?;
            Err(ToolError::new(ErrorKind::Io, "no"))
        });
        assert!(!twice.call(&context, json!({})).ok());
        assert!(!files.exists("b.txt"));
        let call = session.query::<ToolInvoked>().unwrap().latest().unwrap();
        assert_eq!(call.operations, [0_u64; 0]);
        assert_eq!(
            (call.snapshot_before.as_deref(), call.snapshot_after.as_deref()),
            (Some("op:1"), Some("op:1"))
        );
        assert_eq!(files.operations().unwrap().len(), 1);
    });
}

#[test]
fn a_snapshot_that_is_gone_is_not_the_current_one_of_a_call() {
    on_each_backend(|files| {
        let session = Session::new();
        let context = ToolContext::over(files).session(&session);
        let taken = files.snapshot_with(&SnapshotOptions::default()).unwrap();
        done(&context, "ls", json!({}));
        files.snapshot_store().unwrap().delete(&taken.id).unwrap();
        assert_eq!(files.current_snapshot_id().unwrap(), None);
        done(&context, "ls", json!({}));
        let calls = session.query::<ToolInvoked>().unwrap();
        let kept: Vec<_> = calls.all().map(|call| call.snapshot_after.clone()).collect();
        assert_eq!(kept, [Some(taken.id.to_string()), None]);
    });
}

#[test]
fn what_is_kept_of_parameters_and_results_is_bounded() {
    let (files, session) = (Workspace::memory(), Session::new());
    let context = ToolContext::over(&files).session(&session);
    let content = "line\n".repeat(9_000);
    done(&context, "write_file", json!({"path": "a.txt", "content": content}));
    done(&context, "read_file", json!({"path": "a.txt"}));
    for call in session.query::<ToolInvoked>().unwrap().all() {
        let kept = serde_json::to_string(&**call).unwrap().len();
        assert!(kept < 10_000, "{kept} bytes of {}", call.tool);
    }
}

#[test]
fn a_path_of_megabytes_and_a_tool_that_is_not_there_are_written_down_within_bounds() {
    let (files, session) = (Workspace::memory(), Session::new());
    let mut context = ToolContext::over(&files).session(&session);
    context.call_id = Some("c".repeat(1_000_000));
    refused(&context, "read_file", json!({"path": "ä".repeat(1_000_000)}));
    refused(&context, &"nothing".repeat(100_000), json!({}));
    let calls = session.query::<ToolInvoked>().unwrap();
    assert_eq!(calls.len(), 2);
    for call in calls.all() {
        assert!(serde_json::to_string(&**call).unwrap().len() < 20_000);
    }
}

#[test]
fn a_subscriber_may_call_tools_when_files_changed() {
    let session = Session::new();
    let builder = Workspace::builder(MemoryBackend::new());
    let (files, follower) = Follower::begin(&session, builder).unwrap();
    let context = ToolContext::over(&files).session(&session).follower(Arc::new(follower));
    let (reader, read) = (context.clone(), Arc::new(AtomicUsize::new(0)));
    let counter = read.clone();
    let subscription = session.subscribe(move |_: &FilesChanged| {
        done(&reader, "read_file", json!({"path": "a.txt"}));
        counter.fetch_add(1, Ordering::Relaxed);
    });
    done(&context, "write_file", json!({"path": "a.txt", "content": "one"}));
    assert_eq!(read.load(Ordering::Relaxed), 1);
    drop(subscription);
}

#[test]
fn another_session_is_told_nothing() {
    let (files, session, other) = (Workspace::memory(), Session::new(), Session::new());
    done(&ToolContext::over(&files).session(&session), "ls", json!({}));
    assert_eq!(other.query::<ToolInvoked>().unwrap().len(), 0);
}

#[test]
fn the_listing_of_a_session_follows_every_call() {
    let session = Session::new();
    let builder = Workspace::builder(MemoryBackend::new());
    let (files, follower) = Follower::begin(&session, builder).unwrap();
    let context = ToolContext::over(&files).session(&session).follower(Arc::new(follower));
    let version = || {
        let listing = session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
        listing.files().map(|file| file.version).collect::<Vec<_>>()
    };
    done(&context, "write_file", json!({"path": "a.txt", "content": "one"}));
    assert_eq!(version(), [1]);
    done(&context, "edit_file", json!({"path": "a.txt", "old_str": "one", "new_str": "two"}));
    assert_eq!(version(), [2]);
    refused(&context, "edit_file", json!({"path": "a.txt", "old_str": "one", "new_str": "x"}));
    assert_eq!(version(), [2]);
    done(&context, "rm", json!({"path": "a.txt"}));
    assert_eq!(version(), [0_u64; 0]);
}
