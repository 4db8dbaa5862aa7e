//! Paths that a session may not see or change.

use serde_json::json;
use wink_agent::{PathRules, ToolContext, call};
use wink_fs::Workspace;

use crate::engine::scene::{done, hash, on_each_backend, refused};

fn ruled(files: &Workspace) -> ToolContext {
    for path in ["src/main.rs", "src/prod.env", "secrets/key.pem", "secrets/deep/a.txt"] {
        files.write(path, "needle\n").unwrap();
    }
    let rules = PathRules::new().deny(["*.env", "/secrets"]).unwrap();
    ToolContext::over(files).rules(rules)
}

#[test]
fn denied_paths_are_left_out_of_listings_and_searches() {
    on_each_backend(|files| {
        let context = ruled(files);
        for (tool, arguments) in [
            ("ls", json!({})),
            ("ls", json!({"path": "src"})),
            ("glob", json!({"pattern": "**"})),
            ("grep", json!({"pattern": "needle"})),
        ] {
            let shown = done(&context, tool, arguments);
            let text = format!("{}{}", shown.message, shown.value);
            assert!(!text.contains("secret") && !text.contains("env"), "{tool}: {text}");
        }
        let found = done(&context, "grep", json!({"pattern": "needle"}));
        assert!(found.message.starts_with("Found 1 line in 1 of 1 file:"), "{}", found.message);
    });
}

/// The listing named what the rules hide.
#[test]
fn a_link_to_a_denied_path_is_listed_without_its_target() {
    on_each_backend(|files| {
        let context = ruled(files);
        for (link, target) in [
            ("to-file", "secrets/key.pem"),
            ("to-directory", "secrets"),
            ("to-nothing", "secrets/none"),
            ("to-env", "src/prod.env"),
            ("to-main", "src/main.rs"),
        ] {
            files.symlink(link, target.as_bytes()).unwrap();
        }
        let listed = done(&context, "ls", json!({}));
        let text = format!("{}{}", listed.message, listed.value);
        assert!(!text.contains("secrets") && !text.contains("prod"), "{text}");
        assert!(listed.message.contains("to-file -> (denied by the rules of this session)"));
        assert!(listed.message.contains("to-main -> src/main.rs"), "{}", listed.message);
        let only = PathRules::new().allow(["to-*", "docs/**"]).unwrap();
        let listed = done(&ToolContext::over(files).rules(only), "ls", json!({}));
        let text = format!("{}{}", listed.message, listed.value);
        assert!(!text.contains("key.pem") && !text.contains("main.rs"), "{text}");
    });
}

#[test]
fn denied_paths_can_be_neither_read_nor_changed() {
    on_each_backend(|files| {
        let context = ruled(files);
        let before = hash(files);
        let patch = "--- a/src/prod.env\n+++ b/src/prod.env\n@@ -1 +1 @@\n-needle\n+x\n";
        for (tool, arguments) in [
            ("read_file", json!({"path": "src/prod.env"})),
            ("read_file", json!({"path": "secrets/none"})),
            ("ls", json!({"path": "secrets/deep"})),
            ("grep", json!({"pattern": "needle", "path": "secrets"})),
            ("write_file", json!({"path": "new.env", "content": "x"})),
            ("edit_file", json!({"path": "src/prod.env", "old_str": "needle", "new_str": "x"})),
            ("apply_patch", json!({ "patch": patch })),
            ("rm", json!({"path": "secrets"})),
            ("rm", json!({"path": "src"})),
            ("mv", json!({"from": "src", "to": "lib"})),
            ("mv", json!({"from": "src/main.rs", "to": "secrets/main.rs"})),
            ("mkdir", json!({"path": "secrets/more"})),
        ] {
            assert_eq!(refused(&context, tool, arguments), "permission_denied", "{tool}");
            assert_eq!(hash(files), before, "{tool}");
        }
    });
}

#[test]
fn a_denied_path_is_refused_alike_whether_something_is_there_or_not() {
    on_each_backend(|files| {
        let context = ruled(files);
        let refusal = |path: &str| call(&context, "read_file", json!({ "path": path })).message;
        let (there, not_there) = (refusal("secrets/key.pem"), refusal("secrets/nothing"));
        assert_eq!(there.replace("key.pem", ""), not_there.replace("nothing", ""));
    });
}

#[test]
fn an_archive_has_only_what_is_permitted_and_none_can_replace_everything() {
    on_each_backend(|files| {
        let context = ruled(files);
        let exported = done(&context, "export", json!({"path": "all.fs.zip"}));
        assert_eq!(exported.value["file_count"], 1);
        let arguments = json!({"path": "all.fs.zip", "replace_everything": true});
        assert_eq!(refused(&context, "import", arguments), "permission_denied");
        assert!(files.is_file("secrets/key.pem"));
    });
}

#[test]
fn where_something_is_allowed_other_files_are_not() {
    on_each_backend(|files| {
        ruled(files);
        let rules = PathRules::new().allow(["src/*.rs"]).unwrap();
        let context = ToolContext::over(files).rules(rules);
        done(&context, "read_file", json!({"path": "src/main.rs"}));
        let listed = done(&context, "ls", json!({"path": "secrets"}));
        assert!(!listed.message.contains("key.pem"), "{}", listed.message);
        assert_eq!(
            refused(&context, "read_file", json!({"path": "secrets/key.pem"})),
            "permission_denied"
        );
        let write = json!({"path": "src/other.txt", "content": ""});
        assert_eq!(refused(&context, "write_file", write), "permission_denied");
    });
}

#[test]
fn a_directory_with_something_denied_in_it_is_refused_without_naming_that() {
    on_each_backend(|files| {
        let context = ruled(files);
        for (tool, arguments) in
            [("rm", json!({"path": "src"})), ("mv", json!({"from": "src", "to": "lib"}))]
        {
            let refused = call(&context, tool, arguments);
            let said = format!("{}{}", refused.message, refused.value);
            assert!(said.contains("src") && !said.contains("env"), "{said}");
        }
    });
}

#[test]
fn a_patch_that_makes_a_denied_file_does_not_fit() {
    on_each_backend(|files| {
        let context = ruled(files);
        let patch = "--- /dev/null\n+++ b/new.env\n@@ -0,0 +1 @@\n+x\n";
        let tried = call(&context, "apply_patch", json!({"patch": patch, "dry_run": true}));
        assert_eq!(tried.code(), Some("permission_denied"), "{}", tried.message);
    });
}
