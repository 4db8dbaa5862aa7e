//! What a model reads after a patch, and what is in the files then.

use proptest::prelude::*;
use serde_json::{Value, json};
use wink_agent::{ToolContext, ToolResult, call};
use wink_fs::{DiffOptions, StateRef, TreeHash, Workspace, tree_hash};

use crate::backends::{New, on_each_backend};
use crate::transcript::transcript;

fn workspace(new: New) -> Workspace {
    let workspace = new().build();
    for (path, content) in [
        ("src/a.rs", "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n"),
        ("old.txt", "gone\n"),
        ("name.txt", "first\nsecond\n"),
        ("windows.txt", "one\r\ntwo\r\nthree"),
        ("twice.txt", "x\nsame\ny\nx\nsame\ny\n"),
    ] {
        workspace.write(path, content).expect("written");
    }
    workspace
}

fn hash(workspace: &Workspace) -> TreeHash {
    tree_hash(&*workspace.tree()).expect("a hash")
}

fn text(workspace: &Workspace, path: &str) -> String {
    workspace.read(path).expect("a file").content
}

fn apply(workspace: &Workspace, patch: &str) -> ToolResult {
    call(&ToolContext::over(workspace), "apply_patch", json!({ "patch": patch }))
}

const SEVERAL: &str = "\
diff --git a/src/a.rs b/src/a.rs
index 123..456 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,3 @@
 fn a() {
-    one();
+    1();
 }
@@ -7,3 +7,4 @@ fn b
 fn b() {
     two();
+    three();
 }
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/name.txt b/new/name.txt
similarity index 50%
rename from name.txt
rename to new/name.txt
--- a/name.txt
+++ b/new/name.txt
@@ -1,2 +1,2 @@
 first
-second
+2nd
diff --git a/run.sh b/run.sh
new file mode 100755
--- /dev/null
+++ b/run.sh
@@ -0,0 +1,2 @@
+#!/bin/sh
+true
\\ No newline at end of file
";

#[test]
fn a_unified_diff_changes_several_files() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let before = hash(&workspace);
        let dry = ("apply_patch", json!({"patch": SEVERAL, "dry_run": true}));
        insta::assert_snapshot!("patch_dry_run", transcript(&workspace, &[dry]));
        assert_eq!(hash(&workspace), before);

        insta::assert_snapshot!(
            "patch",
            transcript(&workspace, &[("apply_patch", json!({"patch": SEVERAL}))])
        );
        let expected = "fn a() {\n    1();\n}\n\nfn b() {\n    two();\n    three();\n}\n";
        assert_eq!(text(&workspace, "src/a.rs"), expected);
        assert_eq!(text(&workspace, "new/name.txt"), "first\n2nd\n");
        assert_eq!(text(&workspace, "run.sh"), "#!/bin/sh\ntrue");
        assert!(workspace.stat("run.sh").expect("a file").mode.executable);
        assert!(!workspace.exists("old.txt") && !workspace.exists("name.txt"));
    });
}

#[test]
fn the_format_of_coding_agents_is_read_too() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let patch = "\
*** Begin Patch
*** Update File: src/a.rs
@@ fn b() {
-    two();
+    2();
*** Add File: docs/new.md
+# New
+
+text
*** Delete File: old.txt
*** Update File: name.txt
*** Move to: moved.txt
@@
 first
+between
 second
*** Update File: windows.txt
@@
 two
-three
+3
*** End of File
*** End Patch
";
        insta::assert_snapshot!(transcript(
            &workspace,
            &[("apply_patch", json!({"input": patch}))]
        ));
        assert_eq!(
            text(&workspace, "src/a.rs"),
            "fn a() {\n    one();\n}\n\nfn b() {\n    2();\n}\n"
        );
        assert_eq!(text(&workspace, "docs/new.md"), "# New\n\ntext\n");
        assert_eq!(text(&workspace, "moved.txt"), "first\nbetween\nsecond\n");
        assert_eq!(text(&workspace, "windows.txt"), "one\r\ntwo\r\n3");
    });
}

fn update(path: &str, hunk: &str) -> (&'static str, Value) {
    ("apply_patch", json!({"patch": format!("--- a/{path}\n+++ b/{path}\n{hunk}")}))
}

