//! What a model reads after a call.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wink_agent::{ToolContext, ToolResult, call};
use wink_fs::{Limits, Workspace};

use crate::backends::{New, on_each_backend};
use crate::transcript::transcript;

fn workspace(new: New) -> Workspace {
    let workspace = new().build();
    for (path, content) in [("notes.txt", "one\ntwo\nthree\n"), ("src/a.rs", ""), ("z", "no end")] {
        let written = call(
            &ToolContext::over(&workspace),
            "write_file",
            json!({"path": path, "content": content}),
        );
        assert!(written.ok(), "{}", written.message);
    }
    workspace
}

fn hash_of(workspace: &Workspace, path: &str) -> Value {
    call(&ToolContext::over(workspace), "read_file", json!({ "path": path })).value["content_hash"]
        .clone()
}

#[test]
fn ls_shows_kind_size_and_name() {
    on_each_backend(|new| {
        insta::assert_snapshot!(transcript(
            &workspace(new),
            &[("ls", json!({})), ("ls", json!({"path": "src"}))]
        ));
        insta::assert_snapshot!("ls_empty", transcript(&new().build(), &[("ls", Value::Null)]));
    });
}

#[test]
fn read_file_numbers_lines_and_names_the_next_call() {
    on_each_backend(|new| {
        insta::assert_snapshot!(transcript(
            &workspace(new),
            &[
                ("read_file", json!({"path": "notes.txt"})),
                ("read_file", json!({"path": "notes.txt", "offset": "2", "limit": 1})),
                ("read_file", json!({"path": "notes.txt", "offset": 4})),
                ("read_file", json!({"path": "src/a.rs"})),
                ("read_file", json!({"path": "z"})),
            ]
        ));
    });
}

/// Models take the number that they see for the offset, and read one line further than they meant.
#[test]
fn the_offset_of_read_file_is_the_number_of_a_line() {
    on_each_backend(|new| {
        let files = new().build();
        files.write("a", "one\ntwo\nthree\n").unwrap();
        let context = ToolContext::over(&files);
        for (offset, first) in
            [(0, "     1\tone"), (1, "     1\tone"), (2, "     2\ttwo"), (3, "     3\tthree")]
        {
            let read =
                wink_agent::call(&context, "read_file", json!({"path": "a", "offset": offset}));
            let shown = read.message.lines().nth(1);
            assert_eq!(shown, Some(first), "{offset}: {}", read.message);
            assert_eq!(read.value["offset"], offset.max(1));
        }
        let page = wink_agent::call(&context, "read_file", json!({"path": "a", "limit": 1}));
        assert!(page.message.contains(r#""offset":2"#), "{}", page.message);
    });
}

#[test]
fn the_next_call_can_be_made_as_printed() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let cut = call(
            &ToolContext::over(&workspace),
            "read_file",
            json!({"path": "notes.txt", "limit": 2}),
        );
        let (_, printed) = cut.message.split_once("Next call: read_file ").expect("a next call");
        let arguments =
            serde_json::from_str(printed.lines().next().expect("a line")).expect("JSON");
        let next = call(&ToolContext::over(&workspace), "read_file", arguments);
        assert!(next.message.contains("3\tthree"), "{}", next.message);
        assert_eq!(next.value["truncated"], false);
    });
}

#[test]
fn write_file_says_what_it_did() {
    on_each_backend(|new| {
        let write = |path, content, mode| {
            ("write_file", json!({"path": path, "content": content, "mode": mode}))
        };
        insta::assert_snapshot!(transcript(
            &new().build(),
            &[
                write("a.txt", "one\n", "create"),
                write("a.txt", "two\n", "append"),
                write("b/c.txt", "", "overwrite"),
            ]
        ));
    });
}

#[test]
fn overwriting_needs_the_hash_of_what_is_there() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let write = json!({"path": "notes.txt", "content": "new\n"});
        let refused = call(&ToolContext::over(&workspace), "write_file", write.clone());
        assert_eq!(refused.code(), Some("conflict"));
        assert_eq!(refused.value["current_hash"], hash_of(&workspace, "notes.txt"));
        insta::assert_snapshot!("overwrite_unread", refused.message);

        let mut with_hash = write;
        with_hash["expected_hash"] = hash_of(&workspace, "notes.txt");
        let replaced = call(&ToolContext::over(&workspace), "write_file", with_hash.clone());
        assert!(replaced.ok(), "{}", replaced.message);
        assert_eq!(replaced.value["content_hash"], hash_of(&workspace, "notes.txt"));

        let stale = call(&ToolContext::over(&workspace), "write_file", with_hash);
        assert_eq!(stale.code(), Some("conflict"));
        assert_eq!(stale.value["current_hash"], hash_of(&workspace, "notes.txt"));
        insta::assert_snapshot!("overwrite_stale", stale.message);
    });
}

