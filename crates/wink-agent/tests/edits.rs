//! What a model reads after an edit, and what is in the file then.

use serde_json::{Value, json};
use wink_agent::{ToolContext, call};
use wink_fs::{Limits, TreeHash, Workspace, tree_hash};

use crate::backends::{New, on_each_backend};
use crate::transcript::transcript;

const SOURCE: &str = "fn main() {\n\tlet greeting = \"hello\";\n\tprintln!(\"{greeting}\");\n}\n";

fn workspace(new: New) -> Workspace {
    let workspace = new().build();
    workspace.write("main.rs", SOURCE).expect("written");
    workspace.write("windows.txt", "one\r\ntwo\r\nthree\r\ntwo\r\nend").expect("written");
    workspace
}

fn hash(workspace: &Workspace) -> TreeHash {
    tree_hash(&*workspace.tree()).expect("a hash")
}

fn bytes(workspace: &Workspace, path: &str) -> Vec<u8> {
    workspace.read_bytes(path).expect("a file").content.to_vec()
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({"path": path, "old_string": old, "new_string": new}))
}

#[test]
fn edit_file_shows_the_lines_around_the_change() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        insta::assert_snapshot!(transcript(
            &workspace,
            &[
                edit("main.rs", "\"hello\"", "\"good\nday\""),
                edit("windows.txt", "one\ntwo\n", "1\n2\n"),
                edit("windows.txt", "end", "end\nof it"),
                (
                    "edit_file",
                    json!({"path": "windows.txt", "oldText": "t", "newText": "T", "replaceAll": "true"})
                ),
                edit("windows.txt", "2\nThree\n", ""),
            ]
        ));
        assert_eq!(bytes(&workspace, "windows.txt"), b"1\r\nTwo\r\nend\r\nof iT");
    });
}

#[test]
fn edit_file_says_why_nothing_was_changed() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let refused = [
            edit("main.rs", "", "x"),
            edit("main.rs", "let", "let"),
            edit("windows.txt", "two", "2"),
            edit("windows.txt", "e", "E"),
            edit("main.rs", "     2\t\tlet greeting = \"hello\";\n", "x"),
            edit("main.rs", "fn main() {\n    let greeting", "x"),
            edit("main.rs", "fn main() {  \n\tlet greeting", "x"),
            edit("main.rs", "let greeting = “hello”;", "x"),
            edit("main.rs", "LET greeting", "x"),
            edit("main.rs", "Let  greeting", "x"),
            edit("main.rs", "let greeting=\"hello\"", "x"),
            edit("main.rs", "fn main() {\r\n\tlet", "x"),
            edit("windows.txt", "end\n", "x"),
            edit("main.rs", "\tlet greeting = \"goodbye\";\n", "\tlet greeting = \"hello\";\n"),
            edit("main.rs", "fn other() {\n\tprintln!(\"{greeting}\");\n}", "x"),
            edit("main.rs", "something else altogether", "x"),
            edit("missing.rs", "a", "b"),
            edit("../main.rs", "a", "b"),
            ("edit_file", json!({"path": "main.rs", "old_string": "a", "new_sting": "b"})),
            (
                "edit_file",
                json!({"path": "main.rs", "old_string": "a", "new_string": "b", "expected_hash": "1"}),
            ),
        ];
        let before = hash(&workspace);
        insta::assert_snapshot!(transcript(&workspace, &refused));
        assert_eq!(hash(&workspace), before);
    });
}

#[test]
fn an_edit_of_another_version_is_a_conflict_with_the_current_hash() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let hash = workspace.content_hash("main.rs").expect("a hash").to_string();
        let call_with = |old: &str, new: &str| {
            let arguments = json!({"path": "main.rs", "old_string": old, "new_string": new, "expected_hash": hash});
            call(&ToolContext::over(&workspace), "edit_file", arguments)
        };
        assert!(call_with("main", "start").ok());
        let stale = call_with("start", "begin");
        assert_eq!(stale.code(), Some("conflict"));
        let current = workspace.content_hash("main.rs").expect("a hash").to_string();
        assert_eq!(stale.value["current_hash"], current);
        insta::assert_snapshot!(stale.message);
    });
}

#[test]
fn multi_edit_makes_all_edits_or_none() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let edits = |edits: Value| ("multi_edit", json!({"path": "main.rs", "edits": edits}));
        insta::assert_snapshot!(transcript(
            &workspace,
            &[
                edits(json!([
                    {"old_string": "hello", "new_string": "good day"},
                    {"old_str": "good", "new_str": "fine"},
                    {"oldText": "greeting", "newText": "words", "replaceAll": true},
                ])),
                edits(json!([
                    {"old_string": "words =", "new_string": "w ="},
                    {"old_string": "words =", "new_string": "v ="},
                ])),
                edits(json!([{"old_string": "n", "new_string": "m"}])),
                edits(json!([])),
                edits(json!("none")),
                edits(
                    json!([{"old_string": "a", "new_string": "b"}, {"old": "a", "new_string": "b"}])
                ),
                edits(json!([{"old_string": "a"}])),
            ]
        ));
        let text = SOURCE.replace("hello", "fine day").replace("greeting", "words");
        assert_eq!(bytes(&workspace, "main.rs"), text.as_bytes());
    });
}

#[test]
fn everything_outside_the_match_stays_byte_for_byte() {
    on_each_backend(|new| {
        let workspace = new().build();
        let before = b"\xef\xbb\xbfa\r\nb\xff\xfe\nword\r\n\0end";
        workspace.write_bytes("f", &before[..]).expect("written");
        assert!(call(&ToolContext::over(&workspace), "edit_file", edit("f", "word", "w").1).ok());
        assert_eq!(bytes(&workspace, "f"), b"\xef\xbb\xbfa\r\nb\xff\xfe\nw\r\n\0end");
    });
}

#[test]
fn more_than_the_limits_allow_is_refused_by_their_names() {
    on_each_backend(|new| {
        let mut limits = Limits::default();
        (limits.max_content, limits.max_edit_bytes) = (Some(10), 20);
        let workspace = new().limits(limits).build();
        workspace.write("small", "a").expect("written");
        workspace.write("many", &"a".repeat(7)).expect("written");
        workspace.write("large", &"x".repeat(21)).expect("written");
        insta::assert_snapshot!(transcript(
            &workspace,
            &[
                edit("small", "a", "12345678901"),
                (
                    "multi_edit",
                    json!({"path": "small", "edits": [
                        {"old_string": "a", "new_string": "123456"},
                        {"old_string": "1", "new_string": "123456"},
                    ]})
                ),
                ("apply_patch", json!({"patch": "12345678901"})),
                edit("large", "x", "y"),
                (
                    "edit_file",
                    json!({"path": "many", "old_string": "a", "new_string": "123", "replace_all": true})
                ),
            ]
        ));
    });
}

/// The result of an edit may be larger than what one call may supply.
#[test]
fn a_large_file_is_edited_like_a_small_one() {
    on_each_backend(|new| {
        let workspace = new().build();
        let mut text = "0123456789 abcdefghij\r\n".repeat(50_000);
        text.push_str("needle\r\n");
        workspace.write("large", &text).expect("written");
        let edited = call(
            &ToolContext::over(&workspace),
            "edit_file",
            edit("large", "\nneedle", "\nthread").1,
        );
        assert!(edited.ok(), "{}", edited.message);
        assert_eq!(edited.value["lines"], json!([50_001]));
        let content = workspace.open("large").expect("open").read_all().expect("read");
        assert_eq!(content, text.replace("needle", "thread"));
    });
}