#[test]
fn apply_patch_says_why_nothing_was_changed() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let patch = |patch: &str| ("apply_patch", json!({ "patch": patch }));
        let marker = "\\ No newline at end of file";
        let refused = [
            patch(""),
            patch("just words"),
            patch("@@ -1 +1 @@\n-a\n+b\n"),
            patch("*** Begin Patch\n*** Update File: name.txt\n@@\n-first\n+1\n"),
            patch("*** Begin Patch\n*** Rename File: name.txt\n*** End Patch\n"),
            patch("*** Begin Patch\n*** Add File: n\nno plus\n*** End Patch\n"),
            patch("*** Begin Patch\n*** Add File: n\n-minus\n*** End Patch\n"),
            patch("*** Begin Patch\n*** Update File: name.txt\n*** End Patch\n"),
            patch(
                "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn c() {\n-    one();\n*** End Patch\n",
            ),
            patch("--- a/name.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-first\n+1\n"),
            patch("--- /dev/null\n+++ b/name.txt\n@@ -0,0 +1 @@\n+1\n"),
            patch("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n-2\n"),
            patch("--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gon\n"),
            patch("--- a/name.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-first\n"),
            patch("diff --git a/x b/x\nGIT binary patch\n"),
            patch("diff --git a/x b/x\nnew file mode 120000\n"),
            patch("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n"),
            patch("--- a/missing\n+++ b/missing\n@@ -1 +1 @@\n-a\n+b\n"),
            patch(
                "--- a/old.txt\n+++ b/old.txt\n@@ -1 +1 @@\n-gone\n+a\n--- a/old.txt\n+++ b/old.txt\n@@ -1 +1 @@\n-a\n+b\n",
            ),
            update("src/a.rs", "@@ -1,3 +1,3 @@\n fn a() {\n-    on();\n+    1();\n }\n"),
            update("src/a.rs", "@@ -1,3 +1,3 @@\n fn a() {\n-\tone();\n+    1();\n }\n"),
            update("src/a.rs", "@@ -1 +1 @@\n-nothing of the kind\n+1\n"),
            update("src/a.rs", "@@ -1 +1 @@\n-fn a() {\n+1\nfn b() {\n"),
            update("twice.txt", "@@ -9 +9 @@\n-same\n+1\n"),
            update("name.txt", "@@ -2 +2 @@\n-second\n+2\n@@ -1 +1 @@\n-first\n+1\n"),
            update("twice.txt", "@@ -9,0 +10 @@\n+1\n"),
            update("name.txt", &format!("@@ -2 +2 @@\n-second\n{marker}\n+2\n")),
            update("name.txt", &format!("@@ -2 +2 @@\n{marker}\n-second\n")),
        ];
        let before = hash(&workspace);
        insta::assert_snapshot!(transcript(&workspace, &refused));
        assert_eq!(hash(&workspace), before);
    });
}

/// Every model writes some of these; all of them were refused once.
#[test]
fn patches_are_read_as_models_write_them() {
    on_each_backend(|new| {
        let update = "*** Begin Patch\n*** Update File: name.txt\n@@\n-first\n+1\n*** End Patch";
        let shell = format!("apply_patch <<'EOF'\n{update}\nEOF\n");
        let fence = format!("```patch\n{update}\n```\n");
        let indented = update.replace("*** ", "  *** ").replace("@@", "  @@");
        let ending = update.replace("*** End", " *** End");
        for patch in [update, &shell, &fence, &indented, &ending] {
            let workspace = workspace(new);
            let result = apply(&workspace, patch);
            assert!(result.ok(), "{patch}\n{}", result.message);
            assert_eq!(text(&workspace, "name.txt").lines().next(), Some("1"), "{patch}");
        }
        let add = "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn b() {\n+    // below\n\
                   *** Update File: name.txt\n@@\n+last\n*** End of File\n  *** Add File: new\n+new\n *** End Patch\n";
        let workspace = workspace(new);
        let result = apply(&workspace, add);
        assert!(result.ok(), "{}", result.message);
        assert!(text(&workspace, "src/a.rs").contains("fn b() {\n    // below\n    two();"));
        assert!(text(&workspace, "name.txt").trim_end().ends_with("\nlast"));
        assert_eq!(text(&workspace, "new"), "new\n");
    });
}

#[test]
fn one_hunk_that_does_not_fit_leaves_every_file_as_it_was() {
    on_each_backend(|new| {
        let workspace = workspace(new);
        let before = hash(&workspace);
        let patch =
            format!("{SEVERAL}--- a/windows.txt\n+++ b/windows.txt\n@@ -1 +1 @@\n-four\n+4\n");
        assert_eq!(apply(&workspace, &patch).code(), Some("invalid_argument"));
        assert_eq!(hash(&workspace), before);
    });
}

/// Lines of a text, the last of which may not end.
fn texts() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "", "d e"]), 0..12);
    (lines, any::<bool>()).prop_map(|(lines, ended)| {
        if ended {
            lines.iter().map(|line| format!("{line}\n")).collect()
        } else {
            lines.join("\n")
        }
    })
}

fn apply_what_diff_shows(workspace: &Workspace, old: &str, new: &str) {
    workspace.write("f", old).expect("written");
    let before = workspace.snapshot("before").expect("a snapshot");
    workspace.write("f", new).expect("written");
    let diff = workspace
        .diff_with(&before, StateRef::Live, &DiffOptions::default().hunks(true))
        .expect("a diff");
    let hunks: String = diff.modified[0].hunks.iter().flatten().map(ToString::to_string).collect();
    workspace.restore(&before).expect("restored");
    let applied = apply(workspace, &format!("--- a/f\n+++ b/f\n{hunks}"));
    assert!(applied.ok(), "{hunks}\n{}", applied.message);
    assert_eq!(text(workspace, "f"), new);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_diff_shows_can_be_applied(old in texts(), new in texts()) {
        prop_assume!(old != new);
        apply_what_diff_shows(&Workspace::memory(), &old, &new);
    }
}

proptest! {
    // Each has a store of its own, which takes its time.
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn what_diff_shows_can_be_applied_on_each_backend(old in texts(), new in texts()) {
        prop_assume!(old != new);
        on_each_backend(|builder| apply_what_diff_shows(&builder().build(), &old, &new));
    }
}
