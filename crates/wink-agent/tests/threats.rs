//! What a model may send to the tools that edit, on both backends.

use serde_json::{Value, json};
use wink_agent::{ToolContext, call};
use wink_fs::{MountPoint, TreeHash, Workspace, WorkspaceBuilder, tree_hash};

/// Makes a test of each case in a module for each backend.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        mod memory {
            $(#[test]
            fn $case() {
                super::$case(wink_fs::Workspace::builder(wink_fs::MemoryBackend::new()));
            })*
        }

        mod host {
            $(#[test]
            fn $case() {
                let directory = tempfile::tempdir().unwrap();
                let backend = wink_fs::HostBackend::open_ambient(directory.path()).unwrap();
                super::$case(wink_fs::Workspace::builder(backend));
            })*
        }
    };
}

on_both!(
    a1_08_nothing_is_edited_through_a_link,
    ls_shows_the_path_a_link_stands_for_and_no_path_of_the_host,
    a1_26_an_edit_is_exact_or_refused,
    a1_28_the_root_is_never_removed,
);

fn hash(files: &Workspace) -> TreeHash {
    tree_hash(&*files.tree()).unwrap()
}

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "f", "old_string": old, "new_string": new})
}

fn a1_26_an_edit_is_exact_or_refused(builder: WorkspaceBuilder) {
    let files = builder.build();
    files.write_bytes("f", &b"one\r\ntwo\r\naaa\r\ntwo\r\n\xff"[..]).unwrap();
    let before = hash(&files);
    for (old, new) in [("", "x"), ("absent", "x"), ("two", "x"), ("aa", "x"), ("aaa", "aaa")] {
        let refused = call(&ToolContext::over(&files), "edit_file", edit(old, new));
        assert_eq!(refused.code(), Some("invalid_argument"), "{old}: {}", refused.message);
        let edits = json!([
            {"old_string": "one", "new_string": "1"},
            {"old_string": old, "new_string": new},
        ]);
        let refused =
            call(&ToolContext::over(&files), "multi_edit", json!({"path": "f", "edits": edits}));
        assert_eq!(refused.code(), Some("invalid_argument"), "{old}: {}", refused.message);
        assert_eq!(hash(&files), before, "{old}");
    }
    assert!(call(&ToolContext::over(&files), "edit_file", edit("one\ntwo\n", "1\n2\n")).ok());
    let content = files.open("f").unwrap().read_all().unwrap();
    assert_eq!(&content[..], b"1\r\n2\r\naaa\r\ntwo\r\n\xff");
}

fn a1_08_nothing_is_edited_through_a_link(builder: WorkspaceBuilder) {
    let files = builder.build();
    files.write("real/f", "secret\n").unwrap();
    files.symlink("link", b"real/f").unwrap();
    files.symlink("directory", b"real").unwrap();
    files.symlink("passwd", b"/etc/passwd").unwrap();
    let before = hash(&files);
    for path in ["link", "directory/f", "passwd"] {
        let patch = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-secret\n+x\n");
        for (tool, arguments) in [
            ("edit_file", json!({"path": path, "old_string": "secret", "new_string": "x"})),
            ("apply_patch", json!({ "patch": patch })),
        ] {
            let refused = call(&ToolContext::over(&files), tool, arguments);
            assert_eq!(refused.code(), Some("permission_denied"), "{}", refused.message);
            assert!(!refused.message.contains("secret"), "{}", refused.message);
        }
    }
    assert_eq!(hash(&files), before);
    let removed = call(&ToolContext::over(&files), "rm", json!({"path": "directory"}));
    assert!(removed.ok() && files.is_file("real/f"), "{}", removed.message);
}

fn a1_28_the_root_is_never_removed(builder: WorkspaceBuilder) {
    let files = builder.mount_point(MountPoint::parse("/workspace").unwrap()).build();
    files.write("f", "f\n").unwrap();
    for root in ["", ".", "/", "/workspace", "a/.."] {
        for (tool, arguments) in [
            ("rm", json!({"path": root, "allow_missing": true})),
            ("mv", json!({"from": root, "to": "elsewhere"})),
        ] {
            let refused = call(&ToolContext::over(&files), tool, arguments);
            assert_eq!(refused.code(), Some("permission_denied"), "{root}: {}", refused.message);
        }
    }
    assert!(files.is_file("f"));
}

/// Another name of the same file, outside, keeps what it had.
#[test]
fn a1_15_an_edit_does_not_reach_the_other_name_of_a_file() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outer = Workspace::host(outside.path()).unwrap();
    outer.write("f", "one\n").unwrap();
    let files = Workspace::host(inside.path()).unwrap();
    let link = std::process::Command::new("ln")
        .args([outside.path().join("f"), inside.path().join("f")])
        .status();
    assert!(link.unwrap().success());
    assert!(call(&ToolContext::over(&files), "edit_file", edit("one", "two")).ok());
    assert_eq!(files.read("f").unwrap().content, "two\n");
    assert_eq!(outer.read("f").unwrap().content, "one\n");
}

fn ls_shows_the_path_a_link_stands_for_and_no_path_of_the_host(builder: WorkspaceBuilder) {
    let files = builder.build();
    files.write("real/f", "text").unwrap();
    let inside: [(&str, &[u8], &str); 5] = [
        ("near", b"f", "real/f"),
        ("up", b".././real//f", "real/f"),
        ("root", b"..", "."),
        ("gone", b"no/such", "real/no/such"),
        ("odd", b"a\x1b\nb", "real/a\\x1b\\x0ab"),
    ];
    let outside: [(&str, &[u8], &str); 3] = [
        ("absolute", b"/srv/secret", "(an absolute path, which is not shown)"),
        ("leaving", b"../../srv/secret", "(outside the workspace)"),
        ("again", b"../../srv/../secret", "(outside the workspace)"),
    ];
    for (name, target, _) in inside.iter().chain(&outside) {
        files.symlink(&format!("real/{name}"), target).unwrap();
    }
    let listed = call(&ToolContext::over(&files), "ls", json!({"path": "real"}));
    for (name, _, shown) in inside.iter().chain(&outside) {
        let row = format!(" - {name} -> {shown}\n");
        assert!(listed.message.contains(&row), "{name}: {}", listed.message);
    }
    let shown = |wanted: &str| {
        let entries = listed.value["entries"].as_array().unwrap();
        entries.iter().find(|it| it["name"] == wanted).unwrap().clone()
    };
    inside.iter().for_each(|(name, _, path)| assert_eq!(shown(name)["target"], *path));
    for (name, ..) in outside {
        assert_eq!(shown(name).get("target"), Some(&Value::Null), "{name}");
    }
    assert!(shown("f").get("target").is_none());
    for answer in [listed.message, listed.value.to_string()] {
        assert!(!answer.contains("srv") && !answer.contains("secret"), "{answer}");
    }
    let read =
        call(&ToolContext::over(&files), "read_file", json!({"path": shown("up")["target"]}));
    assert!(read.ok(), "{}", read.message);
}