#[test]
fn the_text_of_a_conflict_has_the_present_hash() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let other = wink_fs::ContentHash::of(b"other").to_string();
        let edit = json!({"old_string": "one", "new_string": "1"});
        for (tool, mut arguments) in [
            ("write_file", json!({"content": "new"})),
            ("write_file", json!({"content": "new", "expected_hash": other})),
            ("write_file", json!({"content": "new", "expected_hash": other, "mode": "append"})),
            ("edit_file", json!({"old_string": "one", "new_string": "1", "expected_hash": other})),
            ("multi_edit", json!({"edits": [edit], "expected_hash": other})),
        ] {
            arguments["path"] = "notes.txt".into();
            let refused = call(&ToolContext::over(&workspace), tool, arguments);
            assert_eq!(refused.code(), Some("conflict"), "{tool}");
            let hash = hash_of(&workspace, "notes.txt");
            assert!(refused.message.contains(hash.as_str().unwrap()), "{}", refused.message);
        }
    });
}

#[test]
fn a_write_of_a_version_where_nothing_is_says_that_nothing_is_there() {
    on_each_backend(|new| {
        let hash = wink_fs::ContentHash::of(b"other").to_string();
        for mode in ["overwrite", "append"] {
            let write = json!({"path": "gone", "content": "", "mode": mode, "expected_hash": hash});
            let refused = call(&ToolContext::over(&workspace(new)), "write_file", write);
            assert_eq!(refused.code(), Some("conflict"));
            assert!(
                refused.message.starts_with("Nothing is there at gone, "),
                "{}",
                refused.message
            );
            assert!(!refused.message.contains("changed"), "{}", refused.message);
        }
    });
}

#[test]
fn a_refused_overwrite_leaves_the_old_content() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let before = hash_of(&workspace, "notes.txt");
        call(
            &ToolContext::over(&workspace),
            "write_file",
            json!({"path": "notes.txt", "content": "new\n"}),
        );
        assert_eq!(hash_of(&workspace, "notes.txt"), before);
    });
}

#[test]
fn arguments_are_checked_before_anything_is_touched() {
    on_each_backend(|new| {
        let wrong = [
            ("read_file", json!({"path": "missing", "offset": -1})),
            ("read_file", json!({"path": "missing", "offset": "NaN"})),
            ("read_file", json!({"path": "missing", "limit": 0})),
            ("read_file", json!({"path": "missing", "limit": 1e300})),
            ("read_file", json!({"path": "missing", "ofset": 1})),
            ("read_file", json!({})),
            ("write_file", json!({"path": "a", "content": {"k": 1}})),
            ("write_file", json!({"path": "a", "content": "", "mode": "replace"})),
            ("write_file", json!({"path": "a", "content": "", "expected_hash": "12"})),
            ("raed_file", json!({})),
            ("banana", json!({})),
        ];
        for (name, arguments) in &wrong {
            let result = call(&ToolContext::over(&new().build()), name, arguments.clone());
            assert_eq!(result.code(), Some("invalid_argument"), "{name} {arguments}");
        }
        insta::assert_snapshot!(transcript(&new().build(), &wrong));
    });
}

#[test]
fn filesystem_errors_keep_their_code() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        for (name, arguments, code) in [
            ("read_file", json!({"path": "missing"}), "not_found"),
            ("read_file", json!({"path": "src"}), "is_a_directory"),
            ("ls", json!({"path": "z"}), "not_a_directory"),
            ("ls", json!({"path": "../x"}), "permission_denied"),
            ("write_file", json!({"path": "../x", "content": ""}), "permission_denied"),
            ("write_file", json!({"path": "src", "content": ""}), "is_a_directory"),
            ("write_file", json!({"path": "z", "content": "", "mode": "create"}), "already_exists"),
        ] {
            let result = call(&ToolContext::over(&workspace), name, arguments);
            assert_eq!(result.code(), Some(code), "{}", result.message);
            assert_eq!(result.value["error"], code);
        }
    });
}

