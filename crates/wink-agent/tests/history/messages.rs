//! What a model reads after a call.

use serde_json::{Value, json};
use wink_agent::ToolContext;
use wink_fs::{Exclusions, MemoryBackend, Workspace};

use crate::history::scene::{done, on_each_backend, timeless, transcript};

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
    let next = json!({"from": last, "lines": true, "offset": 50});
    assert!(diff.contains(&format!("\n… and 20 more. Next call: diff {next}\n")), "{diff}");
    assert!(diff.len() < 40_000, "{}", diff.len());
    let restored = done(&context, "restore", json!({"snapshot": "empty"})).message;
    assert!(restored.contains("… and 20 more") && restored.len() < 1_000, "{restored}");
    let saved = files.snapshots().unwrap().pop().unwrap();
    let next = json!({"from": saved.id.short(), "lines": false});
    assert!(restored.contains(&format!(" Next call: diff {next}\n")), "{restored}");
}

/// The lines of the first page were once those of other paths than it listed.
#[test]
fn a_page_of_a_comparison_lists_and_shows_the_same_paths() {
    on_each_backend(|files| {
        let path = |n: usize| format!("d/f{n:03}");
        (0..120).step_by(2).for_each(|n| drop(files.write(&path(n), "before\n").unwrap()));
        files.write("moved-from", "a file that moves\n").unwrap();
        files.snapshot("start").unwrap();
        (0..120).for_each(|n| drop(files.write(&path(n), &format!("after {n}\n")).unwrap()));
        for n in (0..120).step_by(6) {
            files.delete(&path(n)).unwrap();
        }
        files.rename("moved-from", "moved-to").unwrap();
        let context = ToolContext::over(files);
        let (mut arguments, mut seen) = (json!({"from": "start"}), Vec::new());
        loop {
            let page = done(&context, "diff", arguments);
            let changes = page.value["changes"].as_array().unwrap();
            let row = |it: &Value| {
                format!("{} {}", it["change"].as_str().unwrap(), it["path"].as_str().unwrap())
            };
            let rows: Vec<String> = changes.iter().map(row).collect();
            let (listing, lines) = page.message.split_once("\n\n").unwrap();
            let in_text = listing.lines().skip(1).filter(|line| !line.starts_with('…'));
            assert_eq!(in_text.collect::<Vec<_>>(), rows);
            let shown = lines.split("\n\n").map(|lines| lines.lines().next().unwrap());
            let with_lines = rows.iter().filter(|row| !row.starts_with('R')).map(|row| &row[2..]);
            assert_eq!(shown.collect::<Vec<_>>(), with_lines.collect::<Vec<_>>());
            seen.extend(rows);
            match listing.split_once("Next call: diff ") {
                Some((_, next)) => arguments = serde_json::from_str(next).unwrap(),
                None => break,
            }
        }
        let letter = |n: usize| match (n % 2, n % 6) {
            (0, 0) => 'D',
            (0, _) => 'M',
            _ => 'A',
        };
        let mut expected: Vec<_> = (0..120).map(|n| format!("{} {}", letter(n), path(n))).collect();
        expected.push("R moved-from -> moved-to".to_owned());
        assert_eq!(seen, expected);
    });
}

/// Once, the model was not told what is not kept, compared or restored.
#[test]
fn what_is_excluded_is_named_by_every_tool_of_the_history() {
    let exclusions = Exclusions::parse(["target/", "/.git"]).unwrap();
    let files = Workspace::builder(MemoryBackend::new()).exclude(exclusions).build();
    files.write("a.txt", "one\n").unwrap();
    files.write("target/out", "built").unwrap();
    let context = ToolContext::over(&files);
    // `.git` is excluded wherever it may be, and named only where it is.
    let message = done(&context, "snapshot", json!({"tag": "before git"})).message;
    assert!(message.contains("\nExcluded by setting: target/."), "{message}");
    files.write(".git/HEAD", "ref: refs/heads/main\n").unwrap();
    for (tool, arguments) in [
        ("snapshot", json!({"tag": "start"})),
        ("fork", json!({"name": "attempt"})),
        ("write_file", json!({"path": "b.txt", "content": "new"})),
        ("snapshot", json!({"tag": "later"})),
        ("diff", json!({"from": "start"})),
        ("diff", json!({"from": "later", "lines": false})),
        ("diff", json!({"fork": "attempt"})),
        ("restore", json!({"snapshot": "start", "dry_run": true})),
        ("restore", json!({"snapshot": "start"})),
        ("revert", json!({"from": "start", "to": "later"})),
        ("merge", json!({"name": "attempt"})),
    ] {
        let message = done(&context, tool, arguments).message;
        let is_named = message.contains("\nExcluded by setting: /.git, target/.");
        assert_eq!(is_named, tool != "write_file", "{tool}: {message}");
    }
}

/// Once, an answer did not tell what a call had done from what a person had, and both were gone.
#[test]
fn a_restore_names_what_others_than_calls_had_changed() {
    let place = tempfile::tempdir().unwrap();
    let (root, store) = (place.path().join("root"), place.path().join("store"));
    std::fs::create_dir(&root).unwrap();
    let store = wink_fs::Store::create_ambient(&store).unwrap();
    let files = Workspace::host_with_store(&root, store).unwrap();
    let context = ToolContext::over(&files);
    for path in ["a.txt", "b.txt"] {
        done(&context, "write_file", json!({"path": path, "content": "before"}));
    }
    files.snapshot("before").unwrap();
    std::fs::write(root.join("b.txt"), "by an editor").unwrap();
    let all = done(&context, "restore", json!({"snapshot": "before", "dry_run": true}));
    assert!(!all.message.contains("other programs"), "nothing to tell apart: {}", all.message);
    let more = json!({"path": "a.txt", "content": " and after", "mode": "append"});
    done(&context, "write_file", more);
    for dry_run in [true, false] {
        let restore = json!({"snapshot": "before", "dry_run": dry_run});
        let restored = done(&context, "restore", restore);
        let named = "\nOf these, other programs changed since the last snapshot:\nb.txt";
        assert!(restored.message.contains(named), "{}", restored.message);
        assert_eq!(restored.value["changed_outside"], json!(["b.txt"]));
    }
}
