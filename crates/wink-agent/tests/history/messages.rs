//! What a model reads after a call.

use serde_json::json;
use wink_agent::ToolContext;

use crate::scene::{done, timeless, transcript};

#[test]
fn snapshot_history_diff_and_restore_say_what_there_is_and_what_changed() {
    let files = timeless();
    files.write("poem.txt", "one\ntwo\nthree\n").unwrap();
    files.write("gone.txt", "gone\n").unwrap();
    let context = ToolContext::over(&files);
    insta::assert_snapshot!(transcript(
        &context,
        &[
            ("history", json!({})),
            ("diff", json!({})),
            ("snapshot", json!({"tag": "start", "message": "before the change\nmore"})),
            ("snapshot", json!({"tag": "start"})),
            ("diff", json!({})),
            ("edit_file", json!({"path": "poem.txt", "old_string": "two", "new_string": "2"})),
            ("rm", json!({"path": "gone.txt"})),
            ("write_file", json!({"path": "new/file.txt", "content": "new\n"})),
            ("diff", json!({"from": "start"})),
            ("diff", json!({"path": "poem.txt", "lines": false})),
            ("restore", json!({"snapshot": "start", "dry_run": true})),
            ("restore", json!({"snapshot": "start"})),
            ("restore", json!({"snapshot": "start"})),
            ("history", json!({})),
            ("history", json!({"of": "operations", "limit": 2})),
            ("history", json!({"of": "operations", "limit": 2, "offset": 4})),
            ("history", json!({"offset": 9})),
        ]
    ));
}

#[test]
fn undo_and_revert_say_what_they_took_back() {
    let files = timeless();
    let context = ToolContext::over(&files);
    done(&context, "write_file", json!({"path": "a.txt", "content": "one\ntwo\nthree\n"}));
    files.snapshot("before").unwrap();
    let edit = |old: &str, new: &str| {
        ("edit_file", json!({"path": "a.txt", "old_string": old, "new_string": new}))
    };
    insta::assert_snapshot!(transcript(
        &context,
        &[
            edit("one", "ONE"),
            ("snapshot", json!({"tag": "after"})),
            edit("three", "THREE"),
            ("revert", json!({"from": "before", "to": "after", "dry_run": true})),
            ("revert", json!({"from": "before", "to": "after"})),
            ("revert", json!({"from": "before", "to": "after"})),
            ("undo", json!({})),
            ("undo", json!({})),
            edit("ONE", "eins"),
            ("revert", json!({"from": "before", "to": "after"})),
            ("revert", json!({"from": "before", "to": "after", "on_conflict": "theirs"})),
            ("history", json!({"of": "operations", "limit": 3})),
        ]
    ));
}

#[test]
fn fork_and_merge_say_what_came_in() {
    let files = timeless();
    files.write("poem.txt", "one\ntwo\nthree\n").unwrap();
    let context = ToolContext::over(&files);
    let before = transcript(
        &context,
        &[
            ("fork", json!({})),
            ("fork", json!({"name": "attempt"})),
            ("fork", json!({"name": "attempt"})),
            ("fork", json!({"name": "a b"})),
            ("fork", json!({})),
            ("diff", json!({"fork": "attempt"})),
            ("merge", json!({"name": "attemt"})),
            ("merge", json!({"name": "attempt"})),
        ],
    );
    let attempt = ToolContext::over(&context.forks.get("attempt").unwrap());
    let edit = json!({"path": "poem.txt", "old_string": "three", "new_string": "THREE"});
    done(&attempt, "edit_file", edit);
    done(&attempt, "write_file", json!({"path": "new.txt", "content": "new\n"}));
    let after = transcript(
        &context,
        &[
            ("diff", json!({"fork": "attempt"})),
            ("diff", json!({"fork": "attempt", "to": "@"})),
            ("merge", json!({"name": "attempt", "dry_run": true})),
            ("merge", json!({"name": "attempt"})),
            ("undo", json!({})),
            ("edit_file", json!({"path": "poem.txt", "old_string": "three", "new_string": "3"})),
            ("merge", json!({"name": "attempt"})),
            ("merge", json!({"name": "attempt", "on_conflict": "markers"})),
            ("fork", json!({"name": "attempt", "remove": true})),
            ("fork", json!({"name": "attempt", "remove": true})),
        ],
    );
    insta::assert_snapshot!(before + &after);
}

#[test]
fn long_answers_are_cut_and_say_how_to_go_on() {
    let files = timeless();
    files.snapshot("empty").unwrap();
    for n in 0..70 {
        files.write(&format!("f{n:02}"), &"line\n".repeat(200)).unwrap();
    }
    let context = ToolContext::over(&files);
    let diff = done(&context, "diff", json!({})).message;
    let last = files.current_snapshot_id().unwrap().unwrap().short();
    let next = json!({"from": last, "lines": false, "offset": 50});
    assert!(diff.contains(&format!("\n… and 20 more. Next call: diff {next}\n")), "{diff}");
    assert!(diff.len() < 40_000, "{}", diff.len());
    let restored = done(&context, "restore", json!({"snapshot": "empty"})).message;
    assert!(restored.contains("… and 20 more") && restored.len() < 1_000, "{restored}");
    let saved = files.snapshots().unwrap().pop().unwrap();
    let next = json!({"from": saved.id.short(), "lines": false});
    assert!(restored.contains(&format!(" Next call: diff {next}\n")), "{restored}");
}