#[test]
fn glob_lists_paths_and_says_what_is_hidden() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        workspace.write(".gitignore", "z\n").expect("written");
        insta::assert_snapshot!(transcript(
            &workspace,
            &[
                ("glob", json!({"pattern": "*.txt"})),
                ("glob", json!({"pattern": "**", "respect_ignore_files": "true"})),
                ("glob", json!({"pattern": "*.py", "path": "src"})),
                ("glob", json!({"pattern": "**", "offset": 9})),
                ("glob", json!({"pattern": "["})),
                ("glob", json!({"pattern": "*", "path": "missing"})),
            ]
        ));
    });
}

#[test]
fn grep_shows_lines_files_counts_and_what_was_not_searched() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        workspace.write_bytes("binary", &b"two\0"[..]).expect("written");
        insta::assert_snapshot!(transcript(
            &workspace,
            &[
                ("grep", json!({"pattern": "t[wh]"})),
                ("grep", json!({"pattern": "TWO", "ignore_case": true, "context": 1})),
                ("grep", json!({"pattern": "o", "mode": "count"})),
                ("grep", json!({"pattern": "o", "mode": "files", "glob": "*.txt"})),
                ("grep", json!({"pattern": "o", "max_matches": 1})),
                ("grep", json!({"pattern": "o", "max_matches": 1, "mode": "count", "offset": 1})),
                ("grep", json!({"pattern": "o", "offset": 3})),
                ("grep", json!({"pattern": "nowhere"})),
                ("grep", json!({"pattern": "(?=x)"})),
            ]
        ));
    });
}

#[test]
fn read_file_says_what_to_do_with_what_it_cannot_show() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        workspace.write_bytes("binary", &b"\x89PNG\r\n\x1a\n\xff"[..]).expect("written");
        workspace.write_bytes("unknown", &b"\xff"[..]).expect("written");
        insta::assert_snapshot!(transcript(
            &workspace,
            &[
                ("read_file", json!({"path": "binary"})),
                ("read_file", json!({"path": "unknown"})),
                ("read_file", json!({"path": "binary", "encoding": "base64"})),
                (
                    "read_file",
                    json!({"path": "binary", "encoding": "base64", "offset": 1, "limit": 3})
                ),
                ("read_file", json!({"path": "binary", "encoding": "base64", "offset": 9})),
                ("read_file", json!({"path": "binary", "encoding": "base64", "column": 3})),
                ("read_file", json!({"path": "src/a.rs", "encoding": "base64"})),
                ("read_file", json!({"path": "binary", "encoding": "hex"})),
            ]
        ));
    });
}

#[test]
fn line_endings_are_told_beside_the_lines() {
    on_each_backend(|new| {
        let files = new().build();
        files.write("crlf", "one\r\ntwo\r\n").unwrap();
        files.write("mixed", "one\r\ntwo\nthree\r\nfour\r\nfive").unwrap();
        insta::assert_snapshot!(transcript(
            &files,
            &[("read_file", json!({"path": "crlf"})), ("read_file", json!({"path": "mixed"}))]
        ));
    });
}

#[test]
fn a_line_longer_than_a_page_comes_in_parts() {
    on_each_backend(|new| {
        let mut limits = Limits::default();
        limits.max_read_bytes = 12;
        let files = new().limits(limits).build();
        files.write("long", "first\nwords größer than a page\nlast").unwrap();
        insta::assert_snapshot!(transcript(
            &files,
            &[
                ("read_file", json!({"path": "long"})),
                ("read_file", json!({"path": "long", "offset": 2, "limit": 1})),
                ("read_file", json!({"path": "long", "offset": 2, "column": 12})),
                ("read_file", json!({"path": "long", "offset": 2, "column": 24})),
                ("read_file", json!({"path": "long", "offset": 3, "column": 2})),
                ("read_file", json!({"path": "long", "offset": 2, "column": 9})),
                ("read_file", json!({"path": "long", "offset": 2, "column": 99})),
                ("read_file", json!({"path": "long", "offset": 9, "column": 1})),
            ]
        ));
    });
}

#[test]
fn ls_lists_levels_and_names_the_next_call() {
    on_each_backend(|new| {
        let mut limits = Limits::default();
        limits.max_grep_matches = 3;
        let files = new().limits(limits).build();
        for path in ["a/b/c/d.txt", "a/b.txt", "a/z", "e"] {
            files.write(path, path).unwrap();
        }
        insta::assert_snapshot!(transcript(
            &files,
            &[
                ("ls", json!({"depth": 2})),
                ("ls", json!({"path": "a", "depth": 3})),
                ("ls", json!({"path": "a", "depth": 3, "offset": 3})),
                ("ls", json!({"offset": 2})),
                ("ls", json!({"depth": 0})),
                ("ls", json!({"path": "e"})),
            ]
        ));
    });
}

#[test]
fn write_file_takes_bytes_as_base64() {
    on_each_backend(|new| {
        let mut limits = Limits::default();
        limits.max_content = Some(4);
        let files = new().limits(limits).build();
        let write = |content: &str| {
            ("write_file", json!({"path": "b", "content": content, "encoding": "base64"}))
        };
        insta::assert_snapshot!(transcript(
            &files,
            &[write("/wD+AA=="), write("not base64!"), write("QUJDREU="), write("QUJD\nRA")]
        ));
        assert_eq!(&files.open("b").unwrap().read_all().unwrap()[..], b"\xff\0\xfe\0");
    });
}

#[test]
fn export_and_import_bring_everything_back() {
    on_each_backend(|new| {
        let workspace = new().build();
        workspace.write("kept.txt", "kept").expect("written");
        let done =
            call(&ToolContext::over(&workspace), "export", json!({"path": "backup/all.fs.zip"}));
        assert_eq!(done.code(), Some("not_found"), "the parent is not there: {}", done.message);
        insta::assert_snapshot!(transcript_without_sizes(
            &workspace,
            &[
                ("export", json!({})),
                ("export", json!({})),
                ("write_file", json!({"path": "new.txt", "content": "new"})),
                ("import", json!({"path": "export.fs.zip", "replace_everything": false})),
                ("import", json!({"path": "kept.txt", "replace_everything": true})),
                ("import", json!({"path": "export.fs.zip", "replace_everything": true})),
                ("ls", json!({})),
            ]
        ));
    });
}

/// The size of an archive depends on the time in its manifest and on the compressor.
fn transcript_without_sizes(workspace: &Workspace, calls: &[(&str, Value)]) -> String {
    let mut text = String::new();
    for (name, arguments) in calls {
        let ToolResult { message, .. } =
            call(&ToolContext::over(workspace), name, arguments.clone());
        let message = match message.split_once(", an archive of ") {
            Some((before, _)) => format!("{before}, an archive of … bytes."),
            None => message,
        };
        let _ = writeln!(text, "> {name} {arguments}\n{message}\n");
    }
    text
}

#[test]
fn mkdir_mv_and_rm_say_what_they_did() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        insta::assert_snapshot!(transcript(
            &workspace,
            &[
                ("mkdir", json!({"path": "a/b"})),
                ("mkdir", json!({"path": "a/b"})),
                ("mkdir", json!({"path": "z"})),
                ("mv", json!({"from": "notes.txt", "to": "a/b/notes.txt"})),
                ("mv", json!({"source": "z", "destination": "src"})),
                ("mv", json!({"from": "a", "to": "a/b/c"})),
                ("mv", json!({"from": "missing", "to": "b"})),
                ("mv", json!({"from": "z", "to": "a/b/notes.txt", "overwrite": true})),
                ("rm", json!({"path": "a"})),
                ("rm", json!({"path": "a"})),
                ("rm", json!({"path": "a", "allow_missing": "true"})),
                ("rm", json!({"path": "src/a.rs"})),
                ("rm", json!({"path": "../x", "allow_missing": true})),
            ]
        ));
    });
}

#[test]
fn the_root_cannot_be_removed_or_moved() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        for root in ["", ".", "/"] {
            for (tool, arguments) in [
                ("rm", json!({"path": root, "allow_missing": true})),
                ("mv", json!({"from": root, "to": "elsewhere"})),
            ] {
                let refused = call(&ToolContext::over(&workspace), tool, arguments);
                assert_eq!(refused.code(), Some("permission_denied"), "{}", refused.message);
            }
        }
        assert!(workspace.is_file("notes.txt"));
    });
}

/// A search without an end would keep a thread of the server for ever.
#[test]
fn a_search_ends_when_its_time_is_up() {
    on_each_backend(|new| {
        let mut limits = Limits::default();
        limits.max_search_time = std::time::Duration::ZERO;
        let files = new().limits(limits).build();
        files.write("a.txt", "a\n").unwrap();
        for (tool, arguments) in
            [("grep", json!({"pattern": "a"})), ("glob", json!({"pattern": "*"}))]
        {
            let result = call(&ToolContext::over(&files), tool, arguments);
            assert_eq!(result.code(), Some("deadline"), "{tool}");
        }
    });
}
